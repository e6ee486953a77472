/*
 * context_answer.h: a context as services see it: the messages as they can be sent, and how they
 * came to be so. HTTP and the abilities give the same. Must not look into the messages.
 */
#ifndef STORE_CONTEXT_ANSWER_H
#define STORE_CONTEXT_ANSWER_H

#include "cardbox/status.h"
#include "model/session/context.h"

/* Why a context could not be built or written: CARDBOX_TOO_LARGE, and what error_arena gives. */
cardbox_status context_failed(const context *ctx, cardbox_error *err);

/* context_write with a reason: CARDBOX_TOO_LARGE, CARDBOX_NOMEM. `out` is to be freed in any case.
 */
cardbox_status context_written(context_output *out, context *ctx, cardbox_format format,
                               cardbox_error *err);

/* Writes a context, and appends to an object that was begun: ,"format","repair", "system" where
 * there is one, "messages", "digests" and "report". `written` keeps the digests; free it in any
 * case. Statuses of context_written. */
cardbox_status context_answer(buf *out, context_output *written, context *ctx,
                              const context_request *wish, cardbox_error *err);

#endif
