/*
 * box_reads.h: how the public functions read one box with its cards: options checked, one
 * statement, and what to say where there is nothing. Must not look into cards.
 */
#ifndef STORE_BOX_READS_H
#define STORE_BOX_READS_H

#include "cardbox/box.h"
#include "store/read.h"

/* Which part of a box, as of when, of options that may be NULL. */
cardbox_status box_read_options(box_read *out, const cardbox_read_options *options,
                                cardbox_error *err);

/* CARDBOX_NOT_FOUND of a box, in the words of the public functions. */
cardbox_status box_none_such(const char *box_id, cardbox_error *err);

/* Reads the cards of a box that exists: `read` says which part, and is given tenant and id. Rows of
 * boxes_read, one of them BOX_HEAD. `options` are those that `read` was made of. */
cardbox_status box_read_cards(store_rows **rows, box_read *read, cardbox *db, const char *tenant,
                              const char *box_id, const cardbox_read_options *options,
                              cardbox_error *err);

#endif
