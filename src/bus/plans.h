/*
 * plans.h: plans (see bus_call.plan) of abilities for which the store has no struct of parameters.
 * The server fills plans for the routes that answer with the output of an ability.
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
} session_list;

/* The abilities that read the tree of a session. */
typedef struct tree_request {
    session_page page;       /* limit: one row more than is returned */
    const session_pages *of; /* the list, of those that read one */
    session_path_read path;  /* also used to check that the session exists */
    slice entry, other;      /* session:diff compares them */
} tree_request;

/* Prepares the plan of a call. `entry`: ptr NULL if the request has none. `limit`: the number of
 * entries that are returned. */
tree_request *tree_request_init(const bus_call *call, slice session, slice entry, int64_t limit);

/* Reads the cursor of a list or a path. False: it is malformed, or the arena failed. */
bool tree_request_cursor(tree_request *plan, slice cursor, arena *memory);

#endif
