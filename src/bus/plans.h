/*
 * plans.h: structs for plans (see bus_call.plan) of abilities for which the store has no struct of
 * parameters. These structs are in a header because the server fills plans for the routes whose
 * answer is the output of an ability.
 */
#ifndef BUS_PLANS_H
#define BUS_PLANS_H

#include "bus/bus.h"
#include "store/client/list.h"
#include "store/session/session_pages.h"

/* session:list. */
typedef struct session_list {
    list_cursor from;
    int64_t limit;
    bool preview; /* each session also has the previews of its first and its last message */
} session_list;

/* The plan of the abilities that read the tree of a session. */
typedef struct tree_request {
    session_page page; /* page.limit is one more than the maximum number of returned entries */
    const session_pages *of; /* NULL: the ability reads no list of entries */
    session_path_read path;  /* the path to read, or to check that session and entry exist */
    slice entry, other;      /* session:entry uses `entry`; session:diff compares both */
} tree_request;

/* Fills in the plan of a call and returns it. `entry` has ptr NULL if the request names no entry.
 * `limit` is the maximum number of entries to return. */
tree_request *tree_request_init(const bus_call *call, slice session, slice entry, int64_t limit);

/* Reads the cursor of a list or a path. Returns false if the cursor is malformed, or if out of
 * memory (then memory->failed). */
bool tree_request_cursor(tree_request *plan, slice cursor, arena *memory);

#endif
