/*
 * box_result.h: a result with boxes, as <cardbox/box.h> lends it: made, filled from rows, finished.
 * Must not send anything.
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

/* A result that owns the rows (also on failure), with room for `count` boxes or missing ids. */
cardbox_status boxes_new(cardbox_boxes **out, store_rows *rows, size_t count, cardbox_error *err);

/* Gives the result away, or says that memory ran out. */
cardbox_status boxes_finish(cardbox_boxes **out, cardbox_boxes *boxes, cardbox_error *err);

/* A box from its head, with room for the ids of its range. */
void box_read_head(cardbox_box *box, const char ***ids, arena *memory, const uuid16 *box_id,
                   const box_head *head);

/* Puts the ids of a run, which begins at `start`, into the part of the list that was asked for. */
void box_place_ids(arena *memory, const char **ids, int64_t first, int64_t before, int64_t start,
                   slice run);

#endif
