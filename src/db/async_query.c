/*
 * async_query.c: sends statements through a pipeline and receives their responses. Each statement
 * is followed by its own Sync message. This file sends no statement again after a failure.
 */
#include "db/async_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include "base/clock.h"
#include "base/errors.h"

enum {
    /* libpq's buffers grow to hold a message and never shrink, so after a message of this size
     * the connection is dropped when no query is pending */
    LARGE_BYTES = 2 << 20
};

static void query_free(query *q)
{
    rows_free(q->rows);
    params_free(&q->params);
    free(q);
}

void query_end(query *q, const cardbox_error *err)
{
    store_rows *rows = err == NULL ? q->rows : NULL;
    if (rows != NULL)
        q->rows = NULL;
    q->done(q->arg, rows, err);
    query_free(q);
}

/* --- sending --- */

bool async_flush(async_conn *c)
{
    int left = PQflush(c->pg);
    c->unsent = left > 0;
    return left >= 0;
}

/* Sends, before a query, a statement that sets the query's limits, unless the session was started
 * with these limits. With no_named_statements the statement is always sent, because a pooler may
 * have started the session with other limits. */
static bool send_limits(async_conn *c, query *q)
{
    char statement_ms[16], lock_ms[16];
    const char *values[] = {statement_ms, lock_ms};
    if (!c->options.no_named_statements && q->limits.lock_ms == 0 &&
        q->limits.statement_ms == c->options.statement_timeout_ms)
        return true;
    q->ahead++;
    snprintf(statement_ms, sizeof(statement_ms), "%u", q->limits.statement_ms);
    snprintf(lock_ms, sizeof(lock_ms), "%u", q->limits.lock_ms);
    return PQsendQueryParams(c->pg, statement_get(STATEMENT_statement_limits)->text, 2, NULL,
                             values, NULL, NULL, 1);
}

static bool put_query(async_conn *c, query *q)
{
    const statement *s = statement_get(q->id);
    bool named = !c->options.no_named_statements;
    q->ahead = 0;
    if (!send_limits(c, q))
        return false;
    q->preparing = named && !c->prepared[q->id];
    q->ahead += q->preparing;
    if (q->preparing && !PQsendPrepare(c->pg, s->name, s->text, 0, NULL))
        return false;
    c->prepared[q->id] = named;
    return connect_send(c->pg, s, named, &q->params) && PQpipelineSync(c->pg) && async_flush(c);
}

static void add_pending(async_conn *c, query *q)
{
    q->next = NULL;
    if (c->first == NULL) {
        c->first = q;
        c->status.busy_since_ms = clock_ms();
        async_begin_answer(c);
    } else {
        c->last->next = q;
    }
    c->last = q;
    c->status.pending++;
}

void async_conn_each_row(async_conn *c, query_on_rows on_rows)
{
    c->last->on_rows = on_rows;
}

cardbox_status async_conn_send(async_conn *c, statement_id id, params *p,
                               const query_limits *limits, query_done done, void *arg,
                               cardbox_error *err)
{
    cardbox_status status = CARDBOX_OK;
    query *q = calloc(1, sizeof(*q));
    if (q == NULL) {
        if (p != NULL)
            params_free(p);
        return error_nomem(err);
    }
    if (p != NULL) {
        q->params = *p;
        *p = PARAMS_INIT;
    }
    q->id = id;
    q->limits = limits != NULL ? *limits : (query_limits){c->options.statement_timeout_ms, 0};
    q->done = done;
    q->arg = arg;
    if (c->state != ASYNC_OPEN) {
        status = error_set(err, CARDBOX_UNAVAILABLE, "not connected to the database");
    } else if (!buf_ok(&q->params.bytes)) {
        status = error_buf(err, &q->params.bytes, "the statement");
    } else if (!put_query(c, q)) {
        status = connect_error(err, c->pg, NULL);
        async_set_reason(c, PQerrorMessage(c->pg));
        async_move(c, ASYNC_BROKEN, 0); /* it is unknown which messages were sent */
    }
    if (status == CARDBOX_OK)
        add_pending(c, q);
    else
        query_free(q);
    return status;
}

/* --- receiving --- */

/* True if the prepared statement does not exist, can't be used any more since a migration, or
 * already existed when it was to be prepared (a pooler shares sessions). Such a query had no
 * effect. */
