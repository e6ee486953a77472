/*
 * route.h: the table of routes, from method and path to handler. --routes, 404 and 405 use it too.
 * Knows no HTTP library.
 */
#ifndef SERVER_ROUTE_H
#define SERVER_ROUTE_H

#include <stdio.h>
#include "server/request/path.h"
#include "server/stats.h"

struct request;

/* Segments in braces of a pattern, in order. */
#define ROUTE_PARAMS_MAX 3

typedef enum route_body {
    ROUTE_NO_BODY, /* a body is read and ignored */
    ROUTE_JSON,    /* JSON, whole in memory before the handler runs */
    ROUTE_STREAM   /* has any length: passed to the handler in chunks */
} route_body;

/* The scope that a token needs. */
typedef enum route_scope {
    SCOPE_OPEN, /* no token is needed */
    SCOPE_READ,
    SCOPE_WRITE,
    SCOPE_TASKS,
    SCOPE_ADMIN,
    SCOPE_ABILITY /* the scope of the ability in the path: see ability_scope */
} route_scope;

/* The headers that make a change safe to repeat and that the route accepts; it may ignore them if
 * it is safe anyway. Others are rejected, because a client would rely on an ignored one. */
enum { TAKES_NONE = 0, TAKES_KEY = 1 /* Idempotency-Key */, TAKES_IF_MATCH = 2 };

typedef struct route {
    const char *method;
    const char *pattern; /* "/projects/{project_id}/cards/{card_id}" */
    const char *name;    /* OpenAPI's operationId, for logs */
    route_body body;
    route_scope scope;
    route_class class;                 /* its class in the metrics */
    unsigned takes;                    /* for a change: the accepted headers */
    void (*handle)(struct request *r); /* called once the whole request is there, or, with
                                        * ROUTE_STREAM, its headers */
    const void *of; /* argument of a handler that serves several routes; else NULL */
} route;

typedef struct route_match {
    const route *route; /* NULL: nothing serves it */
    bool path_known;    /* another method would do */
    slice params[ROUTE_PARAMS_MAX];
} route_match;

/* The table; one without a method ends it. */
extern const route ROUTES[];

/* The request that a client most likely meant, for a path or method without a route. */
typedef struct route_hint {
    const char *method; /* "": any */
    const char *pattern;
    const char *hint;
} route_hint;

/* The table; one without a method ends it. */
extern const route_hint ROUTE_HINTS[];

/* The hint for a path; NULL: there is none; "": show none. The table need not have the slash at
 * the end of a path. */
const char *route_hint_of(const route_hint *table, const char *method, const url_path *where);

void route_find(route_match *out, const route *table, const char *method, const url_path *where);

/* True if its path begins with a project. */
bool route_is_of_project(const route *r);

/* "read", "write", ... */
const char *route_scope_name(route_scope scope);

/* Writes the methods that a path accepts, "GET, HEAD, POST". HEAD is accepted with every GET. */
#define ROUTE_ALLOW_SIZE 64
void route_allow(char out[ROUTE_ALLOW_SIZE], const route *table, const url_path *where);

/* One "METHOD /pattern scope" a line. */
void route_print(FILE *out, const route *table);

#endif
