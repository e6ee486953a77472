/*
 * join_internal.h: what join.c (requests come and wait), tenants.c (fairness between tenants)
 * and join_batch.c (statements go and answers come) share. Nobody else includes it.
 */
#ifndef SERVER_JOIN_INTERNAL_H
#define SERVER_JOIN_INTERNAL_H

#include "cardbox/limits.h"
#include "server/batch/db_conns.h"
#include "server/response/fault.h"

/* How the requests of a lane go to the database. */
typedef struct lane_kind {
    db_group group; /* Lists have one of their own, and not all but one of the reads: there they
                     * would leave a single connection to cards and none to boxes. */
    bool writes;
    bool may_be_slow; /* never on the last free connection of its group */
    bool in_turn;   /* Tenants with nothing running in the group go first. The last free connection
                     * is reserved for them. */
    join_lane twin; /* the same of the other group, for DB_READS and DB_REPLICA */
    statement_id statement; /* joined; and the next three: */
    size_t key_size;        /* 0: not joined */
    /* waits: a single key waits for a row that others have locked. */
    void (*build)(params *p, const void *keys, size_t count, bool waits);
    size_t (*weigh)(const void *keys, size_t count); /* of a write: KiB, for no ticket says it */
    /* Whether a row reports that others have locked what its key changes; NULL: rows never do. */
    bool (*is_locked)(const store_rows *rows, int row);
} lane_kind;

extern const lane_kind LANES[JOIN_LANES];

/* Requests that wait: for one kind of statement, or in the isolated queue of a group. */
typedef struct lane {
    db_group group;
    bool isolated; /* requests that found locks or took long: each alone, tenants in turn */
    bool in_turn;  /* see lane_kind */
    request *first, *last;
} lane;

enum {
    LANE_LISTS = JOIN_LANES + DB_GROUPS,
    TENANTS_MAX = 64 /* tenants that are remembered */
};

/* A tenant with statements of its own under way, or with isolated requests. */
typedef struct tenant_use {
    view tenant;                          /* the name below */
    size_t running[DB_GROUPS];            /* statements of the queues that are fair to tenants */
    uint64_t served;                      /* when its last one was sent, in their order */
    int64_t isolated_until_ms[DB_GROUPS]; /* its requests go to the isolated queue */
    char name[CARDBOX_TENANT_MAX];
} tenant_use;

struct joiner {
    server_state *server;
    stats *stats;
    db_conns *primary;
    db_conns *replica;   /* NULL: none */
    uint64_t replayed;   /* up to where a standby had the log when it was asked last, */
    int64_t replayed_ms; /* and when that was */
    lane lanes[LANE_LISTS];
    int turn[DB_GROUPS];        /* which list is first to get a free connection */
    size_t isolated[DB_GROUPS]; /* statements of isolated requests under way */
    tenant_use tenants[TENANTS_MAX];
    size_t tenant_count;
    uint64_t served;          /* statements of the queues that are fair to tenants */
    request *oldest, *newest; /* all that wait or run, by arrival and so by deadline */
    size_t waiting;
    int64_t look_again_ms; /* for a connection to become worth using */
    buf scratch;           /* for keys on their way out and row numbers on their way in */
};

enum { SCRATCH_KEEP = 64 * 1024 }; /* bytes kept between statements */

static inline db_conns *join_conns(const joiner *j, db_group group)
{
    return group == DB_REPLICA ? j->replica : j->primary;
}

/* --- join.c --- */

/* A request in no lane, which a standby was to answer, is now for the primary. */
void join_to_primary(joiner *j, request *r);

/* Puts a request behind all others of its list; or before them: it has waited once already. */
void lane_push(joiner *j, request *r);
void lane_push_front(joiner *j, request *r);
void lane_remove(joiner *j, request *r);

/* Takes a request out of the joiner, wherever it is. It must be answered next. */
void join_let_go(joiner *j, request *r);

/* 503: the database is away, or can't be used. */
void join_answer_away(request *r);

/* Lets go of a request and answers that its time is over (FAULT_TIMEOUT) or that it can't be waited
 * for; with what to do about a write that has been sent, and so may have been done. */
void join_give_up(joiner *j, request *r, fault what, const char *why);

/* --- tenants.c --- */

/* Whether new requests of a tenant go to the isolated queue of a group. */
bool tenant_is_isolated(joiner *j, db_group group, view tenant);

/* A read for this tenant alone gave more than there was memory for: for a while its new requests
 * are isolated. */
void tenant_isolate(joiner *j, db_group group, view tenant);

/* The next request of an isolated queue; NULL: each tenant in it has a statement under way. */
request *tenant_next_isolated(joiner *j, const lane *l);

/* The next request of a queue in turn: of a tenant with no statement under way, else the first. The
 * last free connection is reserved for such a tenant. NULL: nobody may have it. */
request *tenant_next_in_turn(joiner *j, const lane *l, bool is_last);

/* A statement for a request is sent, and has ended. tenant_begin may return NULL. */
tenant_use *tenant_begin(joiner *j, db_group group, const request *r);
void tenant_end(joiner *j, db_group group, bool isolated, tenant_use *of);

/* --- join_rows.c --- */

/* Rows that say of which key they are (column 0, from 1), sorted in linear time. False: no memory,
 * and then the buffer has failed, or one is of none. */
bool rows_by_number(buf *scratch, const store_rows *rows, size_t keys, join_rows *out);

/* All rows are of the one key, in order. False: no memory. */
bool rows_in_order(buf *scratch, const store_rows *rows, join_rows *out);

/* --- join_aside.c --- */

/* Renders a request that has left the joiner, here or, if it would take long, in a thread. */
void join_render_rows(join_batch *batch, request *r, const join_rows *mine);

/* --- join_batch.c --- */

/* Sends one statement for a request that waits, and for those behind it that may go with it. */
void batch_send(joiner *j, request *first, db_conn *to);

/* Its rows are needed by one more; by one fewer. */
void batch_hold(join_batch *batch);
void batch_let_go(join_batch *batch);

/* A member is answered already. */
void batch_forget(join_batch *batch, size_t slot);

/* Answers the members of a statement that has come back already, though what was sent behind it has
 * not. False: it has not come back. */
bool batch_answer_early(join_batch *batch);

#endif
