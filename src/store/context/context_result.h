/*
 * context_result.h: makes the results of <cardbox/context.h> from a context. Used for sessions and
 * boxes.
 */
#ifndef STORE_CONTEXT_RESULT_H
#define STORE_CONTEXT_RESULT_H

#include "cardbox/context.h"
#include "model/session/context.h"

/* Reads a caller's options; NULL: the defaults. CARDBOX_INVALID: the format does not exist. */
cardbox_status context_options_read(context_request *out, const cardbox_context_options *options,
                                    cardbox_error *err);

/* Writes the context and its report. `head` is the open JSON object that begins the report; the
 * result owns it. Fails with CARDBOX_TOO_LARGE and CARDBOX_NOMEM. */
cardbox_status context_result_new(cardbox_context **out, context *ctx, cardbox_format format,
                                  buf *head, cardbox_error *err);

#endif
