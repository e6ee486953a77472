/*
 * database.h: the state of the primary and of its standbys, shared by all threads of a server.
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
    /* In the following states the database answers, but has not passed the server's check: */
    DATABASE_NOT_MIGRATED, /* migrations or functions are missing, or a standby can't be used */
    DATABASE_FORBIDDEN,    /* the role lacks rights */
    DATABASE_CHECK_FAILED, /* the check failed with another error of PostgreSQL */
    DATABASE_POOLED        /* the database is reached through a pooler in transaction mode, without
                              --no-prepared-statements */
} database_state;

/* time for which no connection is used after a sign of a pooler */
enum { DATABASE_POOLED_MS = 60000 };

/* The state of the primary, or of its standbys. */
typedef struct database_side {
    /* opens the connections of the loops; NULL in `standby`: no --standby-dsn */
    connector *connector;
    atomic_int usable_count; /* number of usable connections of all loops */
    atomic_bool given_up;    /* opening connections failed for too long, or a check failed. Cleared
                                when a connection becomes usable */
    atomic_bool refuses; /* the error that last set `given_up` came from a server that answered */
    atomic_int incompatible;   /* number of connected connections whose last check failed */
    atomic_int cause;          /* a database_state: why a check failed last */
    atomic_uint connect_count; /* how often a connection became usable. When the number grows, the
                                  loops end their pauses before further attempts to connect */
    atomic_int last_logged;    /* the database_state that was logged last */
    atomic_llong pooled_ms;    /* when a new session last had a prepared statement of another
                                  connection, as through a pooler in transaction mode; 0: never */
    /* only slots.c uses the members from here on, except `up_ms` and `last_lost_ms` */
    /* ranks below this number are those of the first connections of each group of each loop; 0 for
     * standbys */
    int first_ranks;
    int ranks;                        /* number of connections of all loops, and of ranks */
    atomic_int open_max;              /* connections whose rank is below this number may be open */
    atomic_int open_count;            /* number of open connections of the loops */
    atomic_llong up_ms, last_lost_ms; /* up_ms: when usable_count last rose from 0. last_lost_ms:
                                         when it last fell to 0 */
    atomic_llong last_lowered_ms;     /* when open_max was lowered last */
    /* when PostgreSQL last rejected a connection for lack of a slot; 0: never */
    atomic_llong full_ms;
    atomic_llong refusal_ms;   /* when a rejected connection was logged last; 0: never */
    atomic_uint refusal_state; /* SQLSTATE of the last rejection, read as a number of base 36 */
} database_side;

typedef struct database {
    database_side primary, standby;
    atomic_llong auth_watcher_ok_ms; /* when the auth watcher began its last successful attempt to
                                        connect or query; 0: never */
    atomic_llong cluster_identity;   /* result of cluster_identity.sql on the primary; 0: unknown */
    atomic_uint identity_connect_count; /* primary.connect_count before cluster_identity was read */
} database;

/* Starts the connectors. Returns false if memory runs out or a thread can't be started. */
bool database_open(database *d, const settings *set);

/* Ends the connectors, after all loops have ended. Returns false if an attempt to connect still
 * runs; then the process must end by _exit. */
bool database_close(database *d);

/* True if the database is reached through a pooler in transaction mode. Then prepared statements do
 * not work. */
static inline bool database_is_pooled(const database_side *d, int64_t now_ms)
{
    int64_t pooled_ms = atomic_load(&d->pooled_ms);
    return pooled_ms != 0 && now_ms < pooled_ms + DATABASE_POOLED_MS;
}

/* True if no connection is usable, and either connecting has failed for too long or a check has
 * failed. While the primary is away, requests that need it are answered 503 at once. */
static inline bool database_is_away(const database_side *d)
{
    return atomic_load(&d->given_up) && atomic_load(&d->usable_count) == 0;
}

#endif
