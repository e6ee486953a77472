/*
 * session_create.h: reads the description of a new session: the body of PUT .../sessions/{s}, and
 * the member `create` of an append.
 */
#ifndef SERVER_SESSION_CREATE_H
#define SERVER_SESSION_CREATE_H

#include "server/api/handlers.h"
#include "store/session/session_write.h"

/* Reads the member `create` into *out. The caller has set the tenant and the session of *out.
 * False: the request was answered with an error. */
bool session_create_read_member(request *r, session_create *out, scan_value member);

#endif
