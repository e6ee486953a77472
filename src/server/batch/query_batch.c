/*
 * query_batch.c: a batch is one statement and its members, which are the requests that the
 * statement carries. This file sends batches, passes the rows to the members, and sends members of
 * failed statements again.
 */
#include <stdlib.h>
#include "base/clock.h"
#include "server/batch/batcher_internal.h"
#include "base/errors.h"

enum {
    /* maximum number of keys in a statement that carries several requests; more are not faster */
    KEYS_MAX = 512,
    WEIGHT_MAX = 4096, /* limit of the sum of `weight` in a statement of several requests */
    /* Limit of the attempts of a request, without those that waited for a lock. An operator who
     * ends all connections may make several attempts fail. */
    TRIES_MAX = 8,
    /* lock_timeout of an unbatched or isolated write. After this time the write is queued again, so
     * that a long transaction does not keep a connection busy */
    LOCK_MS = 200,
    BATCHED_LOCK_MS = 20, /* lock_timeout of a batched write, which skips locked rows. It waits for
                             transactions that have inserted the same key and not ended yet */
    /* how long a tenant is isolated after a read that was too large, and after a batched write that
     * waited too long for a lock */
    TOO_LARGE_ISOLATED_MS = 10000,
    LOCKED_ISOLATED_MS = 500,
    READ_BYTES_MAX = 4 * 1024 * 1024, /* maximum number of bytes of a read's parameters */
    /* maximum number of bytes of a write's parameters: PostgreSQL accepts messages below 1 GiB */
    WRITE_BYTES_MAX = 900 * 1024 * 1024
};

typedef struct batch_member {
    request *request; /* NULL: the request was already answered, removed or queued again */
    size_t first_key;
} batch_member;

struct query_batch {
    batcher *batcher;
    db_conn *conn;
    batch_kind kind;
    db_group group;
    size_t key_count;
    size_t member_count;
    size_t rows_held; /* bytes of `rows` that are counted in server.memory */
    /* references: one of the statements, and one of each job of a helper thread */
    size_t refs;
    /* Number of queries of the batch that still run: its statement, the query for a WAL position
     * before or after it, and the check of the connection after a failure. */
    size_t pending_statements;
    bool alone;      /* the batch has one member, which is retried alone or isolated */
    bool isolated;   /* the batch has one member, from the isolated queue */
    int64_t ends_ms; /* when statement_timeout is over; INT64_MAX: members have no time for a retry
                        after it */
    tenant_use *tenant;  /* NULL: the statement is not counted for its tenant */
    bool may_have_run;   /* the statement was sent, so PostgreSQL may have executed it */
    bool streams;        /* the batch has one member, which receives the rows one by one */
    bool suspect;        /* the statement failed, and a check of its connection was begun */
    bool incompatible;   /* the check of the connection has failed */
    cardbox_error error; /* the error of the statement, for use after the check of the connection */
    store_rows *rows;
    batch_member member[];
};

void batch_remove_member(query_batch *batch, size_t member_index)
{
    batch->member[member_index].request = NULL;
}

void batch_ref(query_batch *batch)
{
    batch->refs++;
}

void batch_unref(query_batch *batch)
{
    if (--batch->refs > 0)
        return;
    memory_hold(&batch->batcher->server->memory, &batch->rows_held, 0);
    rows_free(batch->rows);
    free(batch);
}

/* Counts a pending statement as ended. After the last pending statement, frees the batch, unless a
 * helper thread still uses its rows. */
static void end_statement(query_batch *batch)
{
    if (--batch->pending_statements > 0)
        return;
    if (batch->isolated || QUEUE_KINDS[batch->kind].is_fair)
        tenant_end(batch->batcher, batch->group, batch->isolated, batch->tenant);
    batch_unref(batch);
}

/* --- sending --- */

static bool needs_own_statement(const request *r)
{
    return QUEUE_KINDS[r->ticket.kind].key_size == 0 || r->ticket.retried_alone ||
           r->ticket.isolated;
}

