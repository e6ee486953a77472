/*
 * batcher_internal.h: shared by batcher.c (queues), tenants.c (fairness between tenants),
 * query_batch.c (statements), batch_rows.c and batch_render.c (their answers).
 */
#ifndef SERVER_BATCHER_INTERNAL_H
#define SERVER_BATCHER_INTERNAL_H

#include "cardbox/limits.h"
#include "server/batch/db_conns.h"
#include "server/response/http_error.h"

/* How the requests of a kind are sent. */
typedef struct batch_queue_kind {
    db_group group; /* the connections it uses, unless it is sent to a standby. Lists have a group
                       of their own, so that they never delay reads of cards and boxes. */
    bool writes;
    bool may_be_slow; /* never on the last free connection of its group */
    bool is_fair; /* Tenants with nothing running in the group go first. The last free connection
                   * is reserved for them. */
    statement_id statement; /* this and the next three members: only of batched kinds */
    size_t key_size;        /* bytes of a key; 0: not batched */
    /* `waits`: the statement, with a single key, waits for locked rows and does not skip them. */
    void (*build)(params *p, const void *keys, size_t count, bool waits);
    /* Returns whether a row reports that its key's rows are locked; NULL: rows never do. */
    bool (*is_locked)(const store_rows *rows, int row);
} batch_queue_kind;

extern const batch_queue_kind QUEUE_KINDS[BATCH_KINDS];

/* The queues of a group: one for each batch_kind, and the isolated queue. The latter has requests
 * that found locks or took long, and all requests of tenants for which tenant_isolate() was called.
 * Each of them is sent alone, tenants round robin. */
enum { ISOLATED_QUEUE = BATCH_KINDS, GROUP_QUEUES };

enum { TENANTS_MAX = 64 /* size of batcher.tenants */ };

/* A tenant with running statements of its own, or with isolated requests. */
typedef struct tenant_use {
    slice tenant;                         /* points to `name` */
    size_t running[DB_GROUPS];            /* its statements from the fair and the isolated queues */
    uint64_t last_served;                 /* served_count after its last statement was sent */
    int64_t isolated_until_ms[DB_GROUPS]; /* its requests go to the isolated queue */
    char name[CARDBOX_TENANT_MAX];
} tenant_use;

struct batcher {
    server_state *server;
    stats *stats;
    db_conns *conns;
    uint64_t replayed;   /* LSN that a standby had replayed at the last query, */
    int64_t replayed_ms; /* and when that was */
    struct request_list queues[DB_GROUPS][GROUP_QUEUES];
    int next_queue[DB_GROUPS];  /* the queue that gets the next free connection */
    size_t isolated[DB_GROUPS]; /* running statements of isolated requests */
    tenant_use tenants[TENANTS_MAX];
    size_t tenant_count;
    uint64_t served_count;      /* statements sent from the fair and the isolated queues */
    struct request_list by_age; /* all that wait or run, by arrival and so by deadline */
    size_t waiting;
    int64_t look_again_ms; /* when a busy group may use another connection */
    buf scratch;           /* for the keys of a statement, and for row numbers of a result */
};

enum { SCRATCH_KEEP = 64 * 1024 }; /* bytes of `scratch` that stay allocated between statements */

static inline db_group group_of(const request *r)
{
    return r->ticket.on_standby ? DB_STANDBY : QUEUE_KINDS[r->ticket.kind].group;
}

/* --- batcher.c --- */

/* Redirects a read from the standby to the primary. The request must not be queued. */
void batcher_to_primary(batcher *b, request *r);

/* Puts a request at the end of its queue; or at its front, if it has waited once already. */
void queue_push(batcher *b, request *r, bool in_front);
void queue_remove(batcher *b, request *r);

/* Removes a request from its queue or batch. It must be answered next. */
void batcher_remove(batcher *b, request *r);

/* Answers 503: the database is away, or can't be used. */
void batcher_answer_away(request *r);

/* Removes a request and answers with an error. If it is a write that was sent, the answer adds that
 * its outcome is unknown. */
void batcher_fail(batcher *b, request *r, http_error what, const char *why);

/* --- tenants.c --- */

/* True if new requests of a tenant go to the isolated queue of a group. */
bool tenant_is_isolated(batcher *b, db_group group, slice tenant);

/* Isolates the new requests of a tenant for a while, because a read for it alone needed more memory
 * than there was. */
void tenant_isolate(batcher *b, db_group group, slice tenant);

/* The next request of a group's isolated queue; NULL: each tenant in it has a running statement. */
request *tenant_next_isolated(batcher *b, db_group group);

/* The next request of a fair queue: the first one whose tenant has no running statement, else the
 * first. The last free connection is reserved for the former. NULL: none may have it. */
request *tenant_next_fair(batcher *b, db_group group, batch_kind kind, bool is_last);

/* To be called when a statement for a request is sent, and when it has ended. tenant_begin may
 * return NULL. */
tenant_use *tenant_begin(batcher *b, db_group group, const request *r);
void tenant_end(batcher *b, db_group group, bool isolated, tenant_use *of);

/* --- batch_rows.c --- */

/* Sorts rows by the number of their key, column 0, from 1, in linear time. Not `numbered`: all rows
 * belong to the only key. False: out of memory, and then the buffer has failed; or a row has a
 * number that no key has. */
bool batch_index_rows(buf *scratch, const store_rows *rows, size_t keys, bool numbered,
                      batch_rows *out);

/* --- batch_render.c --- */

/* Renders a request that was removed from the batcher: here, or in a helper thread if that would
 * take long. */
void batch_render_rows(query_batch *batch, request *r, const batch_rows *mine);

/* --- query_batch.c --- */

/* Sends one statement for a waiting request, and for those behind it that the statement can carry.
 */
void batch_send(batcher *b, request *first, db_conn *to);

/* Adds and drops a reference to the rows. */
void batch_ref(query_batch *batch);
void batch_unref(query_batch *batch);

/* Removes a request from the batch: it is answered, or queued again. */
void batch_remove_member(query_batch *batch, size_t member_index);

/* Answers the members of a write whose rows have arrived, before the WAL position has. False: the
 * rows have not arrived. */
bool batch_answer_without_position(query_batch *batch);

#endif
