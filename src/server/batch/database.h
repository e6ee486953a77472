/*
 * database.h: the state of the primary and of its standbys. All threads of a server share it.
 */
#ifndef SERVER_DATABASE_H
#define SERVER_DATABASE_H

#include <stdatomic.h>
#include "cardbox/status.h"
#include "db/connector.h"
#include "server/settings.h"

typedef enum database_state {
    DATABASE_UNKNOWN,
    DATABASE_UP,
    DATABASE_AWAY,
    /* The database answers, but did not pass the server's check: */
    DATABASE_NOT_MIGRATED, /* migrations or functions are missing, or it is no standby of the
                              primary */
    DATABASE_FORBIDDEN,    /* the role lacks rights */
    DATABASE_CHECK_FAILED  /* the check failed with an error of PostgreSQL, which is logged */
} database_state;

/* The state of the primary, or of its standbys. */
typedef struct database_side {
    connector *connector;      /* opens the connections of the loops; NULL: no standby is set */
    atomic_int usable_count;   /* number of usable connections of all loops */
    atomic_bool given_up;      /* no connection could be made, or a check failed. Cleared when a
                                  connection becomes usable */
    atomic_bool refuses;       /* PostgreSQL rejected the last attempt before `given_up` was set */
    atomic_int incompatible;   /* number of connections whose last check failed */
    atomic_int cause;          /* a database_state: why a check failed last */
    atomic_uint connect_count; /* how often a connection became usable. When it grows, connections
                                  that are down are retried at once */
    atomic_int last_logged;    /* the database_state that was logged last */
    /* For slots.c: */
    int first_ranks;       /* lower ranks are those of the first connections of each group */
    int ranks;             /* number of connections of all loops, and so of ranks */
    atomic_int open_max;   /* connections with a lower rank may be open */
    atomic_int open_count; /* number of open connections of the loops */
    atomic_llong up_ms, last_lost_ms; /* when usable_count last rose from 0, and fell to 0 */
    atomic_llong last_lowered_ms;     /* when open_max was lowered last */
    atomic_llong full_ms;             /* when PostgreSQL last had no free slot; 0: never */
    atomic_llong refusal_ms;          /* when a rejected connection was logged last; 0: never */
    atomic_uint refusal_state; /* the SQLSTATE of the last rejection, as a number of base 36 */
} database_side;

typedef struct database {
    database_side primary, standby;
    atomic_llong auth_watcher_ok_ms;    /* when the auth watcher last began to connect or to
                                           query with success; 0: never */
    atomic_llong cluster_identity;      /* identity of the primary; 0: unknown */
    atomic_uint identity_connect_count; /* primary.connect_count before cluster_identity was read */
} database;

/* Starts the connectors. Returns false if memory runs out or a thread can't be started. */
bool database_open(database *d, const settings *set);

/* Ends the connectors, after all loops have ended. Returns false if a connector hangs in an attempt
 * to connect; then the process must end by _exit. */
bool database_close(database *d);

/* True if requests are answered 503 at once: no connection is usable, and connecting has failed or
 * has lasted too long, or a check of the database has failed. */
static inline bool database_is_away(const database_side *d)
{
    return atomic_load(&d->given_up) && atomic_load(&d->usable_count) == 0;
}

#endif
