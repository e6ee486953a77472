/*
 * server.h: the state that all threads of a server share. The settings do not change after the
 * start, and no loop waits for another loop.
 */
#ifndef SERVER_SERVER_H
#define SERVER_SERVER_H

#include <stdatomic.h>
#include "base/memory.h"
#include "server/background/jobs.h"
#include "server/auth/host.h"
#include "server/batch/database.h"
#include "server/stats.h"
#include "server/net/tls.h"

struct loop;
struct token_store;
struct card_cache;
struct transfer_pool;
struct notifier;
struct search_indexer_thread;

/* The phases of stopping, in order. */
typedef enum stop_phase {
    STOP_NOT,    /* the server is serving */
    STOP_DRAIN,  /* loops accept no connections, and finish their requests */
    STOP_AT_ONCE /* loops end their requests, mostly with 503 */
} stop_phase;

/* The queue of the search, as the thread search_indexer has counted it last. */
typedef struct search_metrics {
    _Atomic(int64_t) waiting;       /* number of queued documents */
    _Atomic(int64_t) oldest_micros; /* when the oldest of them was queued; 0: there is none */
} search_metrics;

typedef struct server_state {
    const settings *set;
    tls tls;
    struct transfer_pool *transfers; /* exports and imports */
    struct notifier *notifier;       /* NULL: not started */
    /* NULL: not started, or the server is read-only */
    _Atomic(struct search_indexer_thread *) search_indexer;
    struct loop **loops;
    void (*wake)(struct loop *l); /* the function loop_wake; NULL: there are no loops yet */
    stats *stats;                 /* an element for each loop, then one for each helper thread */
    size_t stats_count;
    struct job_pool *jobs[JOB_KINDS]; /* the helper threads */
    atomic_size_t accepting; /* number of the loop that accepts connections; see acceptor.h */
    /* how often a loop had no connection to close for the client that is accepted next. While the
     * number is below that of the loops, they close idle connections, then connections with partial
     * headers. Used by the loop `accepting` alone */
    atomic_size_t close_tries;
    /* memory of bodies, rows, answers and arenas, which --memory-max limits */
    memory_budget memory;
    atomic_size_t bodies;        /* bytes of large request bodies, which also count in `memory` */
    int64_t started_s;           /* when the server started, in seconds since 1970 */
    atomic_int stop;             /* a stop_phase */
    atomic_size_t loops_running; /* number of loops whose thread has not ended */
    database database;
    search_metrics search;
    struct token_store *tokens; /* the list of tokens */
    /* hosts in the Host header that a server without authentication accepts */
    host_rules hosts;
    struct card_cache *card_cache; /* NULL: --card-cache is 0 */
    bool reachable;                /* other machines can reach the address */
    /* `reachable` is true, and the database role has too many rights */
    atomic_bool role_is_too_powerful;
    /* tokens are required, but the database role may not read them */
    atomic_bool tokens_are_unreadable;
} server_state;

/* Makes each loop begin its next iteration at once, for example after slots.c has allowed fewer or
 * more connections. */
static inline void server_wake_loops(const server_state *server)
{
    for (long i = 0; server->wake != NULL && i < server->set->loops; i++)
        server->wake(server->loops[i]);
}

#endif
