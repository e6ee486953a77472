/*
 * box_context.h: the cards of a box, as they are read, become those that a context is made of. The
 * SDK and the server both build contexts by it. Knows no connection and no format.
 */
#ifndef STORE_BOX_CONTEXT_H
#define STORE_BOX_CONTEXT_H

#include "store/box_view.h"
#include "store/session/context.h"

/* Cards of one context. */
enum { BOX_CONTEXT_CARDS_MAX = 10000 };

/*
 * The context of the cards that were read of a box, in its order, but those that can't be read. Its
 * views point into the rows and into `memory`. `project_id` is what card objects show. False: out
 * of memory.
 */
bool box_context_of(context *out, const box_view *box, view project_id, context_format format,
                    bool repair, arena *memory);

/* At how many of its positions there is no card to read. */
size_t box_context_missing(const box_view *box);

/* Appends {"box_id","version","length","cards" (how many were asked for),"missing_card_ids" (each
 * once), and leaves the object open. False: out of memory. */
bool box_context_head(buf *out, const box_view *box, const uuid16 *id, arena *memory);

#endif
