/*
 * pipe_flight.c: statements on their way through a pipeline, out and back. Each ends with its Sync.
 * Decides about no retry but that of a prepared statement which the server has lost.
 */
#include "db/pipe_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include "base/clock.h"
#include "base/errors.h"

enum {
    LARGE_BYTES = 1 << 20 /* a message of so many makes libpq's room one worth to be rid of */
};

static void flight_free(flight *f)
{
    rows_free(f->rows);
    params_free(&f->params);
    free(f);
}

void flight_end(flight *f, const cardbox_error *err)
{
    store_rows *rows = err == NULL ? f->rows : NULL;
    if (rows != NULL)
        f->rows = NULL;
    f->done(f->arg, rows, err);
    flight_free(f);
}

/* --- sending --- */

bool pipe_flush(store_pipe *pipe)
{
    int left = PQflush(pipe->conn);
    pipe->unsent = left > 0;
    return left >= 0;
}

/* Puts limits that are not the session's own before a statement. A pooler's session has none of
 * ours. */
static bool send_limits(store_pipe *pipe, flight *f)
{
    char statement_ms[16], lock_ms[16];
    const char *values[] = {statement_ms, lock_ms};
    if (!pipe->options.no_named_statements && f->limits.lock_ms == 0 &&
        f->limits.statement_ms == pipe->options.statement_timeout_ms)
        return true;
    f->ahead++;
    snprintf(statement_ms, sizeof(statement_ms), "%u", f->limits.statement_ms);
    snprintf(lock_ms, sizeof(lock_ms), "%u", f->limits.lock_ms);
    return PQsendQueryParams(pipe->conn, statement_get(STATEMENT_statement_limits)->text, 2, NULL,
                             values, NULL, NULL, 1);
}

/* Puts a statement, and if need be its preparation, into the pipeline. */
static bool launch(store_pipe *pipe, flight *f)
{
    const statement *s = statement_get(f->id);
    prepared *known = &pipe->prepared[f->id];
    bool named = !pipe->options.no_named_statements && !s->plan_each_time;
    const char *values[PARAMS_MAX];
    int lengths[PARAMS_MAX], formats[PARAMS_MAX], count = f->params.count, sent;
    char name[96];

    f->ahead = 0;
    params_finish(&f->params, values, lengths, formats);
    snprintf(name, sizeof(name), known->generation == 0 ? "%s" : "%s_%u", s->name,
             known->generation);
    if (!send_limits(pipe, f))
        return false;
    f->preparing = named && !known->sent;
    f->ahead += f->preparing;
    if (f->preparing && !PQsendPrepare(pipe->conn, name, s->text, 0, NULL))
        return false;
    known->sent = named;
    if (named)
        sent = PQsendQueryPrepared(pipe->conn, name, count, values, lengths, formats, 1);
    else
        sent = PQsendQueryParams(pipe->conn, s->text, count, NULL, values, lengths, formats, 1);
    return sent && PQpipelineSync(pipe->conn) && pipe_flush(pipe);
}

/* A launch has failed: what is in the pipeline is not what we think any more. */
static void break_off(store_pipe *pipe)
{
    pipe_set_reason(pipe, PQerrorMessage(pipe->conn));
    pipe_move(pipe, PIPE_BROKEN, 0);
}

static void append(store_pipe *pipe, flight *f)
{
    f->next = NULL;
    if (pipe->first == NULL) {
        pipe->first = f;
        pipe->front_ms = clock_ms();
        pipe->reads = 0;
    } else {
        pipe->last->next = f;
    }
    pipe->last = f;
    pipe->in_flight++;
}

void pipe_each_row(store_pipe *pipe, pipe_rows some)
{
    pipe->last->some = some;
}

cardbox_status pipe_send(store_pipe *pipe, statement_id id, params *p, const pipe_limits *limits,
                         pipe_done done, void *arg, cardbox_error *err)
{
    cardbox_status status = CARDBOX_OK;
    flight *f = calloc(1, sizeof(*f));
    if (f == NULL) {
        if (p != NULL)
            params_free(p);
        return error_nomem(err);
    }
    params_init(&f->params, 0);
    if (p != NULL) {
        f->params = *p;
        params_init(p, 0);
    }
    f->id = id;
    f->limits = limits != NULL ? *limits : (pipe_limits){pipe->options.statement_timeout_ms, 0};
    f->done = done;
    f->arg = arg;
    if (pipe->state != PIPE_OPEN) {
        status = error_set(err, CARDBOX_UNAVAILABLE, "not connected to the database");
    } else if (!buf_ok(&f->params.bytes)) {
        status = error_buf(err, &f->params.bytes, "the statement");
    } else if (!launch(pipe, f)) {
        status = connect_error(err, pipe->conn, NULL);
        break_off(pipe);
    }
    if (status == CARDBOX_OK)
        append(pipe, f);
    else
        flight_free(f);
    return status;
}

