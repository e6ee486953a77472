/*
 * client.c: makes and frees handles, and retries failed statements.
 */
#include "store/client/client.h"

#include <stdlib.h>
#include <unistd.h>
#include "base/clock.h"
#include "store/box/append_batcher.h"
#include "store/client/call.h"
#include "db/schema.h"

/* Pauses between attempts are short at first, since a restart of PostgreSQL may take only seconds.
 */
enum { RETRY_BASE_MS = 20, RETRY_CAP_MS = 500, RETRY_CONFLICTS_MAX = 20 };

typedef struct attempts {
    int64_t deadline_ms;
    unsigned failed;
} attempts;

static attempts first_attempt(const cardbox_options *options, int64_t began_ms)
{
    return (attempts){began_ms + (options->no_retry ? 0 : options->retry_timeout_ms), 0};
}

/* Returns false, without a pause, if the pause would end after the deadline. */
static bool next_attempt(attempts *a)
{
    int64_t pause_ms = clock_backoff_ms(a->failed++, RETRY_BASE_MS, RETRY_CAP_MS);
    if (clock_ms() + pause_ms > a->deadline_ms)
        return false;
    clock_sleep_ms(pause_ms);
    return true;
}

static bool may_retry(const cardbox_error *err, unsigned attempt, bool unknown,
                      client_safety safety)
{
    if (error_is_rolled_back(err))
        return attempt < RETRY_CONFLICTS_MAX;
    return err->status == CARDBOX_UNAVAILABLE && err->retryable && (!unknown || safety != RUN_ONCE);
}

static cardbox_status run_with_retries(store_pool *pool, int64_t began_us, statement_id id,
                                       const params *p, client_safety safety, store_rows **rows,
                                       cardbox_error *err)
{
    attempts tries = first_attempt(pool_options(pool), began_us / 1000);
    bool may_be_done = false;
    for (;; began_us = clock_us()) {
        bool unknown;
        *err = (cardbox_error)CARDBOX_ERROR_INIT;
        cardbox_status status = pool_run(pool, began_us, id, p, rows, &unknown, err);
        if (status == CARDBOX_OK)
            return status;
        may_be_done = may_be_done || unknown;
        if (!may_retry(err, tries.failed, unknown, safety) || !next_attempt(&tries)) {
            err->retryable = err->retryable && (!may_be_done || safety == RUN_AGAIN);
            if (may_be_done && safety == RUN_ONCE)
                error_add_unknown(err);
            return status;
        }
        pool_count_retry(pool);
    }
}

cardbox_status client_run(cardbox *db, statement_id id, params *p, client_safety safety,
                          store_rows **rows, cardbox_error *err)
{
    return client_run_since(db, clock_us(), id, p, safety, rows, err);
}

cardbox_status client_run_since(cardbox *db, int64_t began_us, statement_id id, params *p,
                                client_safety safety, store_rows **rows, cardbox_error *err)
{
    cardbox_error own = CARDBOX_ERROR_INIT;
    cardbox_status status = db->kind == CLIENT_POOL
                                ? run_with_retries(db->pool, began_us, id, p, safety, rows, &own)
                                : conn_run(db->conn, id, p, rows, &own);
    if (status != CARDBOX_OK && err != NULL)
        *err = own;
    if (p != NULL)
        params_free(p);
    return status;
}

static cardbox_status warm_up(store_pool *pool, cardbox_error *err)
{
    unsigned wanted = pool_options(pool)->pool_min;
    store_conn *open = NULL;
    cardbox_status status = CARDBOX_OK;
    for (unsigned i = 0; status == CARDBOX_OK && (i == 0 || i < wanted); i++) {
        store_conn *conn = NULL;
        status = pool_acquire(pool, &conn, err);
        if (status == CARDBOX_OK) {
            conn->next = open;
            open = conn;
        }
    }
    while (open != NULL) {
        store_conn *next = open->next;
        pool_release(pool, open, false);
        open = next;
    }
    return status;
}

