/*
 * auth.c: the rules. In doubt nobody is let in: while the list of tokens was never read, or was not
 * confirmed for long, the answer is 503. One message for whatever is wrong with a token, and one
 * for whatever it is not good for, whether the project exists or not: neither teaches anything.
 */
#include "server/auth/auth.h"
#include <stdio.h>
#include <strings.h>
#include "base/clock.h"
#include "server/response/http_error.h"

/* The list is asked for more than once a second. After so long without an answer a token may have
 * been revoked long ago; for less than that a restart of the database need not be noticed. */
enum { STALE_MS = 10000 };

static bool is_known(const server_state *server)
{
    int64_t confirmed_ms = atomic_load(&server->tokens->confirmed_ms);
    return confirmed_ms != 0 && clock_ms() - confirmed_ms < STALE_MS;
}

bool auth_is_decided(const server_state *server)
{
    return !atomic_load(&server->overpowered) &&
           (server->set->insecure_no_auth || is_known(server));
}

/* The secret of "Bearer SECRET". ptr NULL: anything else. */
static slice secret_of(const headers *h)
{
    static const char SCHEME[] = "Bearer ";
    size_t skip = sizeof(SCHEME) - 1;
    slice value = h->authorization;
    if (h->authorizations != 1 || value.len <= skip || strncasecmp(value.ptr, SCHEME, skip) != 0)
        return (slice){NULL, 0};
    while (skip < value.len && value.ptr[skip] == ' ')
        skip++;
    value = (slice){value.ptr + skip, value.len - skip};
    bool formed = value.len == TOKEN_TEXT_SIZE &&
                  memcmp(value.ptr, TOKEN_PREFIX, sizeof(TOKEN_PREFIX) - 1) == 0;
    return formed ? value : (slice){NULL, 0};
}

static const token *find_token(const token_list *list, const headers *h)
{
    slice secret = secret_of(h);
    const token *t = secret.ptr == NULL ? NULL : token_list_find(list, secret);
    return t != NULL && clock_ms() < t->expires_ms ? t : NULL;
}

static unsigned scope_of(route_scope scope)
{
    static const unsigned SCOPES[] = {[SCOPE_OPEN] = 0,
                                      [SCOPE_READ] = TOKEN_READ,
                                      [SCOPE_WRITE] = TOKEN_WRITE,
                                      [SCOPE_TASKS] = TOKEN_TASKS,
                                      [SCOPE_ADMIN] = TOKEN_ADMIN,
                                      [SCOPE_ABILITY] = 0};
    return SCOPES[scope];
}

/* What belongs to no project shows something of all. */
static bool is_for_place(const token *t, const request *r)
{
    return route_is_of_project(r->match.route) ? token_is_for(t, request_tenant(r))
                                               : t->all_tenants;
}

static void answer_undecided(request *r)
{
    server_state *server = r->server;
    if (atomic_load(&server->overpowered))
        http_error_send(r, HTTP_ERROR_INCOMPATIBLE,
                        "let the server log in as a role that is only a member of cardbox_service",
                        "the server's database role has more rights than a server should have");
    else if (atomic_load(&server->tokens_barred))
        http_error_send(r, HTTP_ERROR_INCOMPATIBLE,
                        "let the server log in as a role that is a member of cardbox_service",
                        "the server's database role may not read the tokens");
    else
        http_error_send_away(r, "the tokens could not be read from the database");
}

/* What the operation needs is no secret; which part of it the token lacks is not said. */
static void answer_forbidden(request *r)
{
    char hint[80];
    snprintf(hint, sizeof(hint), "it needs the scope %s, for %s", route_scope_name(r->scope),
             route_is_of_project(r->match.route) ? "this project" : "all projects");
    http_error_send(r, HTTP_ERROR_FORBIDDEN, hint,
                    "the token is not good for this project or operation");
}

static bool is_good_for(const token *t, const request *r)
{
    return is_for_place(t, r) && (t->scopes & scope_of(r->scope)) != 0;
}

static void note_token(request *r, const token *t)
{
    r->token_id = t->id;
    r->token_expires_ms = t->expires_ms;
    r->token_changes = r->tokens->changes;
}

bool auth_check(request *r, const headers *h)
{
    server_state *server = r->server;
    if (r->scope == SCOPE_OPEN)
        return true;
    if (!auth_is_decided(server)) {
        answer_undecided(r);
        return false;
    }
    if (server->set->insecure_no_auth)
        return true;
    const token *t = find_token(board_read(server->tokens, r->tokens), h);
    if (t == NULL) {
        http_error_send(r, HTTP_ERROR_UNAUTHENTICATED, "send Authorization: Bearer TOKEN",
                        "the request needs a token that is known, not revoked and not expired");
        return false;
    }
    note_token(r, t);
    if (is_good_for(t, r))
        return true;
    answer_forbidden(r);
    return false;
}

bool auth_still_good(request *r)
{
    server_state *server = r->server;
    if (r->scope == SCOPE_OPEN || server->set->insecure_no_auth || !is_known(server))
        return true;
    const token_list *list = board_read(server->tokens, r->tokens);
    if (r->tokens->changes == r->token_changes)
        return clock_ms() < r->token_expires_ms;
    const token *t = token_list_find_id(list, r->token_id);
    if (t == NULL || !is_good_for(t, r))
        return false;
    note_token(r, t);
    return clock_ms() < t->expires_ms;
}
