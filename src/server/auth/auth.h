/*
 * auth.h: whether a request may do what it asks for: its token, the token's scopes and projects,
 * and the state of the list of tokens. Knows no HTTP library and no SQL.
 */
#ifndef SERVER_AUTH_H
#define SERVER_AUTH_H

#include "server/auth/token_list.h"
#include "server/request/headers.h"
#include "server/request/request.h"

/* True if requests can be authorized: the list of tokens and the role's rights were read. */
bool auth_is_ready(const server_state *server);

/* Checks the token of a request whose route is known. False: answered with an error. */
bool auth_check(request *r, const headers *h);

/* Checks the token of a long request again. True while the tokens are not known. The token is
 * looked up only if the list has changed. */
bool auth_is_still_valid(request *r);

#endif
