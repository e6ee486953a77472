/*
 * stats.h: the counters of a loop or a helper thread. Only this thread writes them, with relaxed
 * stores, and /metrics reads them without a lock. All members have one type, so that they are
 * summed as arrays. Knows no metric's name.
 */
#ifndef SERVER_STATS_H
#define SERVER_STATS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "db/statement.h"

typedef _Atomic(uint64_t) tally;

/* Upper bounds; the files with the tables check them. */
#define STATS_ROUTES_MAX 96
#define STATS_FAULTS_MAX 32

/* The index of requests without a route. */
#define STATS_NO_ROUTE STATS_ROUTES_MAX

/* Indexed by the first digit of the status; 0: the client left before the answer. */
#define STATS_STATUSES 6

/* The latency class of a route. */
typedef enum route_class {
    CLASS_READ, /* reads by id */
    CLASS_WRITE,
    CLASS_LIST,  /* reads of lists, logs, exports */
    CLASS_OTHER, /* health checks, imports, streams */
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

/* The states of a database connection. */
typedef enum db_conn_state {
    DB_CONN_DOWN,         /* not connected */
    DB_CONN_CHECKING,     /* its migration and rights are being checked */
    DB_CONN_INCOMPATIBLE, /* not migrated, or rights are missing; checked again later */
    DB_CONN_USABLE,
    DB_CONN_STATES
} db_conn_state;

/* The groups of a loop's database connections. */
typedef enum db_group {
    DB_READS,   /* cards and boxes by id */
    DB_LISTS,   /* lists and logs, which may be slow */
    DB_WRITES,  /* writes of cards and boxes */
    DB_STANDBY, /* as DB_READS, to standbys */
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
    tally clients_busy;   /* clients with a request in the last second */
    tally clients_opened; /* since the start */
    tally body_bytes_in, body_bytes_out;
    tally errors[STATS_FAULTS_MAX]; /* by http_error */
    tally db_conns[DB_GROUPS][DB_CONN_STATES];
    tally statements[STATEMENT_COUNT]; /* sent */
    tally batched[STATEMENT_COUNT];    /* statements that carry batched requests */
    tally members[STATEMENT_COUNT];    /* requests in batched statements */
    tally waiting;                     /* requests in the queue */
    tally jobs;                        /* jobs that helper threads have begun */
    tally jobs_open;                   /* jobs that run or wait */
    tally retries;                     /* requests whose statement was sent again */
    tally rows;                        /* rows received */
    tally standby_reads;               /* requests that a standby answered */
    tally standby_passed;              /* requests that fell back to the primary */
    char apart[64]; /* keeps the counters of two threads in different cache lines */
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

/* True if the loop has a usable connection of each group to the primary. */
bool stats_serves(const stats *loop);

/* Counts an iteration that worked for `us` microseconds, without its wait. */
void stats_turn(stats *s, int64_t us);

/* Counts a finished request. */
void stats_request(stats *s, size_t route, route_class class, unsigned status, int64_t us);

#endif
