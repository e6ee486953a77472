/*
 * box_context.h: the cards of a box, as they are read, become those that a context is made of. The
 * SDK and the server both build contexts by it. Knows no connection and no format.
 */
#ifndef STORE_BOX_CONTEXT_H
#define STORE_BOX_CONTEXT_H

#include "store/box/box_view.h"
#include "model/session/context.h"

/* Cards of one context. */
enum { BOX_CONTEXT_CARDS_MAX = 10000 };

typedef struct box_context_request {
    const box_read *reads; /* the first is the box's, the others only say whether there is one */
    size_t count;
    context_request how;
    bool whole;       /* to the box's end: refused where only a part was read */
    size_t bytes_max; /* of cards: of more none is read */
} box_context_request;

/* STATEMENT_box_context: rows as of boxes_read. */
void box_context_params(params *p, const box_context_request *wish);

/*
 * The context of the cards that were read of a box, in its order, but those that can't be read. Its
 * views point into the rows and into `memory`. CARDBOX_TOO_LARGE: says how to ask for less;
 * CARDBOX_NOMEM.
 */
cardbox_status box_context_of(context *out, const box_view *box, const box_context_request *wish,
                              arena *memory, cardbox_error *err);

/* Appends {"box_id","version","length","cards" (how many were asked for),"missing_card_ids" (each
 * once), and leaves the object open. False: out of memory. */
bool box_context_head(buf *out, const box_view *box, const box_context_request *wish,
                      arena *memory);

/* Appends the whole object: the head's members and what context_answer gives. */
cardbox_status box_context_answer(buf *out, const box_view *box, const box_context_request *wish,
                                  arena *memory, cardbox_error *err);

#endif
