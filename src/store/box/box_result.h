/*
 * box_result.h: makes the cardbox_boxes of <cardbox/box.h> from rows that were read. These
 * functions send no statement.
 */
#ifndef STORE_BOX_RESULT_H
#define STORE_BOX_RESULT_H

#include "base/arena.h"
#include "cardbox/box.h"
#include "store/read.h"

struct cardbox_boxes {
    arena memory;
    store_rows *rows;
    cardbox_box *boxes;
    size_t count;
    const char **missing;
    size_t missing_count;
    const char *cursor; /* NULL: the last page */
};

/* Allocates a result for up to `count` boxes or missing ids. It owns `rows`, also on failure. */
cardbox_status boxes_new(cardbox_boxes **out, store_rows *rows, size_t count, cardbox_error *err);

/* Passes the result to the caller. CARDBOX_NOMEM: memory ran out, and the result is freed. */
cardbox_status boxes_finish(cardbox_boxes **out, cardbox_boxes *boxes, cardbox_error *err);

/* Fills `box` from its head, and allocates `ids` for the ids of its range. */
void box_read_head(cardbox_box *box, const char ***ids, arena *memory, const uuid16 *box_id,
                   const box_head *head);

/* Copies the ids of a run, whose first position is `start`, to the requested range of the list. */
void box_place_ids(arena *memory, const char **ids, int64_t first, int64_t before, int64_t start,
                   slice run);

#endif
