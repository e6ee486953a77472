/*
 * stats.h: counters. Each loop and each helper thread has its own struct, to which only this thread
 * writes, with relaxed stores. /metrics reads all structs without a lock. All counters have one
 * type, so that structs are summed as arrays. Knows no metric's name.
 */
#ifndef SERVER_STATS_H
#define SERVER_STATS_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include "db/statement.h"

typedef _Atomic(uint64_t) tally;

/* Upper bounds of the numbers of routes and of http_errors. Assertions in the files of the two
 * tables compare the numbers with these bounds. */
#define STATS_ROUTES_MAX 96
#define STATS_FAULTS_MAX 40

/* The index in stats.requests at which requests without a route are counted. */
#define STATS_NO_ROUTE STATS_ROUTES_MAX

/* Size of an array that is indexed by the first digit of the HTTP status; 0: the client left before
 * the answer. */
#define STATS_STATUSES 6

/* The latency class of a route. */
typedef enum route_class {
    CLASS_READ, /* reads by id */
    CLASS_WRITE,
    CLASS_LIST,  /* reads of lists and logs, and exports */
    CLASS_OTHER, /* health checks, imports, streams and others */
    ROUTE_CLASSES
} route_class;

/* Upper bounds of the buckets of request durations, in microseconds. A further bucket counts longer
 * durations. */
#define STATS_BOUNDS                                                                               \
    250, 500, 1000, 2500, 5000, 10000, 25000, 50000, 100000, 250000, 500000, 1000000, 2500000,     \
        5000000, 10000000
#define STATS_BUCKETS 16

/* Upper bounds of the buckets for the durations of a loop's iterations, in microseconds. A further
 * bucket counts longer iterations. */
#define STATS_TURN_BOUNDS                                                                          \
    100, 250, 500, 1000, 2500, 5000, 10000, 25000, 50000, 100000, 250000, 500000, 1000000, 2500000
#define STATS_TURN_BUCKETS 15

/* The states of a database connection. */
typedef enum db_conn_state {
    DB_CONN_DOWN,         /* not connected */
    DB_CONN_CHECKING,     /* the server's check of the database is running */
    DB_CONN_INCOMPATIBLE, /* the database has failed the check, which is repeated later */
    DB_CONN_USABLE,
    DB_CONN_STATES
} db_conn_state;

/* The groups of a loop's database connections. */
typedef enum db_group {
    DB_READS,   /* to the primary, for batched reads of cards and boxes by id */
    DB_LISTS,   /* to the primary, for other reads, which may be slow */
    DB_WRITES,  /* to the primary, for all writes */
    DB_STANDBY, /* to standbys, for the same reads as DB_READS */
    DB_GROUPS
} db_group;

typedef struct stats {
    tally requests[STATS_ROUTES_MAX + 1][STATS_STATUSES];
    tally durations[ROUTE_CLASSES][STATS_BUCKETS];
    tally duration_us[ROUTE_CLASSES];
    /* number of iterations in each bucket of durations, without the wait */
    tally turns[STATS_TURN_BUCKETS];
    tally turn_us;
    tally in_flight;        /* number of requests in progress */
    tally clients;          /* number of open connections of clients */
    tally clients_reserved; /* number of these that only health checks may use */
    tally clients_busy;     /* number of clients whose state changed in the last second */
    tally clients_opened;   /* since the start */
    tally body_bytes_in, body_bytes_out;
    tally errors[STATS_FAULTS_MAX]; /* by http_error */
    tally db_conns[DB_GROUPS][DB_CONN_STATES];
    tally statements[STATEMENT_COUNT]; /* sent */
    tally batched[STATEMENT_COUNT];    /* number of batches that carried the statement */
    /* number of requests in all batches that carried the statement */
    tally members[STATEMENT_COUNT];
    tally waiting;            /* number of requests in the queues */
    tally jobs;               /* number of JOB_COMPUTE that helper threads have begun */
    tally jobs_open;          /* number of jobs that wait or run */
    tally ability_calls;      /* number of calls of registered abilities that were begun */
    tally ability_calls_open; /* number of calls that wait or run */
    tally retries;            /* number of times that requests were queued again */
    tally rows;               /* number of rows received from the database */
    tally standby_reads;      /* number of requests that a standby answered */
    /* with --standby-dsn: number of reads that were sent to the primary and not to a standby */
    tally standby_passed;
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

/* Counts an iteration of a loop. `us` is its duration in microseconds, without the wait. */
void stats_turn(stats *s, int64_t us);

/* Counts a finished request. */
void stats_request(stats *s, size_t route, route_class class, unsigned status, int64_t us);

#endif
