/*
 * box_view.h: one box of what a request's statement gave, and the form of it that only the batch
 * read shows. Knows no requests.
 */
#ifndef SERVER_BOX_VIEW_H
#define SERVER_BOX_VIEW_H

#include "server/idset.h"
#include "server/join.h"
#include "store/box_view.h"

/* Ids without a readable card, each once, with commas between. */
typedef struct missing_cards {
    buf ids;
    idset seen;
    bool nomem;
} missing_cards;

/* Takes the rows of the key-th key apart. False: out of memory. */
bool box_view_open(box_view *out, const join_rows *found, size_t key, arena *memory);

/* {"box_id","card_ids"} and, with `missing`, "hydrated_cards"; a comma before if it is not the
 * first of its list. */
void box_view_of_batch(buf *out, const box_view *box, const uuid16 *id, missing_cards *missing,
                       view tenant);

#endif
