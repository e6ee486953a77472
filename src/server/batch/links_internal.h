/*
 * links_internal.h: what links.c (which connection is tried, watched and used) and link_state.c
 * (what it is found to be) share. Nobody else includes it.
 */
#ifndef SERVER_LINKS_INTERNAL_H
#define SERVER_LINKS_INTERNAL_H

#include "server/batch/links.h"
#include "server/batch/slots.h"

enum {
    FAILURES_MOST = 2, /* attempts to connect, then the database counts as away */
    GIVE_UP_MS = 1000  /* and when an attempt takes longer */
};

struct db_link {
    links *all;
    link_group group;
    async_conn *conn;
    link_state state;
    bool unfit;          /* what it was found to be last; it stays so while it is asked again */
    bool probing;        /* it is usable and checked all the same, see links_blame: */
    links_probed probed; /* NULL: nobody waits for the check */
    void *probed_arg;
    int64_t retry_ms;
    int64_t down_ms; /* since when it is down */
    uint64_t tag;
    int rank;          /* see slots.h */
    unsigned failures; /* of its attempts to connect, that slots.c was told of */
    bool rests;        /* it is not watched for more of an answer, for a moment */
    int watched_fd;    /* as it is in the epoll set; -1: it is not */
    unsigned watched_events;
    unsigned watched_serial;
};

/* The connections of a group: link[first] up to before link[before]. */
typedef struct link_span {
    size_t first, before;
} link_span;

struct links {
    server_state *server;
    size_t loop; /* the loop's number */
    database_side *of;
    bool are_of_replica;
    int64_t lineage; /* of the primary that they were found to be of the same database as */
    stats *stats;
    int epoll_fd;
    int wake_fd;  /* of the loop */
    int rest_fd;  /* a timer */
    bool resting; /* it was started */
    unsigned ups_seen;
    int64_t up_ms;      /* since when any connection is up; INT64_MAX: none is */
    int64_t hurried_ms; /* when all were told last to try again at once */
    link_span group[LINK_GROUPS];
    size_t count;
    size_t cores;
    db_link link[];
};

/* When the database counts as away unless a connection comes up. */
static inline int64_t link_give_up_ms(const db_link *k)
{
    int64_t lost_ms = atomic_load(&k->all->of->lost_ms);
    return (k->down_ms > lost_ms ? k->down_ms : lost_ms) + GIVE_UP_MS;
}

static inline bool link_is_usable(const db_link *k)
{
    return k->state == LINK_USABLE && async_conn_is_up(k->conn);
}

/* --- link_state.c --- */

/* Of standbys: what was found of them holds no more if the primary is another one. */
void links_compare(links *l, int64_t now_ms);

/* The one place where a connection's state changes. */
void link_move(db_link *k, link_state to);

/* Asks a connection that is up whether its database is fit. */
void link_check(db_link *k);

/* Of one that is down: says that the database is away, if no attempt promises more. */
void link_consider_giving_up(const db_link *k, int64_t now_ms);

#endif
