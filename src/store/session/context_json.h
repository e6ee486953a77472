/*
 * context_json.h: a written context as services see it: the messages as they can be sent, and how
 * they came to be so. Must not look into the messages.
 */
#ifndef STORE_SESSION_CONTEXT_JSON_H
#define STORE_SESSION_CONTEXT_JSON_H

#include "store/session/context.h"

/* Appends to an object that was begun: ,"format","repair", "system" where there is one, "messages",
 * "digests" and "report". */
void context_json(buf *out, const context *ctx, const context_output *written,
                  context_format format, bool repair);

#endif
