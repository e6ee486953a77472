/*
 * server.h: the state that the loops of a process share: settings, which never change, and some
 * atomic numbers. No loop waits for another.
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
struct token_store;
struct card_cache;
struct transfer_pool;
struct notifier;

/* The phases of stopping, in order. */
typedef enum stop_phase {
    STOP_NOT,    /* serving */
    STOP_DRAIN,  /* no new connections; requests are finished */
    STOP_AT_ONCE /* requests are answered 503 */
} stop_phase;

typedef struct server_state {
    const settings *set;
    tls tls;
    struct transfer_pool *transfers; /* exports and imports */
    struct notifier *notifier;       /* NULL: there is none */
    struct loop **loops;
    void (*wake)(struct loop *l); /* makes a loop read what has changed; NULL: there are no loops */
    stats *stats;                 /* one for each loop, then one for each helper thread */
    size_t stats_count;
    struct job_pool *jobs;       /* the helper threads */
    atomic_size_t accepting;     /* the loop that accepts connections; see acceptor.h */
    memory_budget memory;        /* limited by --memory-max: bodies, rows, answers, arenas */
    atomic_size_t bodies;        /* bytes of them that are bodies of requests */
    int64_t started_s;           /* seconds since 1970 */
    atomic_int stop;             /* stop_phase */
    atomic_size_t loops_running; /* loops whose thread has not ended */
    database database;
    struct token_store *tokens;        /* the list of tokens */
    host_rules hosts;                  /* accepted hosts of a server without authentication */
    struct card_cache *card_cache;     /* NULL: none */
    bool reachable;                    /* the listening address is not loopback */
    atomic_bool role_is_too_powerful;  /* reachable, and row-level security does not apply to the
                                          database role */
    atomic_bool tokens_are_unreadable; /* the database role may not read the tokens */
} server_state;

/* Makes all loops read what has changed, such as the connections that slots.c allows. */
static inline void server_wake_loops(const server_state *server)
{
    for (long i = 0; server->wake != NULL && i < server->set->loops; i++)
        server->wake(server->loops[i]);
}

#endif
