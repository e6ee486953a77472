/*
 * server.h: the little that the loops of one process share: settings that never change, and a few
 * numbers that say how things stand. No loop ever waits for another.
 */
#ifndef SERVER_SERVER_H
#define SERVER_SERVER_H

#include <stdatomic.h>
#include "base/memory.h"
#include "server/auth/host.h"
#include "server/batch/database.h"
#include "server/stats.h"
#include "server/net/tls.h"

struct loop;
struct token_board;
struct card_cache;
struct transfer_pool;
struct notifier;

/* How far stopping has come. It never goes back. */
typedef enum stop_phase {
    STOP_NOT,   /* serving */
    STOP_DRAIN, /* no new connections, what is under way is finished */
    STOP_HURRY  /* what is under way is answered 503 */
} stop_phase;

typedef struct server_state {
    const settings *set;
    tls tls;
    struct transfer_pool *transfers; /* exports and imports */
    struct notifier *notifier;       /* NULL: there is none */
    struct loop **loops;
    void (*wake)(struct loop *l); /* makes one look at what has changed; NULL: there are none */
    stats *stats;                 /* of each loop, and then of each thread of the pool */
    size_t stats_count;
    struct job_pool *jobs;   /* the threads for what takes long */
    atomic_size_t accepting; /* the loop that accepts connections; see acceptor.h */
    memory_budget memory;    /* of --memory-max: bodies, rows, answers, arenas */
    atomic_size_t bodies;    /* bytes of it that are bodies of requests; see request_reserve_body */
    int64_t started_s;       /* seconds since 1970 */
    atomic_int stop;         /* stop_phase */
    atomic_size_t loops_running; /* whose thread has not ended */
    database database;
    struct token_board *tokens; /* who may do what */
    host_rules hosts;           /* for which requests may be, where no token is asked for */
    struct card_cache *cards;   /* NULL: none */
    bool reachable;             /* others than users of this machine can connect */
    atomic_bool overpowered;    /* reachable, and row-level security does not bind our role */
    atomic_bool tokens_barred;  /* our role may not read the tokens: it is no service's */
} server_state;

/* Makes all loops look at what has changed, such as the connections that slots.c allows. */
static inline void server_wake_loops(const server_state *server)
{
    for (long i = 0; server->wake != NULL && i < server->set->loops; i++)
        server->wake(server->loops[i]);
}

#endif
