/*
 * session_context.h: the export of a context: its messages alone, in the format of an API.
 */
#ifndef SERVER_SESSION_CONTEXT_H
#define SERVER_SESSION_CONTEXT_H

#include "cardbox/context.h"
#include "server/api/handlers.h"

/* Answers with the messages of the context of an entry, as a JSON array, or an object if there is a
 * separate system text. `leaf`: empty means the head. */
void handle_session_messages(request *r, slice session, slice leaf, cardbox_format format);

#endif
