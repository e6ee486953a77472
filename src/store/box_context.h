/*
 * box_context.h: the cards of a box, as they are read, become those that a context is made of. The
 * SDK and the server both build contexts by it. Knows no connection and no format.
 */
#ifndef STORE_BOX_CONTEXT_H
#define STORE_BOX_CONTEXT_H

#include "store/read.h"
#include "store/session/context.h"

/* Cards of one context. */
enum { BOX_CONTEXT_CARDS_MAX = 10000 };

/*
 * Reads a card for a context; its views point into the row and into `memory`. `project_id` is what
 * the card object shows; the object itself is made only for the format of entries. False: out of
 * memory.
 */
bool box_context_card(context_card *out, const card_row *row, view project_id,
                      context_format format, arena *memory);

#endif
