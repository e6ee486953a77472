/*
 * box_json.h: boxes, their lists and their changes as JSON.
 */
#ifndef STORE_BOX_JSON_H
#define STORE_BOX_JSON_H

#include "base/arena.h"
#include "store/box/box_read.h"
#include "store/box/box_write.h"

/* A row with a card or a run of ids. */
typedef struct box_row {
    int64_t pos; /* position in the box of the card, or of the run's first id */
    const store_rows *rows;
    int row;
} box_row;

/* The rows of one box in order: its head, its runs of ids, its cards. */
typedef struct box_view {
    bool exists;
    const store_rows *rows; /* the result with all rows of the box */
    box_head head;
    const box_row *runs;
    size_t run_count;
    const box_row *cards;
    size_t card_count;
} box_view;

/* Sorts the rows of one box. `index` has the numbers of the box's `count` rows in `from`. False:
 * out of memory. */
bool box_view_read(box_view *out, const store_rows *from, const int *index, size_t count,
                   arena *memory);

/* Like box_view_read, for the rows of the first read of a statement that has one or two reads.
 * `*now` receives the head of the second read; without such a head its version is 0. */
bool box_view_first(box_view *out, box_head *now, const store_rows *from, arena *memory);

/* Appends {"box_id","card_ids","version","length","parent_ids","created_at","updated_at","sealed"},
 * with the ids of the requested range. */
void box_view_object(buf *out, const box_view *box, const uuid16 *id);

/* These functions append the parts of the object of box_view_object: the members before the ids,
 * the requested ids, and the members after them. */
void box_view_start(buf *out, const uuid16 *id);
void box_view_ids(buf *out, const box_view *box);
/* Returns true if the rows contain runs for all requested ids. */
bool box_view_is_whole(const box_view *box);
/* Appends all ids of the box, which must have been read with BOX_WANT_ALL_IDS. */
void box_view_all_ids(buf *out, const box_view *box);
void box_view_end(buf *out, const box_head *head);

/* Appends the card objects, separated by commas. Returns the number of missing cards. */
size_t box_view_cards(buf *out, const box_view *box, slice tenant);

/* Appends one card, after a comma unless it is the first of the list. False: the card is missing,
 * and nothing was appended. */
bool box_view_card(buf *out, const box_row *card, slice tenant);

/* Sorts rows by position. */
void box_rows_sort(box_row *rows, size_t count);

/* These functions append a page of boxes, {"boxes":[...],"next_cursor":...}, or of a box's log,
 * {"log":[...],"next_cursor":...}. With `preview`, each box has the member `preview`, an
 * object or null; only for rows of boxes_list. */
void list_json_boxes(buf *out, const store_rows *rows, int64_t limit, bool preview, arena *memory);
void list_json_log(buf *out, const store_rows *rows, int64_t limit);

/* Appends {"box_id","version","length"}. */
void list_json_change(buf *out, const uuid16 *box, const box_change *change);

#endif