static bool is_prepared_lost(const query *q)
{
    return q->failed &&
           (strcmp(q->error.sqlstate, "26000") == 0 || strcmp(q->error.sqlstate, "42P05") == 0);
}

/* True if the memory budget lacks the memory of a complete response. The bytes that were counted
 * while the response arrived are an estimate, so a difference up to LARGE_BYTES is ignored. */
static bool is_over_budget(const async_conn *c, const query *q)
{
    size_t bytes = rows_memory(q->rows);
    return c->budget != NULL && bytes > c->status.received + LARGE_BYTES &&
           !memory_has(c->budget, bytes - c->status.received);
}

/* Ends the first query. Its Sync was answered, so its response is complete, and its transaction was
 * committed or has failed. */
static void complete_first(async_conn *c)
{
    query *q = c->first;
    bool over_budget = is_over_budget(c, q);
    c->first = q->next;
    c->status.pending--;
    c->status.busy_since_ms = clock_ms();
    c->must_reconnect |= q->large || q->params.bytes.len >= LARGE_BYTES || is_prepared_lost(q);
    async_begin_answer(c);
    if (!q->failed && (q->rows == NULL || over_budget)) {
        if (over_budget)
            error_set(&q->error, CARDBOX_TOO_LARGE, "the answer needs more memory than is left");
        else
            error_set(&q->error, CARDBOX_INTERNAL, "the database gave no answer to a statement");
        q->error.retryable = over_budget && memory_may_fit_later(c->budget, rows_memory(q->rows),
                                                                 memory_used(c->budget));
        q->failed = true;
    }
    query_end(q, q->failed ? &q->error : NULL);
    if (c->must_reconnect && c->state == ASYNC_OPEN && c->first == NULL)
        async_conn_drop(c, "its buffers have grown, or its prepared statements are lost");
}

/* libpq's input buffer grows to hold a whole row, so only a large row makes the buffer large. */
static bool has_large_row(const PGresult *result)
{
    if (PQresultMemorySize(result) < LARGE_BYTES)
        return false;
    for (int row = 0; row < rows_count(result); row++)
        if (rows_bytes_of(result, row) >= LARGE_BYTES)
            return true;
    return false;
}

static void keep_result(async_conn *c, query *q, PGresult *result)
{
    ExecStatusType kind = PQresultStatus(result);
    q->large = q->large || has_large_row(result);
    bool fine = kind == PGRES_TUPLES_OK || kind == PGRES_COMMAND_OK || kind == PGRES_SINGLE_TUPLE;
    if (!fine && kind != PGRES_PIPELINE_ABORTED && !q->failed) {
        connect_error(&q->error, c->pg, result);
        q->error.statement = statement_get(q->id)->name;
        q->failed = true;
        /* if preparing failed, or a command before it, the statement is not prepared */
        if (q->preparing && q->ahead > 0)
            c->prepared[q->id] = false;
    } else if (kind == PGRES_SINGLE_TUPLE) {
        if (!q->on_rows(q->arg, result))
            async_conn_abort_answer(c, CARDBOX_TOO_LARGE, "no more of the answer is wanted");
        return;
    } else if (kind == PGRES_TUPLES_OK) {
        rows_free(q->rows);
        q->rows = result;
        return;
    }
    PQclear(result);
}

/* Returns true if a result can be read without blocking. Before that, sets single-row mode if the
 * query has an on_rows function: libpq requires this before the first result is read. */
static bool has_result(async_conn *c)
{
    const query *q = c->first;
    if (q->on_rows != NULL && q->ahead == 0)
        PQsetSingleRowMode(c->pg);
    return !PQisBusy(c->pg);
}

/* The results of a command end with one NULL; those of a Sync do not. After two NULLs in succession
 * libpq has no results left, even if queries are pending. */
void async_take_results(async_conn *c)
{
    bool ended = false;
    while (c->first != NULL && PQstatus(c->pg) == CONNECTION_OK && has_result(c)) {
        PGresult *result = PQgetResult(c->pg);
        if (result == NULL && ended)
            return;
        ended = result == NULL;
        if (ended) {
            c->first->ahead -= c->first->ahead > 0;
            continue;
        }
        if (PQresultStatus(result) != PGRES_PIPELINE_SYNC) {
            keep_result(c, c->first, result);
            if (c->state != ASYNC_OPEN)
                return;
            continue;
        }
        PQclear(result);
        complete_first(c);
        if (c->state != ASYNC_OPEN)
            return;
    }
}
