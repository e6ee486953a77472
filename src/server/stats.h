/*
 * stats.h: what a loop, or a thread of the pool, counts, in memory of its own. Only it writes there
 * and whoever answers /metrics reads: relaxed loads and stores, which cost what plain ones do, and
 * no lock. All members are of one type, so that they are summed as arrays. Knows no metric's name.
 */
#ifndef SERVER_STATS_H
#define SERVER_STATS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "db/statement.h"

typedef _Atomic(uint64_t) tally;

/* More than there are; the files with the tables check it. */
#define STATS_ROUTES_MAX 96
#define STATS_FAULTS_MAX 32

/* The route of requests that have none. */
#define STATS_NO_ROUTE STATS_ROUTES_MAX

/* The first digit of the status; 0: the client left before there was an answer. */
#define STATS_STATUSES 6

/* What kind of work a route is, as far as one waits differently for it. */
typedef enum route_class {
    CLASS_READ, /* of what has a name */
    CLASS_WRITE,
    CLASS_LIST,  /* reads of what has none: lists, logs, exports */
    CLASS_OTHER, /* operations; and what takes as long as its client sends, or its task runs */
    ROUTE_CLASSES
} route_class;

/* Upper bounds of the histogram of durations, in microseconds; above the last is one more. */
#define STATS_BOUNDS                                                                               \
    250, 500, 1000, 2500, 5000, 10000, 25000, 50000, 100000, 250000, 500000, 1000000, 2500000,     \
        5000000, 10000000
#define STATS_BUCKETS 16

/* The same of the iterations of a loop. */
#define STATS_TURN_BOUNDS                                                                          \
    100, 250, 500, 1000, 2500, 5000, 10000, 25000, 50000, 100000, 250000, 500000, 1000000, 2500000
#define STATS_TURN_BUCKETS 15

/* What a database connection is good for. */
typedef enum db_conn_state {
    DB_CONN_DOWN,         /* not connected */
    DB_CONN_CHECKING,     /* which migration is it at, may it be read? */
    DB_CONN_INCOMPATIBLE, /* not migrated, or not ours to read; asked again after a while */
    DB_CONN_USABLE,
    DB_CONN_STATES
} db_conn_state;

/* What a loop's database connections are kept for. */
typedef enum db_group {
    DB_READS,   /* cards and boxes by id */
    DB_LISTS,   /* lists and logs, which may be slow */
    DB_WRITES,  /* of cards and boxes */
    DB_STANDBY, /* as DB_READS, of standbys */
    DB_GROUPS
} db_group;

typedef struct stats {
    tally requests[STATS_ROUTES_MAX + 1][STATS_STATUSES];
    tally durations[ROUTE_CLASSES][STATS_BUCKETS];
    tally duration_us[ROUTE_CLASSES];
    tally turns[STATS_TURN_BUCKETS]; /* iterations, by the time that each worked */
    tally turn_us;
    tally in_flight;      /* requests */
    tally clients;        /* open connections of clients */
    tally clients_busy;   /* of them */
    tally clients_opened; /* since the start */
    tally body_bytes_in, body_bytes_out;
    tally errors[STATS_FAULTS_MAX]; /* by http_error */
    tally db_conns[DB_GROUPS][DB_CONN_STATES];
    tally statements[STATEMENT_COUNT]; /* sent */
    tally batched[STATEMENT_COUNT];    /* of them, those made of waiting requests */
    tally members[STATEMENT_COUNT];    /* the requests in those */
    tally waiting;                     /* requests in the queue */
    tally jobs;                        /* that threads of the pool have begun */
    tally jobs_open;                   /* that they have, or will get */
    tally retries;                     /* requests whose statement was sent again */
    tally rows;                        /* that came */
    tally standby_reads;               /* requests that a standby has answered */
    tally standby_passed;              /* that it could not, and the primary was asked */
    char apart[64];                    /* no two write to one line of the cache */
} stats;

#define STATS_COUNT (offsetof(stats, apart) / sizeof(tally))

static inline uint64_t tally_get(const tally *s)
{
    return atomic_load_explicit(s, memory_order_relaxed);
}

static inline void tally_add(tally *s, uint64_t more)
{
    atomic_store_explicit(s, tally_get(s) + more, memory_order_relaxed);
}

static inline void tally_sub(tally *s, uint64_t less)
{
    atomic_store_explicit(s, tally_get(s) - less, memory_order_relaxed);
}

static inline void tally_set(tally *s, uint64_t now)
{
    atomic_store_explicit(s, now, memory_order_relaxed);
}

/* Whether a loop has a usable connection of each group of the primary. */
bool stats_serves(const stats *loop);

/* Notes an iteration that has worked for so long, without what it waited. */
void stats_turn(stats *s, int64_t us);

/* Notes a request that is over. */
void stats_request(stats *s, size_t route, route_class class, unsigned status, int64_t us);

#endif
