/*
 * auth.h: whether a request may do what it asks for: its token, the token's scopes and projects,
 * and the state of the list of tokens. Knows no HTTP library and no SQL.
 */
#ifndef SERVER_AUTH_H
#define SERVER_AUTH_H

#include "server/auth/token_list.h"
#include "server/request/headers.h"
#include "server/request/request.h"

/* Whether it can be said at all who may do what. */
bool auth_is_decided(const server_state *server);

/* Whether the request, whose route was found, may go on. False: answered. */
bool auth_check(request *r, const headers *h);

/* Whether it may still go on, some time later; while the tokens are not known, it may. The token is
 * looked up again only if the list of tokens has changed, or the token has expired. */
bool auth_still_good(request *r);

#endif
