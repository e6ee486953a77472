/*
 * db_conns_internal.h: what db_conns.c (which connection is tried, watched and used) and
 * db_conn_state.c (what it is found to be) share. Nobody else includes it.
 */
#ifndef SERVER_DB_CONNS_INTERNAL_H
#define SERVER_DB_CONNS_INTERNAL_H

#include "server/batch/db_conns.h"
#include "server/batch/slots.h"

enum {
    AWAY_AFTER_FAILURES = 2, /* attempts to connect, then the database counts as away */
    AWAY_AFTER_MS = 1000     /* and when an attempt takes longer */
};

struct db_conn {
    db_conns *owner;
    db_group group;
    async_conn *async;
    const async_status *status; /* of `conn` */
    db_conn_state state;
    bool incompatible; /* what it was found to be last; it stays so while it is asked again */
    bool is_rechecked; /* it is usable and checked all the same, see db_conn_check_after: */
    db_conn_checked on_rechecked; /* NULL: nobody waits for the check */
    void *recheck_arg;
    int64_t retry_ms;
    int64_t down_ms; /* since when it is down */
    uint64_t tag;
    int rank;            /* see slots.h */
    unsigned failures;   /* of its attempts to connect, that slots.c was last_logged of */
    bool reading_paused; /* it is not watched for more of an answer, for a moment */
    int watched_fd;      /* as it is in the epoll set; -1: it is not */
    unsigned watched_events;
    unsigned watched_serial;
};

/* The connections of a group: conn[first] up to before conn[before]. */
typedef struct db_conn_span {
    size_t first, before;
} db_conn_span;

struct db_conns {
    server_state *server;
    size_t loop; /* the loop's number */
    database_side *side;
    bool are_of_standby;
    int64_t
        cluster_identity; /* of the primary that they were found to be of the same database as */
    stats *stats;
    int epoll_fd;
    int wake_fd;           /* of the loop */
    int pause_timer_fd;    /* a timer */
    bool pause_timer_runs; /* it was started */
    unsigned connect_count_seen;
    int64_t retry_all_ms; /* when all were last_logged last to try again at once */
    db_conn_span group[DB_GROUPS];
    size_t count;
    size_t cores;
    db_conn all[];
};

/* When the database counts as away unless a connection comes up. */
static inline int64_t db_conn_away_ms(const db_conn *conn)
{
    int64_t last_lost_ms = atomic_load(&conn->owner->side->last_lost_ms);
    return (conn->down_ms > last_lost_ms ? conn->down_ms : last_lost_ms) + AWAY_AFTER_MS;
}

static inline bool db_conn_is_usable(const db_conn *conn)
{
    return conn->state == DB_CONN_USABLE && async_conn_is_up(conn->async);
}

/* --- db_conn_state.c --- */

/* Of standbys: what was found of them holds no more if the primary is another one. */
void db_conns_follow_primary(db_conns *conns, int64_t now_ms);

/* The one place where a connection's state changes. */
void db_conn_set_state(db_conn *conn, db_conn_state to);

/* Asks a connection that is up whether its database is fit. */
void db_conn_check(db_conn *conn);

/* Of one that is down: says that the database is away, if no attempt promises more. */
void db_conn_report_away(const db_conn *conn, int64_t now_ms);

#endif