static size_t choose_members(request *first, request *member[KEYS_MAX])
{
    size_t count = 1, keys = first->ticket.count, weight = first->ticket.weight;
    member[0] = first;
    if (needs_own_statement(first))
        return 1;
    for (request *r = first;
         (r = TAILQ_NEXT(r, ticket.in_queue)) != NULL && !needs_own_statement(r);) {
        keys += r->ticket.count;
        weight += r->ticket.weight;
        if (keys > KEYS_MAX || weight > WEIGHT_MAX)
            break;
        member[count++] = r;
    }
    return count;
}

static query_batch *new_batch(batcher *b, request *first)
{
    request *member[KEYS_MAX];
    size_t count = choose_members(first, member);
    query_batch *batch = calloc(1, sizeof(*batch) + count * sizeof(batch_member));
    if (batch == NULL)
        return NULL;
    batch->batcher = b;
    batch->refs = 1;
    batch->kind = first->ticket.kind;
    batch->group = group_of(first);
    batch->member_count = count;
    batch->alone = first->ticket.retried_alone || first->ticket.isolated;
    batch->isolated = first->ticket.isolated;
    buf_reset(&b->scratch, SCRATCH_KEEP);
    for (size_t i = 0; i < count; i++) {
        request *r = member[i];
        queue_remove(b, r);
        r->ticket.batch = batch;
        r->ticket.member_index = i;
        r->ticket.tries++;
        batch->member[i] = (batch_member){r, batch->key_count};
        batch->key_count += r->ticket.count;
        buf_add(&b->scratch, r->ticket.keys, r->ticket.count * QUEUE_KINDS[batch->kind].key_size);
    }
    return batch;
}

static void build_params(params *p, const query_batch *batch, const request *first)
{
    const batch_queue_kind *kind = &QUEUE_KINDS[batch->kind];
    const buf *keys = &batch->batcher->scratch;
    *p = (params){.bytes =
                      BUF_INIT(kind->writes ? (size_t)WRITE_BYTES_MAX : (size_t)READ_BYTES_MAX)};
    if (kind->key_size == 0)
        first->ticket.build(p, first->ticket.keys);
    else
        kind->build(p, keys->data, batch->key_count, batch->isolated);
    params_made_of(p, keys);
}

/* Returns the time limits of a statement. A request that is isolated or retried alone may use the
 * rest of its --database-timeout-ms. An unbatched request may use all of it, and so may a read of
 * boxes on the primary that is alone in its batch. Any other batch may use half: if one member
 * makes the statement slow, the other members can be sent again in the other half. */
static query_limits limits_of(const query_batch *batch, const request *first)
{
    unsigned whole_ms = (unsigned)batch->batcher->server->set->database_timeout_ms;
    unsigned half_ms = (whole_ms + 1) / 2;
    unsigned lock_ms =
        QUEUE_KINDS[batch->kind].key_size == 0 || batch->isolated ? LOCK_MS : BATCHED_LOCK_MS;
    lock_ms = half_ms < lock_ms ? half_ms : lock_ms;
    query_limits limits = {half_ms, QUEUE_KINDS[batch->kind].writes ? lock_ms : 0};
    if (batch->alone) {
        int64_t left_ms = first->ticket.since_ms + whole_ms - clock_ms();
        limits.statement_ms = left_ms < 1 ? 1 : (unsigned)left_ms;
        if (limits.lock_ms > 1 && limits.statement_ms / 2 < limits.lock_ms)
            limits.lock_ms = (limits.statement_ms + 1) / 2;
    } else if (QUEUE_KINDS[batch->kind].key_size == 0 ||
               (batch->kind == BATCH_BOXES && batch->group == DB_READS &&
                batch->member_count == 1)) {
        limits.statement_ms = whole_ms;
    }
    return limits;
}