/* A database with newer migrations and functions is accepted. */
static cardbox_status check_schema(cardbox *db, cardbox_error *err)
{
    store_rows *rows = NULL;
    params p = PARAMS_INIT;
    int found = 0;
    schema_params(&p);
    params_bool(&p, false);
    cardbox_status status = client_run(db, STATEMENT_ready, &p, RUN_AGAIN, &rows, err);
    schema_state state = status == CARDBOX_OK ? schema_compare(rows, &found) : SCHEMA_FITS;
    rows_free(rows);
    if (state == SCHEMA_TOO_OLD)
        return error_set(err, CARDBOX_INTERNAL,
                         "the database is at migration %d and this library needs %d: run "
                         "`cardbox migrate`",
                         found, schema_newest());
    if (state == SCHEMA_FUNCTIONS)
        return error_set(err, CARDBOX_INTERNAL,
                         "the database lacks SQL functions that this library needs: run `cardbox "
                         "migrate`");
    return status;
}

cardbox_status cardbox_open(cardbox **out, const cardbox_options *options, cardbox_error *err)
{
    cardbox_options complete;
    cardbox *db = NULL;
    cardbox_status status;
    if (out == NULL)
        return error_set(err, CARDBOX_INVALID, "out must not be NULL");
    *out = NULL;
    status = CHECK_MADE(options, "CARDBOX_OPTIONS_INIT", err);
    if (status != CARDBOX_OK)
        return status;
    options_complete(&complete, options);
    status = conninfo_check(complete.conninfo, err);
    if (status != CARDBOX_OK)
        return status;
    db = calloc(1, sizeof(*db));
    if (db == NULL)
        return error_nomem(err);
    db->kind = CLIENT_POOL;
    status = pool_new(&db->pool, &complete, err);
    if (status == CARDBOX_OK) {
        db->append_batcher = append_batcher_new(db->pool);
        status = db->append_batcher == NULL ? error_nomem(err) : warm_up(db->pool, err);
    }
    if (status == CARDBOX_OK)
        status = check_schema(db, err);
    if (status != CARDBOX_OK) {
        cardbox_close(db);
        return status;
    }
    *out = db;
    return CARDBOX_OK;
}

void cardbox_close(cardbox *db)
{
    if (db == NULL)
        return;
    if (db->kind != CLIENT_POOL) {
        cardbox_rollback(db);
        return;
    }
    append_batcher_free(db->append_batcher);
    pool_free(db->pool);
    free(db);
}

static cardbox_status begin_once(cardbox *tx, statement_id begin, cardbox_error *err)
{
    cardbox_status status = pool_acquire(tx->pool, &tx->conn, err);
    if (status != CARDBOX_OK)
        return status;
    status = conn_run(tx->conn, begin, NULL, NULL, err);
    if (status != CARDBOX_OK)
        pool_release(tx->pool, tx->conn, true);
    return status;
}

cardbox_status client_begin(cardbox **tx, cardbox *db, statement_id begin, cardbox_error *err)
{
    if (tx == NULL || db == NULL)
        return error_set(err, CARDBOX_INVALID, "%s must not be NULL", tx == NULL ? "tx" : "db");
    if (db->kind != CLIENT_POOL)
        return error_set(err, CARDBOX_INVALID, "a transaction begins on a handle of cardbox_open");
    *tx = NULL;
    cardbox *made = calloc(1, sizeof(*made));
    if (made == NULL)
        return error_nomem(err);
    made->kind = CLIENT_TRANSACTION;
    made->pool = db->pool;
    attempts tries = first_attempt(pool_options(db->pool), clock_ms());
    cardbox_error own = CARDBOX_ERROR_INIT;
    cardbox_status status;
    do
        status = begin_once(made, begin, &own);
    while (status == CARDBOX_UNAVAILABLE && own.retryable && next_attempt(&tries));
    if (status != CARDBOX_OK) {
        free(made);
        if (err != NULL)
            *err = own;
        return status;
    }
    *tx = made;
    return CARDBOX_OK;
}

cardbox_status cardbox_begin(cardbox **tx, cardbox *db, cardbox_error *err)
{
    return client_begin(tx, db, STATEMENT_begin, err);
}

