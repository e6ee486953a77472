/*
 * box_context.h: builds the context of a box from the rows of its cards. The functions use no
 * connection.
 */
#ifndef STORE_BOX_CONTEXT_H
#define STORE_BOX_CONTEXT_H

#include "store/box/box_json.h"
#include "model/session/context.h"

/* Limit for the cards of one context. */
enum { BOX_CONTEXT_CARDS_MAX = 10000 };

typedef struct box_context_request {
    const box_read *reads; /* the first one reads the cards; the second one, if there is one, reads
                              only the current head of the box */
    size_t count;
    context_request how;
    bool whole;       /* the whole box was requested: it is an error if the box has more than
                         BOX_CONTEXT_CARDS_MAX cards */
    size_t bytes_max; /* if all cards together have more bytes, the statement returns no card */
} box_context_request;

/* Adds the parameters of STATEMENT_box_context. The rows of this statement have the columns of
 * boxes_read. */
void box_context_params(params *p, const box_context_request *request);

/*
 * Builds the context of the cards that were read, in the order of the box. Missing cards are
 * skipped. The context points into the rows and `memory`. Fails with CARDBOX_TOO_LARGE,
 * CARDBOX_NOMEM, or the status of a failed arena (error_arena).
 */
cardbox_status box_context_of(context *out, const box_view *box, const box_context_request *request,
                              arena *memory, cardbox_error *err);

/* Appends {"box_id","version","length","cards" (the number of requested ids),"missing_card_ids"
 * (without duplicates), and leaves the object open. False: out of memory. */
bool box_context_head(buf *out, const box_view *box, const box_context_request *request,
                      arena *memory);

/* Appends the whole object: the members of box_context_head and of context_answer. */
cardbox_status box_context_answer(buf *out, const box_view *box, const box_context_request *request,
                                  arena *memory, cardbox_error *err);

#endif