static void fail_batch(query_batch *batch, const cardbox_error *err);
static void fail_statement(query_batch *batch, const cardbox_error *err);
static void on_done(void *arg, store_rows *rows, const cardbox_error *err);
static void on_position(void *arg, store_rows *rows, const cardbox_error *err);
static void on_replayed(void *arg, store_rows *rows, const cardbox_error *err);
static bool on_row(void *arg, store_rows *row);

static void set_limits_and_count(query_batch *batch, const request *first, query_limits *limits)
{
    batcher *b = batch->batcher;
    const batch_queue_kind *kind = &QUEUE_KINDS[batch->kind];
    *limits = limits_of(batch, first);
    batch->pending_statements = 1;
    bool may_try_again =
        (long)limits->statement_ms < b->server->set->database_timeout_ms && !batch->alone;
    batch->ends_ms = may_try_again ? clock_ms() + limits->statement_ms : INT64_MAX;
    if (batch->isolated || kind->is_fair)
        batch->tenant = tenant_begin(b, batch->group, first);
    if (kind->key_size > 0) {
        tally_add(&b->stats->batched[kind->statement], 1);
        tally_add(&b->stats->members[kind->statement], batch->member_count);
    }
}

/* Sends the statement of a batch. If the connection leads to a standby, sends a query for the
 * standby's replay position before it. */
static cardbox_status send_statements(query_batch *batch, const request *first, cardbox_error *err)
{
    const batch_queue_kind *kind = &QUEUE_KINDS[batch->kind];
    cardbox_status status = CARDBOX_OK;
    query_limits limits;
    params p;
    set_limits_and_count(batch, first, &limits);
    if (batch->group == DB_STANDBY) {
        status = db_conn_send(batch->conn, STATEMENT_replayed, NULL, NULL, on_replayed, batch, err);
        batch->pending_statements += status == CARDBOX_OK;
    }
    if (status != CARDBOX_OK)
        return status;
    build_params(&p, batch, first);
    return db_conn_send(batch->conn,
                        kind->key_size == 0 ? first->ticket.statement : kind->statement, &p,
                        &limits, on_done, batch, err);
}

void batch_send(batcher *b, request *first, db_conn *to)
{
    const batch_queue_kind *kind = &QUEUE_KINDS[first->ticket.kind];
    cardbox_error err = CARDBOX_ERROR_INIT;
    query_batch *batch = new_batch(b, first);
    if (batch == NULL) {
        batcher_remove(b, first);
        http_error_send_no_memory(first);
        return;
    }
    batch->conn = to;
    if (send_statements(batch, first, &err) != CARDBOX_OK) {
        fail_batch(batch, &err);
        end_statement(batch);
        return;
    }
    batch->may_have_run = true;
    batch->streams = batch->member_count == 1 && first->ticket.stream != NULL;
    if (batch->streams) {
        first->ticket.stream->begin(first);
        db_conn_each_row(to, on_row);
    }
    if (kind->writes && db_conn_send(to, STATEMENT_wal_position, NULL, NULL, on_position, batch,
                                     &err) == CARDBOX_OK)
        batch->pending_statements++;
}

/* --- answers --- */

/* Queues a member of a batch again: an isolated one at the end of the isolated queue, any other at
 * the front of its queue. A request that was sent to a standby is queued for the primary. */
static void queue_again(query_batch *batch, request *r, bool isolated)
{
    batcher *b = batch->batcher;
    batch_remove_member(batch, r->ticket.member_index);
    if (batch->group == DB_STANDBY)
        batcher_to_primary(b, r);
    r->ticket.isolated =
        isolated || r->ticket.isolated || tenant_is_isolated(b, group_of(r), request_tenant(r));
    queue_push(b, r, !r->ticket.isolated);
    tally_add(&b->stats->retries, 1);
}

