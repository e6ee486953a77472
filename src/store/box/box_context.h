/*
 * box_context.h: builds the context of a box, or of several boxes in order, from the rows of their
 * cards. The functions use no connection.
 */
#ifndef STORE_BOX_CONTEXT_H
#define STORE_BOX_CONTEXT_H

#include "cardbox/limits.h"
#include "model/session/context.h"
#include "store/box/box_json.h"

/* Limit for the cards of one context. */
enum { BOX_CONTEXT_CARDS_MAX = 10000 };

/* A box whose cards follow those of the first box of a context. */
typedef struct box_then {
    uuid16 box_id;
    int64_t version; /* 0: the present version */
} box_then;

/* Reads BOX or BOX@VERSION. False: BOX is no UUID, or VERSION is no integer of 1 or more. */
bool box_then_parse(box_then *out, slice text);

/* The callers set the members up to bytes_max; box_context_plan() sets the others. */
typedef struct box_context_request {
    box_read first; /* the first box: its tenant, its id, and the version and the part of it */
    context_request how;
    slice reader; /* the id of the author for whom the context is; empty: nobody in particular */
    int64_t tail; /* use only this number of cards, the last ones of all boxes; negative: use
                     all cards, which must be at most BOX_CONTEXT_CARDS_MAX */
    size_t bytes_max; /* if all cards together have more bytes, the statement returns no card */

    size_t boxes;                             /* number of boxes */
    size_t count;                             /* number of reads: `boxes`, or `boxes` + 1 */
    box_read reads[1 + CARDBOX_THEN_MAX + 1]; /* reads the cards of each box; then, if the context
                                                 has an earlier version of the first box, the
                                                 present head of this box */
} box_context_request;

/* Completes the request: sets the reads of the first box and of `count` further boxes, at most
 * CARDBOX_THEN_MAX. */
void box_context_plan(box_context_request *request, const box_then *then, size_t count);

/* Adds the parameters of STATEMENT_box_context. The rows of this statement have the columns of
 * boxes_read. */
void box_context_params(params *p, const box_context_request *request);

/* Sets *out to an array of views of the boxes. Returns CARDBOX_NOT_FOUND if a box is missing or has
 * no such version; the message contains its id. Returns CARDBOX_NOMEM if memory ran out. */
cardbox_status box_context_boxes(const box_view **out, const store_rows *rows,
                                 const box_context_request *request, arena *memory,
                                 cardbox_error *err);

/*
 * Builds the context of the cards that were read, in the order of the boxes. Missing cards are
 * skipped. The context points into the rows and `memory`. Fails with CARDBOX_TOO_LARGE,
 * CARDBOX_NOMEM, or the status of a failed arena (error_arena).
 */
cardbox_status box_context_of(context *out, const box_view *boxes,
                              const box_context_request *request, arena *memory,
                              cardbox_error *err);

/* Appends {"box_id","version","length","cards" (the number of requested ids),"missing_card_ids"
 * (without duplicates), and leaves the object open. If there are further boxes, the object also has
 * "then", a list with the first four members of each of them. False: out of memory. */
bool box_context_head(buf *out, const box_view *boxes, const box_context_request *request,
                      arena *memory);

/* Appends the whole object: the members of box_context_head and of context_answer. */
cardbox_status box_context_answer(buf *out, const store_rows *rows,
                                  const box_context_request *request, arena *memory,
                                  cardbox_error *err);

#endif
