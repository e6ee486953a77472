/*
 * server.h: the little that the loops of one process share: settings that never change, and a few
 * numbers that say how things stand. No loop ever waits for another.
 */
#ifndef SERVER_SERVER_H
#define SERVER_SERVER_H

#include <stdatomic.h>
#include "server/auth/host.h"
#include "server/stats.h"
#include "server/net/tls.h"

struct loop;
struct token_board;
struct card_cache;
struct transfer_pool;
struct waker;

/* How far stopping has come. It never goes back. */
typedef enum stop_phase {
    STOP_NOT,   /* serving */
    STOP_DRAIN, /* no new connections, what is under way is finished */
    STOP_HURRY  /* what is under way is answered 503 */
} stop_phase;

/* What the log was told of the database last, so that an outage is two lines and not thousands. */
typedef enum told {
    TOLD_NOTHING,
    TOLD_UP,
    TOLD_DOWN,
    TOLD_UNFIT,
    TOLD_FORBIDDEN,
    TOLD_CHECK_FAILED
} told;

/* Why a database did not pass the server's check. */
typedef enum unfit_cause {
    UNFIT_SCHEMA, /* migrations are missing */
    UNFIT_RIGHTS, /* the role lacks rights */
    UNFIT_CHECK   /* PostgreSQL refused the check for a reason of its own; the log has it */
} unfit_cause;

/* How things stand with a database: the primary, or its standbys. */
typedef struct database_state {
    atomic_int connections_up; /* that are usable, of all loops */
    atomic_bool given_up;      /* none is up, and it is not just being made anew */
    atomic_bool refuses;       /* given up, and the last attempt got an answer: a refusal */
    atomic_int unfit;          /* connections to a database that can't be read as it is */
    atomic_int cause;          /* an unfit_cause: of the last of them */
    atomic_uint ups;           /* counts connections that came up: a sign to try again at once */
    atomic_int told;           /* a told */
    /* What slots.c says of its connections, and links.c tells it. */
    int firsts, ranks;            /* ranks of first connections: 0 to firsts - 1; number of ranks */
    atomic_int room;              /* the ranks below may be open */
    atomic_int held;              /* connections of loops that are made or being made */
    atomic_llong up_ms, lost_ms;  /* when the first one came up, when the last one was lost */
    atomic_llong lowered_ms;      /* when room was lowered last */
    atomic_llong full_ms;         /* when PostgreSQL last had no slot; 0: never */
    atomic_llong refusal_told_ms; /* when the log was last told of a refused connection */
} database_state;

typedef struct server_state {
    const settings *set;
    tls tls;
    struct transfer_pool *transfers; /* exports and imports */
    struct waker *waker;             /* NULL: there is none */
    struct loop **loops;
    stats *stats; /* of each loop, and then of each thread of the pool */
    size_t stats_count;
    struct job_pool *jobs;   /* the threads for what takes long */
    atomic_size_t accepting; /* the loop that accepts connections; see acceptor.h */
    atomic_size_t bodies;    /* bytes that bodies of requests take; see request_hold_body */
    int64_t started_s;       /* seconds since 1970 */
    atomic_int stop;         /* stop_phase */
    database_state primary;
    database_state replica;
    atomic_llong keeper_ms;     /* when the keeper last asked and was answered; 0: never */
    atomic_llong lineage;       /* of the primary, as it was asked last; 0: not known */
    atomic_uint lineage_ups;    /* primary.ups before it was asked */
    struct token_board *tokens; /* who may do what */
    host_rules hosts;           /* for which requests may be, where no token is asked for */
    struct card_cache *cards;   /* NULL: none */
    bool reachable;             /* others than users of this machine can connect */
    atomic_bool overpowered;    /* reachable, and row-level security does not bind our role */
    atomic_bool tokens_barred;  /* our role may not read the tokens: it is no service's */
} server_state;

/* Whether requests are refused at once. A connection that was lost is tried again first: after a
 * backend was killed the database is there all the same. */
static inline bool database_is_away(const database_state *d)
{
    return atomic_load(&d->given_up) && atomic_load(&d->connections_up) == 0;
}

#endif