/* --- receiving --- */

/* The server has lost a prepared statement, or may not use it any more since a migration, or has
 * one of that name from a session before (a pooler's). */
static bool can_heal(const store_pipe *pipe, const flight *f)
{
    static const char *const CURABLE[] = {"26000", "42P05"};
    if (!f->failed || f->healed || f->given || pipe->options.no_named_statements)
        return false;
    for (size_t i = 0; i < sizeof(CURABLE) / sizeof(CURABLE[0]); i++)
        if (strcmp(f->error.sqlstate, CURABLE[i]) == 0)
            return true;
    return false;
}

static bool heal(store_pipe *pipe, flight *f)
{
    prepared *known = &pipe->prepared[f->id];
    known->sent = false;
    known->generation++;
    if (!launch(pipe, f)) {
        break_off(pipe);
        return false;
    }
    f->healed = true;
    f->failed = false;
    append(pipe, f);
    return true;
}

/* The first statement's Sync has come: its answer is whole, and what it did is committed. */
static void land(store_pipe *pipe)
{
    flight *f = pipe->first;
    pipe->first = f->next;
    pipe->in_flight--;
    pipe->front_ms = clock_ms();
    pipe->reads = 0;
    if (f->large || f->params.bytes.len >= LARGE_BYTES)
        pipe->large_ms = pipe->front_ms;
    if (can_heal(pipe, f) && heal(pipe, f))
        return;
    if (!f->failed && f->rows == NULL) {
        error_set(&f->error, CARDBOX_INTERNAL, "the database gave no answer to a statement");
        f->failed = true;
    }
    flight_end(f, f->failed ? &f->error : NULL);
}

/* libpq's room is for one row at a time, so many small ones make no large message. */
static bool has_large_row(const PGresult *result)
{
    if (PQresultMemorySize(result) < LARGE_BYTES)
        return false;
    for (int row = 0; row < rows_count(result); row++)
        if (rows_bytes_of(result, row) >= LARGE_BYTES)
            return true;
    return false;
}

static void give(store_pipe *pipe, flight *f, PGresult *result)
{
    f->given = true;
    if (!f->some(f->arg, result))
        pipe_refuse(pipe, CARDBOX_TOO_LARGE, "no more of the answer is wanted");
}

static void keep_result(store_pipe *pipe, flight *f, PGresult *result)
{
    ExecStatusType kind = PQresultStatus(result);
    f->large = f->large || has_large_row(result);
    bool fine = kind == PGRES_TUPLES_OK || kind == PGRES_COMMAND_OK || kind == PGRES_SINGLE_TUPLE;
    if (!fine && kind != PGRES_PIPELINE_ABORTED && !f->failed) {
        connect_error(&f->error, pipe->conn, result);
        f->error.statement = statement_get(f->id)->name;
        f->failed = true;
        /* What failed behind its preparation stays prepared. */
        if (f->preparing && f->ahead > 0)
            pipe->prepared[f->id].sent = false;
    } else if (kind == PGRES_SINGLE_TUPLE) {
        give(pipe, f, result);
        return;
    } else if (kind == PGRES_TUPLES_OK) {
        rows_free(f->rows);
        f->rows = result;
        return;
    }
    PQclear(result);
}

/* libpq gives rows one by one if it is told so before it looks at the first. */
static bool has_result(store_pipe *pipe)
{
    const flight *f = pipe->first;
    if (f->some != NULL && f->ahead == 0)
        PQsetSingleRowMode(pipe->conn);
    return !PQisBusy(pipe->conn);
}

/* Takes what has come. A command's results end with one NULL; a Sync has none; a second NULL in a
 * row means that libpq has nothing more, whatever we think is in flight. */
void pipe_take_results(store_pipe *pipe)
{
    bool ended = false;
    while (pipe->first != NULL && PQstatus(pipe->conn) == CONNECTION_OK && has_result(pipe)) {
        PGresult *result = PQgetResult(pipe->conn);
        if (result == NULL && ended)
            return;
        ended = result == NULL;
        if (ended) {
            pipe->first->ahead -= pipe->first->ahead > 0;
            continue;
        }
        if (PQresultStatus(result) != PGRES_PIPELINE_SYNC) {
            keep_result(pipe, pipe->first, result);
            if (pipe->state != PIPE_OPEN)
                return;
            continue;
        }
        PQclear(result);
        land(pipe);
        if (pipe->state != PIPE_OPEN)
            return;
    }
}
