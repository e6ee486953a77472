/*
 * db_conns_internal.h: shared by db_conns.c (connecting, choosing) and db_conn_state.c (checks).
 */
#ifndef SERVER_DB_CONNS_INTERNAL_H
#define SERVER_DB_CONNS_INTERNAL_H

#include "server/batch/db_conns.h"
#include "server/batch/slots.h"

enum {
    AWAY_AFTER_FAILURES = 2, /* failed attempts to connect after which the database is away */
    /* the database is also away after this time without a usable connection */
    AWAY_AFTER_MS = 1000
};

struct db_conn {
    db_conns *owner;
    db_group group;
    database_side *side;
    async_conn *async;
    const async_status *status; /* the status of `async` */
    db_conn_state state;
    bool incompatible;    /* the last check failed; not changed while the next check runs */
    bool recheck_pending; /* a check that db_conn_check_after has begun still runs */
    /* called after the check that db_conn_check_after has begun; may be NULL */
    db_conn_checked on_rechecked;
    void *recheck_arg;
    int64_t retry_ms; /* time of the next check of an incompatible connection */
    int64_t down_ms;  /* when the state last became DB_CONN_DOWN */
    unsigned connect_count_seen;
    int64_t retry_now_ms; /* when async_conn_retry_now was called last */
    uint64_t tag;
    int rank; /* see slots.h */
    /* number of failed attempts to connect that slots.c was informed of */
    unsigned reported_failures;
    bool reading_paused; /* a large answer arrives: the socket is not read before the timer expires
                          */
    int watched_fd;      /* the socket in the epoll set; -1: none */
    unsigned watched_events;
    unsigned watched_serial;
};

/* The connections of a group: all[first] to all[before - 1]. */
typedef struct db_conn_span {
    size_t first, before;
} db_conn_span;

struct db_conns {
    server_state *server;
    size_t loop;              /* the loop's number */
    int64_t cluster_identity; /* the primary's identity, with which standbys are compared */
    stats *stats;
    int epoll_fd;
    int pause_timer_fd;    /* a timerfd */
    bool pause_timer_runs; /* the timer was started and has not expired */
    db_conn_span group[DB_GROUPS];
    size_t count;
    size_t cores;
    db_conn all[];
};

static inline database_side *db_side_of(server_state *server, db_group group)
{
    database *both = &server->database;
    return group == DB_STANDBY ? &both->standby : &both->primary;
}

/* The time from which the database counts as away at the latest, unless a connection becomes
 * usable. After AWAY_AFTER_FAILURES failed attempts it counts as away earlier. */
static inline int64_t db_conn_away_ms(const db_conn *conn)
{
    int64_t last_lost_ms = atomic_load(&conn->side->last_lost_ms);
    return (conn->down_ms > last_lost_ms ? conn->down_ms : last_lost_ms) + AWAY_AFTER_MS;
}

static inline bool db_conn_is_usable(const db_conn *conn)
{
    return conn->state == DB_CONN_USABLE && async_conn_is_up(conn->async);
}

/* --- db_conn_state.c --- */

/* If the primary's identity has changed, makes this loop check its connections to standbys again.
 */
void db_conns_follow_primary(db_conns *conns, int64_t now_ms);

/* The only function that changes the state of a connection. */
void db_conn_set_state(db_conn *conn, db_conn_state to);

/* Begins a check of a connection that is up: of the schema, of the rights, and of a standby's
 * identity. */
void db_conn_check(db_conn *conn);

/* Stops the use of a connection if another one has found that a pooler shares sessions. */
void db_conn_check_pooler(db_conn *conn, int64_t now_ms);

/* Declares the database away if no connection of any loop is usable, and `conn`, which is down, has
 * failed to connect AWAY_AFTER_FAILURES times or for AWAY_AFTER_MS. An outage is logged once. */
void db_conn_give_up(const db_conn *conn, int64_t now_ms);

#endif
