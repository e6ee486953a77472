/*
 * context_result.h: makes the results of <cardbox/context.h> and JSON responses from a context.
 * Used for sessions and boxes. HTTP and the abilities share the form of the responses.
 */
#ifndef STORE_CONTEXT_RESULT_H
#define STORE_CONTEXT_RESULT_H

#include "cardbox/context.h"
#include "model/session/context.h"

/* Copies a caller's options to *all; NULL: the defaults. CARDBOX_INVALID: the format is unknown, or
 * the struct was not made by its _INIT macro. */
cardbox_status context_options_read(context_request *out, cardbox_context_options *all,
                                    const cardbox_context_options *options, cardbox_error *err);

/* Writes the context and its report. `head` is the open JSON object that begins the report. `head`
 * becomes a part of the result; on failure it is freed. Fails with CARDBOX_NOMEM,
 * CARDBOX_TOO_LARGE, or a status of context_write_checked. */
cardbox_status context_result_new(cardbox_context **out, context *ctx,
                                  const context_request *request, buf *head, cardbox_error *err);

/* Returns why a context could not be built or written: CARDBOX_TOO_LARGE, CARDBOX_INVALID (the
 * newest messages do not fit), or the status of error_arena. */
cardbox_status context_failure(const context *ctx, cardbox_error *err);

/* Calls context_write_cut, and maps a failure to a status of context_failure. The caller frees
 * `out`, also on failure. */
cardbox_status context_write_checked(context_output *out, context *ctx,
                                     const context_request *request, cardbox_error *err);

/* Returns the name of the member with the separate system text. */
const char *context_system_name(cardbox_format format);

/* Writes a context, and appends to an open JSON object: ,"format","repair", "system" (if there is
 * one), "messages", "digests" and "report". `written` contains the digests; the caller frees it,
 * also on failure. Fails like context_write_checked. */
cardbox_status context_answer(buf *out, context_output *written, context *ctx,
                              const context_request *request, cardbox_error *err);

#endif
