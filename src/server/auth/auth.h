/*
 * auth.h: authorises a request by its token, the token's scopes and projects, and the state of the
 * list of tokens. Knows no HTTP library and no SQL.
 */
#ifndef SERVER_AUTH_H
#define SERVER_AUTH_H

#include "server/auth/token_list.h"
#include "server/request/headers.h"
#include "server/request/request.h"

/* True if requests can be authorised: the server's database role does not have too many rights, and
 * the list of tokens is current or no tokens are needed. */
bool auth_is_ready(const server_state *server);

/* Checks the token of a request after its route was found. False: the request was answered with an
 * error. */
bool auth_check(request *r, const headers *h);

/* Checks the token of a long request again. Returns true if the token is still valid, if the
 * request needs no token, and also while the list of tokens is not current. The token is looked up
 * only if the list has changed. */
bool auth_is_still_valid(request *r);

#endif