static bool is_locked(const query_batch *batch, const batch_rows *mine)
{
    return QUEUE_KINDS[batch->kind].is_locked != NULL && mine->start[0] < mine->start[1] &&
           QUEUE_KINDS[batch->kind].is_locked(batch->rows, mine->row[mine->start[0]]);
}

static void end_member(query_batch *batch, request *r)
{
    batcher_remove(batch->batcher, r);
    if (batch->group == DB_STANDBY)
        tally_add(&batch->batcher->stats->standby_reads, 1);
}

/* Answers the members of a batch, except those that found locked rows, which are queued again.
 * `position` is the WAL position after a write; empty: not known. */
static void answer_batch(query_batch *batch, slice position)
{
    batcher *b = batch->batcher;
    batch_rows all;
    cardbox_error err = CARDBOX_ERROR_INIT;
    bool numbered = QUEUE_KINDS[batch->kind].key_size > 0;
    if (!batch_index_rows(&b->scratch, batch->rows, numbered ? batch->key_count : 1, numbered,
                          &all)) {
        err.status = buf_ok(&b->scratch) ? CARDBOX_INTERNAL : CARDBOX_NOMEM;
        fail_batch(batch, &err);
        return;
    }
    for (size_t i = 0; i < batch->member_count; i++) {
        request *r = batch->member[i].request;
        batch_rows mine = {batch->rows, all.row, all.start + batch->member[i].first_key};
        if (r == NULL)
            continue;
        if (is_locked(batch, &mine)) {
            r->ticket.locked = true;
            queue_again(batch, r, true);
            continue;
        }
        end_member(batch, r);
        /* A read after a write of the same request keeps the position of the write. */
        if (position.len < sizeof(r->lsn) && (position.len > 0 || QUEUE_KINDS[batch->kind].writes))
            snprintf(r->lsn, sizeof(r->lsn), "%.*s", (int)position.len, position.ptr);
        /* --response-max does not limit the answer of a committed write */
        if (QUEUE_KINDS[batch->kind].writes) {
            r->answer.body.max = SIZE_MAX / 4;
            r->memory.budget = NULL;
            r->ticket.was_written = true;
        }
        batch_render_rows(batch, r, &mine);
    }
}

bool batch_answer_without_position(query_batch *batch)
{
    if (batch->rows == NULL)
        return false;
    answer_batch(batch, SLICE(""));
    return true;
}

/* Queues requests that were sent to a standby for the primary: all members of the batch, or those
 * whose `at_least` the standby has not replayed. */
static void pass_to_primary(query_batch *batch, bool all)
{
    for (size_t i = batch->member_count; i > 0; i--) {
        request *r = batch->member[i - 1].request;
        if (r != NULL && (all || r->at_least > batch->batcher->replayed))
            queue_again(batch, r, false);
    }
}

static void reject_if_position_unknown(query_batch *batch)
{
    if (batch->group == DB_STANDBY && batch->pending_statements > 1)
        pass_to_primary(batch, true);
}

static void end_stream(query_batch *batch)
{
    request *r = batch->member[0].request;
    if (r == NULL)
        return;
    end_member(batch, r);
    r->ticket.stream->end(r);
}

static bool on_row(void *arg, store_rows *row)
{
    query_batch *batch = arg;
    reject_if_position_unknown(batch);
    request *r = batch->member[0].request;
    tally_add(&batch->batcher->stats->rows, 1);
    if (r == NULL) { /* the request was answered or removed: its rows are ignored */
        rows_free(row);
        return true;
    }
    if (r->ticket.stream->take(r, row))
        return true;
    end_stream(batch);
    return false;
}

static void on_done(void *arg, store_rows *rows, const cardbox_error *err)
{
    query_batch *batch = arg;
    batch->rows = rows;
    if (rows_memory(rows) >= MEMORY_SMALL)
        memory_hold(&batch->batcher->server->memory, &batch->rows_held, rows_memory(rows));
    tally_add(&batch->batcher->stats->rows, (uint64_t)rows_count(rows));
    reject_if_position_unknown(batch);
    if (rows == NULL) {
        fail_statement(batch, err);
    } else if (batch->streams && rows_count(rows) == 0) {
        end_stream(batch);
    } else if (batch->pending_statements == 1) {
        answer_batch(batch, SLICE(""));
    }
    end_statement(batch);
}

