/*
 * context_result.h: a context as <cardbox/context.h> lends it, made of one that was built. Knows
 * neither sessions nor boxes.
 */
#ifndef STORE_CONTEXT_RESULT_H
#define STORE_CONTEXT_RESULT_H

#include "cardbox/context.h"
#include "model/session/context.h"

/* The options of a caller, or the default; CARDBOX_INVALID: a format that there is none of. */
cardbox_status context_options_read(context_request *out, const cardbox_context_options *options,
                                    cardbox_error *err);

/* Writes the context and its report: `head` is a JSON object that was begun with what it is the
 * context of, and is taken over. CARDBOX_TOO_LARGE, CARDBOX_NOMEM. */
cardbox_status context_finish(cardbox_context **out, context *ctx, cardbox_format format, buf *head,
                              cardbox_error *err);

#endif
