/*
 * box_view.h: one box of a result as JSON, in the forms that the endpoints show. Knows no requests.
 */
#ifndef SERVER_BOX_VIEW_H
#define SERVER_BOX_VIEW_H

#include "server/idset.h"
#include "server/join.h"

/* A row and where it belongs. */
typedef struct box_row {
    int64_t pos;
    int row;
} box_row;

/* The rows of one box in order: its head, its runs of ids, its cards. */
typedef struct box_view {
    bool exists;
    const store_rows *rows;
    box_head head;
    const box_row *runs;
    size_t run_count;
    const box_row *cards;
    size_t card_count;
} box_view;

/* Ids without a readable card, each once, with commas between. */
typedef struct missing_cards {
    buf ids;
    idset seen;
    bool nomem;
} missing_cards;

/* Takes the rows of the key-th key apart. False: out of memory. */
bool box_view_open(box_view *out, const join_rows *found, size_t key, arena *memory);

/* {"box_id","card_ids","version","length","parent_ids","created_at","updated_at"}, with the
 * ids in the range that was read. */
void box_view_object(buf *out, const box_view *box, const uuid16 *id);

/* The same in parts: before the ids, those in the range that was read, and after them. */
void box_view_start(buf *out, const uuid16 *id);
void box_view_ids(buf *out, const box_view *box);
void box_view_end(buf *out, const box_head *head);

/* Card objects with commas between. Gives the number of positions without a readable card. */
size_t box_view_cards(buf *out, const box_view *box, view tenant);

/* {"box_id","card_ids"} and, with `missing`, "hydrated_cards"; a comma before if it is not the
 * first of its list. */
void box_view_of_batch(buf *out, const box_view *box, const uuid16 *id, missing_cards *missing,
                       view tenant);

#endif
