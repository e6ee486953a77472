/*
 * sessions.h: shared by the handlers of sessions: names of dialects, and the check if a session
 * exists when a list is empty. Knows no SQL.
 */
#ifndef SERVER_SESSIONS_H
#define SERVER_SESSIONS_H

#include "server/response/page.h"
#include "store/session/sessions.h"

/* In the order of session_dialect and cardbox_dialect; NULL ends them. */
extern const char *const SESSION_DIALECTS[];

/* Checks if the session exists and, unless its id is empty, the entry. If so, calls `next`, which
 * answers the request. Otherwise answers 404. */
void session_check_exists(request *r, slice session, slice entry, void (*next)(request *r));

#endif
