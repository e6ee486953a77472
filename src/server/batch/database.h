/*
 * database.h: the state of a primary and its standbys that loops and threads share.
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
    /* It answers, but did not pass the server's check: */
    DATABASE_NOT_MIGRATED, /* migrations are missing */
    DATABASE_FORBIDDEN,    /* the role lacks rights */
    DATABASE_CHECK_FAILED /* PostgreSQL refused the check for a reason of its own; the log has it */
} database_state;

/* The state of the primary, or of its standbys. */
typedef struct database_side {
    connector *connector;      /* opens the connections of the loops; NULL: there are none */
    atomic_int usable_count;   /* number of usable connections of all loops */
    atomic_bool given_up;      /* the last attempts failed, last long, or found an incompatible
                                  database. Cleared when a connection becomes usable */
    atomic_bool refuses;       /* given up, and PostgreSQL refused the last attempt */
    atomic_int incompatible;   /* connections to a database that can't be read as it is */
    atomic_int cause;          /* a database_state: why the last of them did not pass the check */
    atomic_uint connect_count; /* how often a connection became usable; when it grows, the others
                                  retry at once */
    atomic_int last_logged;    /* the database_state that was logged last */
    /* For slots.c: */
    int first_ranks,
        ranks;             /* ranks below `first_ranks` are of first connections; number of ranks */
    atomic_int open_max;   /* connections with a rank below may be open */
    atomic_int open_count; /* connections of loops that are open */
    atomic_llong up_ms, last_lost_ms; /* when the first became usable, and the last was lost */
    atomic_llong last_lowered_ms;     /* when open_max was lowered last */
    atomic_llong full_ms;             /* when PostgreSQL last had no slot; 0: never */
    atomic_llong refusal_ms;          /* when a refused connection was logged last; 0: never */
    atomic_uint refusal_state; /* the SQLSTATE that was logged then, as a number of base 36 */
} database_side;

typedef struct database {
    database_side primary, standby;
    atomic_llong auth_watcher_ok_ms;    /* when the auth_watcher last had a reply; 0: never */
    atomic_llong cluster_identity;      /* the primary's, when it was read last; 0: unknown */
    atomic_uint identity_connect_count; /* primary.connect_count before the identity was read */
} database;

/* Starts the connectors. False: out of memory, or no thread. */
bool database_open(database *d, const settings *set);

/* Ends the connectors; all loops must have ended. False: one hangs in an attempt to connect, and
 * the process must end by _exit. */
bool database_close(database *d);

/* True if requests are refused at once: no connection is usable, and the attempts to connect have
 * failed, last long, or found an incompatible database. */
static inline bool database_is_away(const database_side *d)
{
    return atomic_load(&d->given_up) && atomic_load(&d->usable_count) == 0;
}

#endif
