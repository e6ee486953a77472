/*
 * box_view.h: one box of a result as JSON, in the forms that services see. Knows no requests.
 */
#ifndef STORE_BOX_VIEW_H
#define STORE_BOX_VIEW_H

#include "base/arena.h"
#include "store/read.h"

/* A row and where it belongs. */
typedef struct box_row {
    int64_t pos;
    const store_rows *rows;
    int row;
} box_row;

/* The rows of one box in order: its head, its runs of ids, its cards. */
typedef struct box_view {
    bool exists;
    const store_rows *rows; /* all, where they came together */
    box_head head;
    const box_row *runs;
    size_t run_count;
    const box_row *cards;
    size_t card_count;
} box_view;

/* Takes the rows of one box apart: those of `count` indexes. False: out of memory. */
bool box_view_take(box_view *out, const store_rows *from, const int *index, size_t count,
                   arena *memory);

/* The same of the rows of a statement's first read. `now`: the head of the other; version 0: it has
 * none. */
bool box_view_first(box_view *out, box_head *now, const store_rows *from, arena *memory);

/* {"box_id","card_ids","version","length","parent_ids","created_at","updated_at"}, with the
 * ids in the range that was read. */
void box_view_object(buf *out, const box_view *box, const uuid16 *id);

/* The same in parts: before the ids, those in the range that was read, and after them. */
void box_view_start(buf *out, const uuid16 *id);
void box_view_ids(buf *out, const box_view *box);
bool box_view_is_whole(const box_view *box);          /* whether there is a run for each of them */
void box_view_all_ids(buf *out, const box_view *box); /* all of the box, where they were read */
void box_view_end(buf *out, const box_head *head);

/* Card objects with commas between. Gives the number of positions without a readable card. */
size_t box_view_cards(buf *out, const box_view *box, slice tenant);

/* One of them, with a comma unless it is the first of its list. False: there is no readable card.
 */
bool box_view_card(buf *out, const box_row *card, slice tenant);

/* Puts rows in order. */
void box_rows_sort(box_row *rows, size_t count);

#endif
