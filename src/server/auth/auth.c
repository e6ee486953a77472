/*
 * auth.c: authorises requests. While the list of tokens is unknown or was not confirmed for 10
 * seconds, a request that needs a token is answered with 503. There is one message for all invalid
 * tokens and one for all missing rights, so that the message does not reveal whether a project
 * exists.
 */
#include "server/auth/auth.h"
#include <stdio.h>
#include <strings.h>
#include "base/clock.h"
#include "server/response/http_error.h"

/* The auth watcher normally checks the list of tokens about once a second. If the database has not
 * answered for STALE_MS, a token may have been revoked, so requests are rejected. During a shorter
 * outage, such as a restart of the database, the last list is used. */
enum { STALE_MS = 10000 };

static bool is_known(const server_state *server)
{
    int64_t confirmed_ms = atomic_load(&server->tokens->confirmed_ms);
    return confirmed_ms != 0 && clock_ms() - confirmed_ms < STALE_MS;
}

bool auth_is_ready(const server_state *server)
{
    return !atomic_load(&server->role_is_too_powerful) &&
           (server->set->insecure_no_auth || is_known(server));
}

/* Returns the secret of the header "Authorization: Bearer SECRET". ptr NULL: the header is absent,
 * repeated or malformed. */
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

static void answer_not_ready(request *r)
{
    server_state *server = r->server;
    if (atomic_load(&server->role_is_too_powerful))
        http_error_send(r, HTTP_ERROR_INCOMPATIBLE,
                        "let the server log in as a role that is only a member of cardbox_service",
                        "the server's database role has more rights than a server should have");
    else if (atomic_load(&server->tokens_are_unreadable))
        http_error_send(r, HTTP_ERROR_INCOMPATIBLE,
                        "let the server log in as a role that is a member of cardbox_service",
                        "the server's database role may not read the tokens");
    else
        http_error_send_away(r, "the tokens could not be read from the database");
}

/* The only route outside a project that needs the scope read lists the projects of the token. */
static bool lists_projects(const route *to)
{
    return !route_is_of_project(to) && to->scope == SCOPE_READ;
}

/* Answers 403. The hint names the scope that the operation requires, which is public. The answer
 * does not reveal whether the token lacks the scope or the project. */
static bool answer_forbidden(request *r)
{
    char hint[100];
    const route *to = r->match.route;
    const char *reach = "all projects";
    if (route_is_of_project(to))
        reach = "this project";
    else if (lists_projects(to))
        reach = "some projects, or the scope admin, for all projects";
    snprintf(hint, sizeof(hint), "it needs the scope %s, for %s", route_scope_name(r->scope),
             reach);
    return http_error_send(r, HTTP_ERROR_FORBIDDEN, hint,
                           "the token is not good for this project or operation");
}

/* Routes outside a project that need a token need a token for all projects with the scope admin,
 * because their answers are about all projects. For a token of some projects, the list of projects
 * has only these. */
static bool allows(const token *t, const request *r)
{
    if (route_is_of_project(r->match.route))
        return token_is_for(t, request_tenant(r)) && (t->scopes & scope_of(r->scope)) != 0;
    if (lists_projects(r->match.route) && !t->all_tenants)
        return (t->scopes & TOKEN_READ) != 0;
    return t->all_tenants && (t->scopes & TOKEN_ADMIN) != 0;
}

/* Copies the projects of the token, because the list of tokens may be replaced. Returns false if
 * out of memory. */
static bool copy_projects(request *r, const token *t)
{
    slice *copies = arena_zeros(&r->memory, t->tenant_count + 1, sizeof(*copies));
    for (size_t i = 0; copies != NULL && i < t->tenant_count; i++) {
        const char *copy = arena_copy(&r->memory, t->tenants[i]);
        copies[i] = (slice){copy, copy == NULL ? 0 : t->tenants[i].len};
    }
    r->token_projects = copies;
    r->token_project_count = t->tenant_count;
    return !r->memory.failed;
}

static void remember_token(request *r, const token *t)
{
    r->token_id = t->id;
    r->is_admin = (t->scopes & TOKEN_ADMIN) != 0;
    r->token_expires_ms = t->expires_ms;
    r->token_changes = r->tokens->changes;
}

bool auth_check(request *r, const headers *h)
{
    server_state *server = r->server;
    if (r->scope == SCOPE_OPEN)
        return true;
    if (!auth_is_ready(server)) {
        answer_not_ready(r);
        return false;
    }
    r->is_admin = server->set->insecure_no_auth;
    if (r->is_admin)
        return true;
    slice secret = secret_of(h);
    const token_list *list = token_store_current(server->tokens, r->tokens);
    const token *t = secret.ptr == NULL ? NULL : token_list_find(list, secret);
    if (t == NULL || clock_ms() >= t->expires_ms)
        return http_error_send(
            r, HTTP_ERROR_UNAUTHENTICATED, "send Authorization: Bearer TOKEN",
            "the request needs a token that is known, not revoked and not expired");
    remember_token(r, t);
    if (!allows(t, r))
        return answer_forbidden(r);
    return !lists_projects(r->match.route) || t->all_tenants || copy_projects(r, t) ||
           http_error_send_no_memory(r);
}

bool auth_is_still_valid(request *r)
{
    server_state *server = r->server;
    if (r->scope == SCOPE_OPEN || server->set->insecure_no_auth || !is_known(server))
        return true;
    const token_list *list = token_store_current(server->tokens, r->tokens);
    if (r->tokens->changes == r->token_changes)
        return clock_ms() < r->token_expires_ms;
    const token *t = token_list_find_id(list, r->token_id);
    if (t == NULL || !allows(t, r))
        return false;
    remember_token(r, t);
    return clock_ms() < t->expires_ms;
}
