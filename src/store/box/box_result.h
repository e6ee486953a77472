/*
 * box_result.h: makes the cardbox_boxes of <cardbox/box.h> from rows that were read. These
 * functions send no statement.
 */
#ifndef STORE_BOX_RESULT_H
#define STORE_BOX_RESULT_H

#include "base/arena.h"
#include "cardbox/box.h"
#include "store/box/box_read.h"
#include "store/client/result.h"

struct cardbox_boxes {
    result all;
};

/* Makes an empty result with capacity for `count` boxes and missing ids. The result owns `rows`
 * (may be NULL); on failure they are freed. */
cardbox_status boxes_new(cardbox_boxes **out, store_rows *rows, size_t count, cardbox_error *err);

/* Adds a box of zeros to the result, for the caller to fill. */
cardbox_box *boxes_add(cardbox_boxes *boxes);

/* Sets *out to the result. If `status` is a failure or memory ran out, frees the result and returns
 * the failure. */
cardbox_status boxes_finish(cardbox_boxes **out, cardbox_boxes *boxes, cardbox_status status,
                            cardbox_error *err);

/* Fills a box from its head. *ids receives the box's card_ids, still NULL, for the caller to set.
 */
void box_read_head(cardbox_box *box, const char ***ids, arena *memory, const uuid16 *box_id,
                   const box_head *head);

/* Stores the ids of a run at their positions. `ids` has an element for each position from `first`
 * to `before` - 1; the run begins at position `start`. */
void box_store_ids(arena *memory, const char **ids, int64_t first, int64_t before, int64_t start,
                   slice run);

#endif
