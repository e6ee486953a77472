/*
 * batcher_internal.h: shared by batcher.c (queues), tenants.c (fairness between tenants),
 * query_batch.c (statements), batch_rows.c and batch_render.c (answers).
 */
#ifndef SERVER_BATCHER_INTERNAL_H
#define SERVER_BATCHER_INTERNAL_H

#include "cardbox/limits.h"
#include "server/batch/db_conns.h"
#include "server/response/http_error.h"

/* How the requests of a kind are sent. */
typedef struct batch_queue_kind {
    db_group group; /* group of connections to the primary. Slow reads are in DB_LISTS, so that they
                       do not delay reads of cards and boxes */
    bool writes;
    /* requests of this kind are not sent on the last free connection of a group of several */
    bool may_be_slow;
    /* Tenants without a running statement in the group go first. If the kind is not batched, only
     * they get the last free connection that the kind may use, if the group has several. The
     * statement of a batch counts for the tenant of its first member. */
    bool is_fair;
    statement_id statement; /* `statement` and the members after it are only for batched kinds */
    size_t key_size;        /* bytes of a key; 0: the kind is not batched */
    /* Builds the parameters of the kind's statement. If `waits`, a write waits for locked rows,
     * otherwise it skips them. */
    void (*build)(params *p, const void *keys, size_t count, bool waits);
    /* Returns whether a row reports that the rows of its key are locked. NULL for kinds whose rows
     * do not report it. */
    bool (*is_locked)(const store_rows *rows, int row);
} batch_queue_kind;

extern const batch_queue_kind QUEUE_KINDS[BATCH_KINDS];

/* The queues of a group: one for each batch_kind, and the isolated queue. The isolated queue has
 * requests that found locked rows or took too long, and requests of tenants that tenant_isolate()
 * has isolated for some time. Each isolated request is sent in its own statement. */
enum { ISOLATED_QUEUE = BATCH_KINDS, GROUP_QUEUES };

enum { TENANTS_MAX = 64 /* size of batcher.tenants */ };

/* The statements of a tenant from the fair and the isolated queues. The entry of an idle tenant
 * stays until another tenant needs it. */
typedef struct tenant_use {
    slice tenant;              /* points to `name` */
    size_t running[DB_GROUPS]; /* the tenant's statements that run now, by group */
    uint64_t last_served;      /* batcher.served_count after the tenant's last statement was sent */
    /* until this time, new requests of the tenant go to the group's isolated queue */
    int64_t isolated_until_ms[DB_GROUPS];
    char name[CARDBOX_TENANT_MAX];
} tenant_use;

struct batcher {
    server_state *server;
    stats *stats;
    db_conns *conns;
    uint64_t replayed;   /* the replayed WAL position that a standby reported last */
    int64_t replayed_ms; /* when `replayed` was read */
    struct request_list queues[DB_GROUPS][GROUP_QUEUES];
    int next_queue[DB_GROUPS];  /* the queue that is served next */
    size_t isolated[DB_GROUPS]; /* running statements of isolated requests */
    tenant_use tenants[TENANTS_MAX];
    size_t tenant_count;
    uint64_t served_count;      /* number of statements that tenant_begin has counted */
    struct request_list by_age; /* all requests that wait or run, in the order of arrival */
    size_t waiting;
    int64_t look_again_ms; /* when batcher_flush may use another connection; INT64_MAX: unknown */
    buf scratch;           /* the keys of a statement, or the row numbers of a result */
};

enum { SCRATCH_KEEP = 64 * 1024 }; /* bytes of `scratch` that stay allocated when it is emptied */

static inline db_group group_of(const request *r)
{
    return r->ticket.on_standby ? DB_STANDBY : QUEUE_KINDS[r->ticket.kind].group;
}

/* --- batcher.c --- */

/* Redirects a read from the standby to the primary. The caller has removed the request from its
 * queue or batch, and queues it afterwards. */
void batcher_to_primary(batcher *b, request *r);

/* Puts a request at the front or at the end of its queue. */
void queue_push(batcher *b, request *r, bool in_front);
void queue_remove(batcher *b, request *r);

/* Removes a request from its queue or batch. After batcher_remove the caller answers the request,
 * unless its client has left. */
void batcher_remove(batcher *b, request *r);

/* Answers 503, because no database connection for the request is usable. */
void batcher_answer_away(request *r);

/* Removes a request from its queue or batch, and answers with an error. If the request is a write
 * in a batch, the error reports that the outcome is unknown. */
void batcher_fail(batcher *b, request *r, http_error what, const char *why);

/* --- tenants.c --- */

/* True if new requests of a tenant for a group go to the isolated queue of the group. */
bool tenant_is_isolated(batcher *b, db_group group, slice tenant);

/* Isolates the new requests of a tenant for `duration_ms`, and its requests in batched queues,
 * because in batches they would delay other tenants or make the batches fail. */
void tenant_isolate(batcher *b, db_group group, slice tenant, int64_t duration_ms);

/* Returns the request of a group's isolated queue whose tenant was served the longest time ago.
 * NULL: the queue is empty, or each of its tenants has a running statement in the group. */
request *tenant_next_isolated(batcher *b, db_group group);

/* Returns the first request of a fair queue whose tenant has no running statement in the group. If
 * there is none, returns the first request, or NULL if `is_last`: only one connection is left for
 * the queue. */
request *tenant_next_fair(batcher *b, db_group group, batch_kind kind, bool is_last);

/* tenant_begin counts a statement for its tenant when the statement is sent. The result, which may
 * be NULL, is passed to tenant_end when the statement has ended. */
tenant_use *tenant_begin(batcher *b, db_group group, const request *r);
void tenant_end(batcher *b, db_group group, bool isolated, tenant_use *of);

/* --- batch_rows.c --- */

/* Sorts rows by the number of their key, which is in column 0 and counts from 1, in linear time. If
 * `numbered` is false, all rows belong to the only key. Returns false if memory runs out (then
 * buf_ok(scratch) is false), or if a row has a number that no key has. */
bool batch_index_rows(buf *scratch, const store_rows *rows, size_t keys, bool numbered,
                      batch_rows *out);

/* --- batch_render.c --- */

/* Renders the answer of a request that was removed from the batcher: at once, or in a helper thread
 * if the rows are large. */
void batch_render_rows(query_batch *batch, request *r, const batch_rows *mine);

/* --- query_batch.c --- */

/* Sends one statement for `first`, and for the requests behind it in the queue that the statement
 * can carry. */
void batch_send(batcher *b, request *first, db_conn *to);

/* batch_ref adds a reference to the rows of a batch, and batch_unref drops one. Without references
 * the batch is freed. */
void batch_ref(query_batch *batch);
void batch_unref(query_batch *batch);

/* Removes a request from a batch. The caller answers the request or queues it again. */
void batch_remove_member(query_batch *batch, size_t member_index);

/* If the rows of a batch have arrived, answers its members, without the WAL position. Returns
 * whether they have arrived. */
bool batch_answer_without_position(query_batch *batch);

#endif
