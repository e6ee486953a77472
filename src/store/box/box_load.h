/*
 * box_load.h: functions for reading one box with its cards: they check the options, run the
 * statement, and report why a box was not found.
 */
#ifndef STORE_BOX_LOAD_H
#define STORE_BOX_LOAD_H

#include "cardbox/box.h"
#include "db/statement.h"
#include "store/box/box_read.h"

/* Checks the options (the requested part and version of the box) and copies them to `out`.
 * `options` may be NULL. */
cardbox_status box_read_options(box_read *out, const cardbox_read_options *options,
                                cardbox_error *err);

/* Returns CARDBOX_NOT_FOUND with the message for an unknown box. */
cardbox_status box_not_found(const char *box_id, cardbox_error *err);

/* Returns CARDBOX_INTERNAL for a box whose rows contradict each other. */
cardbox_status box_damaged(cardbox_error *err);

/* Completes a read that box_read_options has filled, so that it reads the cards of the box
 * `box_id`. Returns CARDBOX_NOT_FOUND if the id is not a UUID, CARDBOX_INVALID if it is NULL. */
cardbox_status box_read_cards(box_read *read, const char *tenant, const char *box_id,
                              cardbox_error *err);

/* Runs the statement `id`: boxes_read, or one with the same columns. Returns CARDBOX_NOT_FOUND if
 * no row is of the kind BOX_HEAD; the message depends on `options`. */
cardbox_status box_read_run(store_rows **rows, statement_id id, params *p, cardbox *db,
                            const char *tenant, const char *box_id,
                            const cardbox_read_options *options, cardbox_error *err);

#endif
