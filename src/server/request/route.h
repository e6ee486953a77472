/*
 * route.h: the table of routes, from method and path to handler. The option --routes and the
 * answers 404 and 405 are made from the table too. Knows no HTTP library.
 */
#ifndef SERVER_ROUTE_H
#define SERVER_ROUTE_H

#include <stdio.h>
#include "server/request/path.h"
#include "server/stats.h"

struct request;

/* Maximum segments in braces of a pattern. */
#define ROUTE_PARAMS_MAX 3

typedef enum route_body {
    ROUTE_NO_BODY, /* a body is read and ignored */
    ROUTE_JSON,    /* JSON, whole in memory before the handler runs */
    ROUTE_STREAM   /* a body of any length, which is passed to the handler's sink in chunks */
} route_body;

/* The scope that a token needs for a request to a route. */
typedef enum route_scope {
    SCOPE_OPEN, /* no token is needed */
    SCOPE_READ,
    SCOPE_WRITE,
    SCOPE_TASKS,
    SCOPE_ADMIN,
    SCOPE_ABILITY /* the needed scope is that of the ability in the path: see ability_scope */
} route_scope;

/* The headers for safe repetition that a changing route accepts. A route that is always safe to
 * repeat may ignore them. Other routes reject them, because a client would rely on an ignored
 * header. */
enum {
    TAKES_NONE = 0,
    TAKES_KEY = 1, /* Idempotency-Key */
    TAKES_IF_MATCH = 2
};

typedef struct route {
    const char *method;
    const char *pattern; /* "/projects/{project_id}/cards/{card_id}" */
    const char *name;    /* OpenAPI's operationId, for logs and metrics */
    route_body body;
    route_scope scope;
    route_class class;                 /* the class of the route's requests in the metrics */
    unsigned takes;                    /* a sum of TAKES_... */
    void (*handle)(struct request *r); /* called when the whole request has arrived, or, with
                                          ROUTE_STREAM, when its headers have */
    const void *of;    /* argument for a handler that serves several routes; else NULL */
    bool plain_faults; /* the answer 422 is a plain list of faults, as the source documents require
                          of five reads */
} route;

typedef struct route_match {
    const route *route; /* NULL: no route matches path and method */
    bool path_known;    /* a route matches the path, perhaps with another method */
    slice params[ROUTE_PARAMS_MAX];
} route_match;

/* All routes. A row without a method ends the table. */
extern const route ROUTES[];

/* The request that a client most likely meant, for a path or method without a route. */
typedef struct route_hint {
    const char *method; /* "": any */
    const char *pattern;
    const char *hint;
} route_hint;

/* All hints. A row without a method ends the table. */
extern const route_hint ROUTE_HINTS[];

/* Returns the hint for a path; NULL: the table has none; "": no hint may be shown. A path that ends
 * in a slash also matches a pattern without the slash. */
const char *route_hint_of(const route_hint *table, const char *method, const url_path *where);

void route_find(route_match *out, const route *table, const char *method, const url_path *where);

/* True if the path of the route begins with /projects/{project_id}. */
bool route_is_of_project(const route *r);

/* Returns the name of a scope, such as "read". */
const char *route_scope_name(route_scope scope);

/* Writes the methods that a path accepts, such as "GET, HEAD, POST". A path that accepts GET also
 * accepts HEAD. */
#define ROUTE_ALLOW_SIZE 64
void route_allow(char out[ROUTE_ALLOW_SIZE], const route *table, const url_path *where);

/* Prints a line "METHOD /pattern scope" for each route. */
void route_print(FILE *out, const route *table);

#endif
