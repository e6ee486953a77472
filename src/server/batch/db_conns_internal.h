/*
 * db_conns_internal.h: shared by db_conns.c (connecting, choosing) and db_conn_state.c (checks).
 */
#ifndef SERVER_DB_CONNS_INTERNAL_H
#define SERVER_DB_CONNS_INTERNAL_H

#include "server/batch/db_conns.h"
#include "server/batch/slots.h"

enum {
    AWAY_AFTER_FAILURES = 2, /* after 2 failed attempts to connect the database is away */
    AWAY_AFTER_MS = 1000     /* after 1 second without a usable connection it is away, too */
};

struct db_conn {
    db_conns *owner;
    db_group group;
    database_side *side;
    async_conn *async;
    const async_status *status; /* the status of `async` */
    db_conn_state state;
    bool incompatible;            /* the last check failed; unchanged during the next check */
    bool recheck_pending;         /* db_conn_check_after has begun a check */
    db_conn_checked on_rechecked; /* called after that check; may be NULL */
    void *recheck_arg;
    int64_t retry_ms; /* time of the next check, if it is incompatible */
    int64_t down_ms;  /* since when it is down */
    unsigned connect_count_seen;
    int64_t retry_now_ms; /* when async_conn_retry_now was called last */
    uint64_t tag;
    int rank;                   /* see slots.h */
    unsigned reported_failures; /* failed attempts to connect that slots.c was informed of */
    bool reading_paused;        /* a large answer arrives: the socket is not read until the timer */
    int watched_fd;             /* the socket in the epoll set; -1: none */
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
    int64_t cluster_identity; /* the primary's identity, which standbys are compared with */
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

/* The time from which the database counts as away, if no connection becomes usable before. */
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

/* Checks the standbys again if the identity of the primary has changed. */
void db_conns_follow_primary(db_conns *conns, int64_t now_ms);

/* The only function that changes the state of a connection. */
void db_conn_set_state(db_conn *conn, db_conn_state to);

/* Checks the schema and the rights of a connection that is up. */
void db_conn_check(db_conn *conn);

/* Declares the database away if no connection of any loop is usable, and `conn`, which is down, has
 * failed to connect AWAY_AFTER_FAILURES times or for AWAY_AFTER_MS. Then requests get 503. The
 * outage is logged once. */
void db_conn_give_up(const db_conn *conn, int64_t now_ms);

#endif
