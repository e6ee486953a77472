/*
 * batch_internal.h: what batcher.c (requests come and wait), tenants.c (fairness between tenants)
 * and query_batch.c (statements go and answers come) share. Nobody else includes it.
 */
#ifndef SERVER_BATCHER_INTERNAL_H
#define SERVER_BATCHER_INTERNAL_H

#include "cardbox/limits.h"
#include "server/batch/db_conns.h"
#include "server/response/http_error.h"

/* How the requests of a batch_queue go to the database. */
typedef struct batch_queue_kind {
    db_group group; /* Lists have one of their own, and not all but one of the reads: there they
                     * would leave a single connection to cards and none to boxes. */
    bool writes;
    bool may_be_slow; /* never on the last free connection of its group */
    bool is_fair; /* Tenants with nothing running in the group go first. The last free connection
                   * is reserved for them. */
    batch_kind counterpart; /* the same of the other group, for DB_READS and DB_STANDBY */
    statement_id statement; /* batched; and the next three: */
    size_t key_size;        /* 0: not batched */
    /* waits: a single key waits for a row that others have locked. */
    void (*build)(params *p, const void *keys, size_t count, bool waits);
    size_t (*weigh)(const void *keys, size_t count); /* of a write: KiB, for no ticket says it */
    /* Whether a row reports that others have locked what its key changes; NULL: rows never do. */
    bool (*is_locked)(const store_rows *rows, int row);
} batch_queue_kind;

extern const batch_queue_kind QUEUE_KINDS[BATCH_KINDS];

/* Requests that wait: for one kind of statement, or in the isolated queue of a group. */
typedef struct batch_queue {
    db_group group;
    bool isolated; /* requests that found locks or took long: each alone, tenants in turn */
    bool is_fair;  /* see batch_queue_kind */
    struct request_list requests;
} batch_queue;

enum {
    BATCH_QUEUES = BATCH_KINDS + DB_GROUPS,
    TENANTS_MAX = 64 /* tenants that are remembered */
};

/* A tenant with statements of its own under way, or with isolated requests. */
typedef struct tenant_use {
    slice tenant;                         /* the name below */
    size_t running[DB_GROUPS];            /* statements of the queues that are fair to tenants */
    uint64_t served;                      /* when its last one was sent, in their order */
    int64_t isolated_until_ms[DB_GROUPS]; /* its requests go to the isolated queue */
    char name[CARDBOX_TENANT_MAX];
} tenant_use;

struct batcher {
    server_state *server;
    stats *stats;
    db_conns *primary;
    db_conns *standby;   /* NULL: none */
    uint64_t replayed;   /* up to where a standby had the log when it was asked last, */
    int64_t replayed_ms; /* and when that was */
    batch_queue queues[BATCH_QUEUES];
    int next_queue[DB_GROUPS];  /* which list is first to get a free connection */
    size_t isolated[DB_GROUPS]; /* statements of isolated requests under way */
    tenant_use tenants[TENANTS_MAX];
    size_t tenant_count;
    uint64_t served;            /* statements of the queues that are fair to tenants */
    struct request_list by_age; /* all that wait or run, by arrival and so by deadline */
    size_t waiting;
    int64_t look_again_ms; /* for a connection to become worth using */
    buf scratch;           /* for keys on their way out and row numbers on their way in */
};

enum { SCRATCH_KEEP = 64 * 1024 }; /* bytes kept between statements */

static inline db_conns *batcher_conns(const batcher *j, db_group group)
{
    return group == DB_STANDBY ? j->standby : j->primary;
}

/* --- batcher.c --- */

/* A request in no batch_queue, which a standby was to answer, is now for the primary. */
void batcher_to_primary(batcher *j, request *r);

/* Puts a request at the end of its queue; or at its front, if it has waited once already. */
void queue_push(batcher *j, request *r, bool in_front);
void queue_remove(batcher *j, request *r);

/* Takes a request out of the batcher, wherever it is. It must be answered next. */
void batcher_remove(batcher *j, request *r);

/* 503: the database is away, or can't be used. */
void batcher_answer_away(request *r);

/* Lets go of a request and answers that its time is over (HTTP_ERROR_TIMEOUT) or that it can't be
 * waited for; with what to do about a write that has been sent, and so may have been done. */
void batcher_fail(batcher *j, request *r, http_error what, const char *why);

/* --- tenants.c --- */

/* Whether new requests of a tenant go to the isolated queue of a group. */
bool tenant_is_isolated(batcher *j, db_group group, slice tenant);

/* A statement for this tenant alone found a lock, or gave more than there was memory for: for a
 * while its new requests are isolated. */
void tenant_isolate(batcher *j, db_group group, slice tenant);

/* The next request of an isolated queue; NULL: each tenant in it has a statement under way. */
request *tenant_next_isolated(batcher *j, const batch_queue *l);

/* The next request of a queue in turn: of a tenant with no statement under way, else the first. The
 * last free connection is reserved for such a tenant. NULL: nobody may have it. */
request *tenant_next_fair(batcher *j, const batch_queue *l, bool is_last);

/* A statement for a request is sent, and has ended. tenant_begin may return NULL. */
tenant_use *tenant_begin(batcher *j, db_group group, const request *r);
void tenant_end(batcher *j, db_group group, bool isolated, tenant_use *of);

/* --- batch_rows.c --- */

/* Sorts rows by the number of their key, column 0, from 1, in linear time. Not `numbered`: all rows
 * belong to the only key. False: out of memory, and then the buffer has failed; or a row has a
 * number that no key has. */
bool batch_index_rows(buf *scratch, const store_rows *rows, size_t keys, bool numbered,
                      batch_rows *out);

/* --- batch_render.c --- */

/* Renders a request that has left the batcher, here or, if it would take long, in a thread. */
void batch_render_rows(query_batch *batch, request *r, const batch_rows *mine);

/* --- query_batch.c --- */

/* Sends one statement for a request that waits, and for those behind it that may go with it. */
void batch_send(batcher *j, request *first, db_conn *to);

/* Its rows are needed by one more; by one fewer. */
void batch_ref(query_batch *batch);
void batch_unref(query_batch *batch);

/* A member is answered already. */
void batch_forget(query_batch *batch, size_t slot);

/* Answers the members of a statement that has come back already, though what was sent behind it has
 * not. False: it has not come back. */
bool batch_answer_early(query_batch *batch);

#endif
