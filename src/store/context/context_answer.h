/*
 * context_answer.h: appends a context to a JSON response: the messages for a model, their digests,
 * and the report of their construction. HTTP and the abilities share this form.
 */
#ifndef STORE_CONTEXT_ANSWER_H
#define STORE_CONTEXT_ANSWER_H

#include "cardbox/status.h"
#include "model/session/context.h"

/* Returns why a context could not be built or written: CARDBOX_TOO_LARGE, or the status of
 * error_arena. */
cardbox_status context_failure(const context *ctx, cardbox_error *err);

/* Calls context_write, and maps a failure to a status. The caller frees `out`, also on failure. */
cardbox_status context_write_checked(context_output *out, context *ctx, cardbox_format format,
                                     cardbox_error *err);

/* Writes a context, and appends to an open JSON object: ,"format","repair", "system" (if there is
 * one), "messages", "digests" and "report". `written` contains the digests; the caller frees it,
 * also on failure. Returns the statuses of context_write_checked. */
cardbox_status context_answer(buf *out, context_output *written, context *ctx,
                              const context_request *request, cardbox_error *err);

#endif