cardbox_status cardbox_borrow(cardbox **tx, struct pg_conn *conn, cardbox_error *err)
{
    cardbox *made = NULL;
    if (tx == NULL)
        return error_set(err, CARDBOX_INVALID, "tx must not be NULL");
    if (conn == NULL || PQstatus(conn) != CONNECTION_OK)
        return error_set(err, CARDBOX_INVALID, "conn must be an open PGconn");
    if (!conn_is_idle(conn))
        return error_set(err, CARDBOX_INVALID,
                         "conn must be idle, blocking and not in pipeline mode");
    const char *encoding = PQparameterStatus(conn, "client_encoding");
    if (encoding == NULL || strcmp(encoding, "UTF8") != 0)
        return error_set(err, CARDBOX_INVALID, "conn must have client_encoding UTF8");
    *tx = NULL;
    made = calloc(1, sizeof(*made));
    if (made != NULL)
        made->conn = calloc(1, sizeof(*made->conn));
    if (made == NULL || made->conn == NULL) {
        free(made);
        return error_nomem(err);
    }
    made->kind = CLIENT_BORROWED;
    made->conn->pg = conn;
    made->conn->pid = getpid();
    made->conn->borrowed = true;
    *tx = made;
    return CARDBOX_OK;
}

cardbox_status cardbox_commit(cardbox *tx, cardbox_error *err)
{
    cardbox_error own = CARDBOX_ERROR_INIT;
    cardbox_status status;
    if (tx == NULL || tx->kind == CLIENT_POOL)
        return error_set(err, CARDBOX_INVALID, "tx must be a transaction of cardbox_begin");
    if (tx->kind == CLIENT_BORROWED) {
        cardbox_rollback(tx); /* the caller's transaction stays open */
        return CARDBOX_OK;
    }
    if (conn_alive(tx->conn) && PQtransactionStatus(tx->conn->pg) == PQTRANS_INERROR) {
        cardbox_rollback(tx);
        return error_set(err, CARDBOX_CONFLICT,
                         "a statement of the transaction failed, so nothing was kept: begin again");
    }
    if (!conn_alive(tx->conn)) {
        cardbox_rollback(tx);
        error_set(err, CARDBOX_UNAVAILABLE,
                  "the connection was lost before the commit, so nothing was kept: begin again");
        if (err != NULL)
            err->retryable = true;
        return CARDBOX_UNAVAILABLE;
    }
    status = conn_run(tx->conn, STATEMENT_commit, NULL, NULL, &own);
    /* The connection may have broken before or after PostgreSQL executed COMMIT. */
    if ((status == CARDBOX_UNAVAILABLE || status == CARDBOX_TIMEOUT) && !error_is_refusal(&own)) {
        error_set(err, status,
                  "the connection was lost while committing, so the outcome is unknown: run the "
                  "transaction again, which is safe if its writes have ids and keys");
    } else if (status != CARDBOX_OK && err != NULL) {
        *err = own;
    }
    pool_release(tx->pool, tx->conn, status != CARDBOX_OK);
    free(tx);
    return status;
}

void cardbox_rollback(cardbox *tx)
{
    if (tx == NULL || tx->kind == CLIENT_POOL)
        return;
    if (tx->kind == CLIENT_BORROWED) {
        conn_close(tx->conn);
        free(tx);
        return;
    }
    cardbox_status status = conn_alive(tx->conn)
                                ? conn_run(tx->conn, STATEMENT_rollback, NULL, NULL, NULL)
                                : CARDBOX_UNAVAILABLE;
    pool_release(tx->pool, tx->conn, status != CARDBOX_OK);
    free(tx);
}

void cardbox_pool_stats_get(cardbox_pool_stats *out, cardbox *db)
{
    if (out == NULL)
        return;
    *out = (cardbox_pool_stats){0};
    if (db != NULL && db->pool != NULL)
        pool_read_stats(db->pool, out);
}

cardbox_status cardbox_ping(cardbox *db, cardbox_error *err)
{
    if (db == NULL)
        return error_set(err, CARDBOX_INVALID, "db must not be NULL");
    return client_run(db, STATEMENT_ping, NULL, RUN_AGAIN, NULL, err);
}
