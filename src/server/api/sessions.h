/*
 * sessions.h: what the handlers of sessions have in common: the session and the entry in the path,
 * and what is said where a list is empty because there is no such session. Knows no SQL.
 */
#ifndef SERVER_SESSIONS_H
#define SERVER_SESSIONS_H

#include "server/response/page.h"
#include "store/session/sessions.h"

/* In the order of session_dialect and cardbox_dialect; NULL ends them. */
extern const char *const SESSION_DIALECTS[];

/* Asks whether there is such a session and, unless its id is empty, such an entry. If there is,
 * `go_on` answers the request; else this does. */
void session_check_exists(request *r, slice session, slice entry, void (*go_on)(request *r));

#endif
