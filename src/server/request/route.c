/*
 * route.c: finds the route of a method and a path by comparison with each route of the table. Some
 * sixty routes need no search tree.
 */
#include "server/request/route.h"

/* Returns the first segment of a pattern, which begins with '/', and removes it from the pattern.
 */
static slice next_segment(const char **pattern)
{
    const char *from = *pattern + 1;
    size_t len = strcspn(from, "/");
    *pattern = from + len;
    return (slice){from, len};
}

/* `params` receives the path's segments for which the pattern has a name in braces. */
static bool matches(const char *pattern, const url_path *where, slice params[ROUTE_PARAMS_MAX])
{
    size_t found = 0;
    for (size_t i = 0; i < where->count; i++) {
        if (*pattern == '\0')
            return false;
        slice wanted = next_segment(&pattern);
        if (wanted.ptr[0] == '{') {
            if (found < ROUTE_PARAMS_MAX)
                params[found++] = where->segments[i];
        } else if (!slice_equal(wanted, where->segments[i])) {
            return false;
        }
    }
    return strcmp(pattern, where->folder ? "/" : "") == 0;
}

static bool accepts_method(const char *served, const char *method)
{
    return strcmp(served, method) == 0 ||
           (strcmp(method, "HEAD") == 0 && strcmp(served, "GET") == 0);
}

void route_find(route_match *out, const route *table, const char *method, const url_path *where)
{
    *out = (route_match){.route = NULL};
    for (const route *r = table; r->method != NULL; r++) {
        slice params[ROUTE_PARAMS_MAX] = {{NULL, 0}};
        if (!matches(r->pattern, where, params))
            continue;
        out->path_known = true;
        if (!accepts_method(r->method, method))
            continue;
        out->route = r;
        memcpy(out->params, params, sizeof(params));
        return;
    }
}

const char *route_hint_of(const route_hint *table, const char *method, const url_path *where)
{
    url_path file = *where;
    file.folder = false;
    for (const route_hint *h = table; h->method != NULL; h++) {
        slice params[ROUTE_PARAMS_MAX];
        if ((*h->method == '\0' || accepts_method(h->method, method)) &&
            (matches(h->pattern, where, params) || matches(h->pattern, &file, params)))
            return h->hint;
    }
    return NULL;
}

void route_allow(char out[ROUTE_ALLOW_SIZE], const route *table, const url_path *where)
{
    static const char *const METHODS[] = {"GET", "HEAD", "POST", "PUT", "DELETE"};
    size_t used = 0;
    out[0] = '\0';
    for (size_t i = 0; i < sizeof(METHODS) / sizeof(METHODS[0]); i++) {
        route_match match;
        route_find(&match, table, METHODS[i], where);
        if (match.route == NULL)
            continue;
        int len = snprintf(out + used, ROUTE_ALLOW_SIZE - used, "%s%s", used == 0 ? "" : ", ",
                           METHODS[i]);
        used += len > 0 ? (size_t)len : 0;
    }
}

bool route_is_of_project(const route *r)
{
    static const char PROJECT[] = "/projects/{project_id}";
    return strncmp(r->pattern, PROJECT, sizeof(PROJECT) - 1) == 0;
}

const char *route_scope_name(route_scope scope)
{
    static const char *const SCOPES[] = {
        [SCOPE_OPEN] = "open",   [SCOPE_READ] = "read",   [SCOPE_WRITE] = "write",
        [SCOPE_TASKS] = "tasks", [SCOPE_ADMIN] = "admin", [SCOPE_ABILITY] = "ability"};
    return SCOPES[scope];
}

void route_print(FILE *out, const route *table)
{
    for (const route *r = table; r->method != NULL; r++)
        fprintf(out, "%s %s %s\n", r->method, r->pattern, route_scope_name(r->scope));
}
