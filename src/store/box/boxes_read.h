/*
 * boxes_read.h: how the public functions read one box with its cards: options checked, one
 * statement, and what to say where there is nothing. Must not look into cards.
 */
#ifndef STORE_BOXES_READ_H
#define STORE_BOXES_READ_H

#include "cardbox/box.h"
#include "db/statement.h"
#include "store/read.h"

/* Which part of a box, as of when, of options that may be NULL. */
cardbox_status box_read_options(box_read *out, const cardbox_read_options *options,
                                cardbox_error *err);

/* CARDBOX_NOT_FOUND of a box, in the words of the public functions. */
cardbox_status box_none_such(const char *box_id, cardbox_error *err);

/* CARDBOX_INTERNAL of a box whose rows contradict each other. */
cardbox_status box_damaged(cardbox_error *err);

/* A read of a part of a box becomes one of its cards. CARDBOX_NOT_FOUND: no box has such an id. */
cardbox_status box_read_cards(box_read *read, const char *tenant, const char *box_id,
                              cardbox_error *err);

/* client_run of a statement that gives rows as boxes_read does. Without a BOX_HEAD it is
 * CARDBOX_NOT_FOUND. `options` are those that the read was made of. */
cardbox_status box_read_run(store_rows **rows, statement_id id, params *p, cardbox *db,
                            const char *tenant, const char *box_id,
                            const cardbox_read_options *options, cardbox_error *err);

#endif