/* If batch->rows is set, the write has been committed, even if the query for the WAL position
 * failed. */
static void on_position(void *arg, store_rows *rows, const cardbox_error *err)
{
    query_batch *batch = arg;
    (void)err;
    if (batch->rows != NULL)
        answer_batch(batch, rows_count(rows) == 1 ? rows_text(rows, 0, 0) : SLICE(""));
    rows_free(rows);
    end_statement(batch);
}

/* The read of the batch was sent after this query, and sees at least the position that this query
 * returns. Members that require a later position are queued for the primary. */
static void on_replayed(void *arg, store_rows *rows, const cardbox_error *err)
{
    query_batch *batch = arg;
    batcher *b = batch->batcher;
    bool is_standby = rows_count(rows) == 1 && !rows_null(rows, 0, 0);
    if (is_standby) {
        b->replayed = (uint64_t)rows_int8(rows, 0, 0);
        b->replayed_ms = clock_ms();
    } else if (rows != NULL) {
        db_conn_suspend(batch->conn, "the server is no standby any more");
    } else if (err->status == CARDBOX_TIMEOUT && !error_is_refusal(err)) {
        db_conns_suspend_standbys(b->conns, "the standby does not answer");
    }
    pass_to_primary(batch, !is_standby);
    rows_free(rows);
    end_statement(batch);
}

/* --- failures --- */

/* True if a write may have been committed although its statement failed. */
static bool outcome_is_unknown(const query_batch *batch, const cardbox_error *err)
{
    return QUEUE_KINDS[batch->kind].writes && batch->may_have_run && !error_is_refusal(err);
}

/* True if the connection was lost, or PostgreSQL did not answer in time. */
static bool is_lost(const cardbox_error *err)
{
    return (err->status == CARDBOX_UNAVAILABLE || err->status == CARDBOX_TIMEOUT) &&
           !error_is_refusal(err);
}

/* True if a statement failed at its time limit, and its members have time left. A timeout before
 * this limit is the effect of a cancel request. */
static bool ran_out_of_time(const query_batch *batch, const cardbox_error *err)
{
    return err->status == CARDBOX_TIMEOUT && clock_ms() >= batch->ends_ms;
}

/* True if a member of a failed statement is sent again. A statement that PostgreSQL rejected had no
 * effect. A write with an unknown outcome is repeated only if it is `replayable`. A write that
 * waited for a lock is repeated until its time is over. */
static bool may_run_again(const query_batch *batch, const request *r, const cardbox_error *err)
{
    if (err->status == CARDBOX_NOMEM)
        return false;
    if (batch->group == DB_STANDBY) /* a read that failed on a standby may succeed on the primary */
        return err->status != CARDBOX_TOO_LARGE || batch->member_count > 1;
    if (batch->incompatible)
        return false;
    /* the database passed a check after the failure, so the request is sent once more */
    if (batch->suspect && !r->ticket.passed_check)
        return true;
    if (err->status == CARDBOX_BUSY)
        return true;
    if (r->ticket.tries >= TRIES_MAX)
        return false;
    if (outcome_is_unknown(batch, err) && !r->ticket.replayable)
        return false;
    if (is_lost(err))
        return !db_conns_away(batch->batcher->conns, batch->group);
    return batch->member_count > 1 || ran_out_of_time(batch, err) ||
           (err->retryable && err->status != CARDBOX_TOO_LARGE);
}

/* True if the only member of a failed batch continues in the isolated queue, because it found a
 * locked row or took too long. */
static bool is_to_isolate(const query_batch *batch, const cardbox_error *err)
{
    return batch->member_count == 1 && !is_lost(err) && batch->group != DB_STANDBY &&
           (err->status == CARDBOX_BUSY || ran_out_of_time(batch, err));
}

