/*
 * route.h: which handler serves which method and path: one table, from which --routes, 404 and 405
 * come too. Knows no HTTP library.
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
    ROUTE_NO_BODY, /* one that comes all the same is read and ignored */
    ROUTE_JSON,    /* JSON, whole in memory before the handler runs */
    ROUTE_STREAM   /* of any length: goes piece by piece to where the handler says */
} route_body;

/* What a token must be good for. */
typedef enum route_scope {
    SCOPE_OPEN, /* nothing: no token is asked for */
    SCOPE_READ,
    SCOPE_WRITE,
    SCOPE_TASKS,
    SCOPE_ADMIN,
    SCOPE_ABILITY /* what the ability in the path needs: see ability_scope */
} route_scope;

/* Which of the headers that make a change safe it takes, or may ignore since it is safe anyway. Any
 * other is refused: one that is ignored would be believed in. */
enum { TAKES_NONE = 0, TAKES_KEY = 1 /* Idempotency-Key */, TAKES_IF_MATCH = 2 };

typedef struct route {
    const char *method;
    const char *pattern; /* "/projects/{project_id}/cards/{card_id}" */
    const char *name;    /* OpenAPI's operationId, for logs */
    route_body body;
    route_scope scope;
    route_class class;                 /* what the metrics count it as */
    unsigned takes;                    /* of a change */
    void (*handle)(struct request *r); /* called once the whole request is there, or, with
                                        * ROUTE_STREAM, its head */
} route;

typedef struct route_match {
    const route *route; /* NULL: nothing serves it */
    bool path_known;    /* another method would do */
    view params[ROUTE_PARAMS_MAX];
} route_match;

/* The table; one without a method ends it. */
extern const route ROUTES[];

/* Where that is done which a request at no route, or with another method, most likely wants. */
typedef struct route_hint {
    const char *method; /* "": any */
    const char *pattern;
    const char *hint;
} route_hint;

/* The table; one without a method ends it. */
extern const route_hint ROUTE_HINTS[];

/* NULL: there is none; "": none shall be said. A slash at the end of the path need not be in the
 * table. */
const char *route_hint_of(const route_hint *table, const char *method, const url_path *where);

/* The route that a path which is none misses by little: a slash at its end, or some letters of its
 * fixed words, of which fewer than `most` are wrong. One that takes the method comes first. NULL:
 * none is near. */
const route *route_near(const route *table, const char *method, const url_path *where, int most);

void route_find(route_match *out, const route *table, const char *method, const url_path *where);

/* Whether its path begins with a project. */
bool route_is_of_project(const route *r);

/* "read", "write", ... */
const char *route_scope_name(route_scope scope);

/* Writes the methods that a path takes, "GET, HEAD, POST". HEAD goes with every GET. */
#define ROUTE_ALLOW_SIZE 64
void route_allow(char out[ROUTE_ALLOW_SIZE], const route *table, const url_path *where);

/* One "METHOD /pattern scope" a line. */
void route_print(FILE *out, const route *table);

#endif