static const char *why_unknown(cardbox_status status)
{
    switch (status) {
    case CARDBOX_TIMEOUT:
        return "the database did not answer in time";
    case CARDBOX_NOMEM:
        return "out of memory";
    case CARDBOX_INTERNAL:
        return "the answer of the database was not understood";
    default:
        return "the connection to the database was lost";
    }
}

static void fail_member(query_batch *batch, request *r, const cardbox_error *err)
{
    batcher *b = batch->batcher;
    if (outcome_is_unknown(batch, err)) {
        batcher_fail(b, r,
                     err->status == CARDBOX_TIMEOUT ? HTTP_ERROR_TIMEOUT : HTTP_ERROR_DATABASE_AWAY,
                     why_unknown(err->status));
        return;
    }
    batcher_remove(b, r);
    if (db_conns_away(b->conns, batch->group))
        batcher_answer_away(r);
    else
        http_error_send_store(r, err);
}

/* Isolates the tenant of a failed statement with one member, if the next requests of the tenant
 * would probably delay other tenants. A read that was too large mostly needed too much memory, and
 * batches with such reads fail. A batched write skips locked rows. If it still waited too long for
 * a lock, another transaction has inserted its key, and batches with this key wait too. */
static void isolate_tenant_of(const query_batch *batch, const cardbox_error *err)
{
    const batch_queue_kind *kind = &QUEUE_KINDS[batch->kind];
    const request *r = batch->member[0].request;
    if (batch->member_count > 1 || r == NULL)
        return;
    if (!kind->writes && err->status == CARDBOX_TOO_LARGE)
        tenant_isolate(batch->batcher, batch->group, request_tenant(r), TOO_LARGE_ISOLATED_MS);
    if (kind->writes && kind->key_size > 0 && !batch->isolated && err->status == CARDBOX_BUSY)
        tenant_isolate(batch->batcher, batch->group, request_tenant(r), LOCKED_ISOLATED_MS);
}

/* Queues each member of a failed batch again, or answers it with an error. Begins with the last
 * member, since members are queued at the front. Unless the connection was lost, members for the
 * primary are then sent in statements of their own, so that only the member that causes the error
 * fails. */
static void fail_batch(query_batch *batch, const cardbox_error *err)
{
    bool isolated = is_to_isolate(batch, err), locked = err->status == CARDBOX_BUSY;
    bool alone = !is_lost(err) && batch->group != DB_STANDBY;
    isolate_tenant_of(batch, err);
    for (size_t i = batch->member_count; i > 0; i--) {
        request *r = batch->member[i - 1].request;
        if (r == NULL)
            continue;
        r->ticket.locked = locked && batch->member_count == 1;
        r->ticket.tries -= locked && r->ticket.tries > 0;
        if (may_run_again(batch, r, err)) {
            r->ticket.passed_check |= batch->suspect && batch->member_count == 1;
            r->ticket.retried_alone |= alone;
            queue_again(batch, r, isolated);
        } else {
            fail_member(batch, r, err);
        }
    }
}

static void on_conn_checked(void *arg, bool fit)
{
    query_batch *batch = arg;
    batch->incompatible = !fit;
    fail_batch(batch, &batch->error);
    end_statement(batch);
}

/* Handles a failed statement. If the database may be incompatible, the members wait for a check of
 * the connection. A connection to a standby is checked too, but its members are queued for the
 * primary at once. */
static void fail_statement(query_batch *batch, const cardbox_error *err)
{
    bool waits = batch->group != DB_STANDBY;
    batch->suspect =
        db_conn_check_after(batch->conn, err, waits ? on_conn_checked : NULL, batch) && waits;
    if (!batch->suspect) {
        fail_batch(batch, err);
        return;
    }
    batch->error = *err;
    batch->pending_statements++;
}
