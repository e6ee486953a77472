/*
 * db_conn_state.c: the states of a connection, and the checks that lead to them. A connection
 * becomes usable if its database has the schema that this build needs, and the role has the rights.
 * A standby must also be a standby of the primary. An outage is logged once for all loops.
 */
#include <stdio.h>
#include <string.h>
#include "base/clock.h"
#include "app/log.h"
#include "server/batch/db_conns_internal.h"
#include "base/errors.h"
#include "store/admin/database_info.h"
#include "db/schema.h"

enum { INCOMPATIBLE_RETRY_MS = 1000 /* pause between two checks of an incompatible database */ };

/* Returns true if the event is to be logged, because another event was logged last. */
static bool note_event(database_side *side, int what)
{
    return atomic_exchange(&side->last_logged, what) != what;
}

void db_conn_set_state(db_conn *conn, db_conn_state to)
{
    database_side *side = conn->side;
    if (conn->state == to)
        return;
    if (conn->state == DB_CONN_USABLE && atomic_fetch_sub(&side->usable_count, 1) == 1)
        atomic_store(&side->last_lost_ms, clock_ms());
    if (conn->incompatible && (to == DB_CONN_USABLE || to == DB_CONN_DOWN)) {
        atomic_fetch_sub(&side->incompatible, 1);
        conn->incompatible = false;
    }
    tally_sub(&conn->owner->stats->db_conns[conn->group][conn->state], 1);
    tally_add(&conn->owner->stats->db_conns[conn->group][to], 1);
    conn->state = to;
    if (to == DB_CONN_DOWN)
        conn->down_ms = clock_ms();
    if (to == DB_CONN_USABLE) {
        atomic_store(&side->given_up, false);
        if (atomic_fetch_add(&side->usable_count, 1) == 0)
            atomic_store(&side->up_ms, clock_ms());
        atomic_fetch_add(&side->connect_count, 1);
        if (note_event(side, DATABASE_UP))
            log_info(conn->group == DB_STANDBY ? "standby_up" : "database_up", "schema=%d",
                     schema_newest());
    }
    if (to == DB_CONN_INCOMPATIBLE) {
        atomic_fetch_add(&side->incompatible, conn->incompatible ? 0 : 1);
        conn->incompatible = true;
        atomic_store(&side->given_up, true);
    }
}

static void check_again_later(db_conn *conn)
{
    db_conn_set_state(conn, DB_CONN_INCOMPATIBLE);
    conn->retry_ms = clock_ms() + INCOMPATIBLE_RETRY_MS;
}

static void set_incompatible(db_conn *conn, database_state cause, const char *reason)
{
    database_side *side = conn->side;
    atomic_store(&side->cause, (int)cause);
    check_again_later(conn);
    if (!note_event(side, (int)cause))
        return;
    const char *why = log_quoted(slice_of(reason));
    if (conn->group == DB_STANDBY)
        log_warn("standby_incompatible",
                 "reason=%s hint=\"the primary answers its reads meanwhile\"", why);
    else if (cause == DATABASE_FORBIDDEN)
        log_error("database_forbidden",
                  "reason=%s hint=\"grant cardbox_service to the server's role\"", why);
    else if (cause == DATABASE_CHECK_FAILED)
        log_error("database_check_failed", "reason=%s", why);
    else if (cause == DATABASE_POOLED)
        log_error("database_pooled", "reason=%s hint=\"start with --no-prepared-statements\"", why);
    else
        log_error("database_not_migrated",
                  "needed=%d reason=%s hint=\"run cardbox migrate; no restart is needed\"",
                  schema_newest(), why);
}

static void set_pooled(db_conn *conn)
{
    set_incompatible(
        conn, DATABASE_POOLED,
        "a new session has a prepared statement of another connection: the database is "
        "reached through a pooler in transaction mode");
}

/* Returns whether an error shows that a pooler shares sessions: a statement of this name can't
 * exist in a session of the server's own. */
static bool note_pooler(db_conn *conn, const cardbox_error *err)
{
    bool is_pooled = strcmp(err->sqlstate, "42P05") == 0;
    if (is_pooled)
        atomic_store(&conn->side->pooled_ms, clock_ms());
    return is_pooled;
}

/* If the check can't be sent, the connection counts as down. */
static void send_check(db_conn *conn, statement_id id, params *p, query_done done)
{
    if (async_conn_send(conn->async, id, p, NULL, done, conn, NULL) != CARDBOX_OK)
        db_conn_set_state(conn, DB_CONN_DOWN);
}

static void on_compared(void *arg, store_rows *rows, const cardbox_error *err);

static void judge_schema(db_conn *conn, const store_rows *rows)
{
    char reason[64];
    int version;
    schema_state state = schema_compare(rows, &version);
    snprintf(reason, sizeof(reason), "the database is at migration %d", version);
    if (state == SCHEMA_TOO_OLD)
        set_incompatible(conn, DATABASE_NOT_MIGRATED, reason);
    else if (state == SCHEMA_FUNCTIONS)
        set_incompatible(conn, DATABASE_NOT_MIGRATED, "SQL functions of this build are missing");
    else if (rows_null(rows, 0, 2))
        set_incompatible(conn, DATABASE_NOT_MIGRATED, "a function is missing");
    else if (!rows_bool(rows, 0, 2))
        set_incompatible(conn, DATABASE_FORBIDDEN,
                         conn->group == DB_WRITES ? "the role lacks rights to read or write"
                                                  : "the role lacks rights to read");
    else if (conn->group == DB_STANDBY)
        send_check(conn, STATEMENT_cluster_identity, NULL, on_compared);
    else
        db_conn_set_state(conn, DB_CONN_USABLE);
}

/* Decides whether a connection leads to a standby of the primary. While the primary's identity is
 * unknown, the connection is not used, and no error is logged. */
static void judge_cluster_identity(db_conn *conn, const store_rows *rows)
{
    int64_t primary = conn->owner->cluster_identity;
    if (primary != 0 && cluster_identity_of(rows, true) == primary)
        db_conn_set_state(conn, DB_CONN_USABLE);
    else if (primary != 0)
        set_incompatible(
            conn, DATABASE_NOT_MIGRATED,
            "the server is no standby of the primary, or not on its timeline yet, or the database "
            "or role differs");
    else
        check_again_later(conn);
}

static void finish_check(db_conn *conn, store_rows *rows, const cardbox_error *err,
                         void (*judge_rows)(db_conn *conn, const store_rows *rows))
{
    if (rows != NULL) {
        judge_rows(conn, rows);
    } else if (note_pooler(conn, err)) {
        set_pooled(conn);
    } else if (err->status == CARDBOX_FORBIDDEN) {
        set_incompatible(conn, DATABASE_FORBIDDEN, err->message);
    } else if (error_is_schema(err->sqlstate)) {
        set_incompatible(conn, DATABASE_NOT_MIGRATED, err->message);
    } else if (err->status == CARDBOX_INTERNAL || error_is_of_class(err->sqlstate, "53") ||
               strcmp(err->sqlstate, STATE_FILES) == 0) {
        /* PostgreSQL itself failed, for example with a file that it can't read. */
        set_incompatible(conn, DATABASE_CHECK_FAILED, err->message);
    } else {
        db_conn_set_state(conn, DB_CONN_DOWN);
        async_conn_drop(conn->async, err->message);
    }
    rows_free(rows);
}

static void on_checked(void *arg, store_rows *rows, const cardbox_error *err)
{
    finish_check(arg, rows, err, judge_schema);
}

static void on_compared(void *arg, store_rows *rows, const cardbox_error *err)
{
    finish_check(arg, rows, err, judge_cluster_identity);
}

void db_conn_suspend(db_conn *conn, const char *reason)
{
    if (conn->state == DB_CONN_USABLE)
        set_incompatible(conn, DATABASE_NOT_MIGRATED, reason);
}

void db_conns_suspend_standbys(db_conns *conns, const char *reason)
{
    const db_conn_span *span = &conns->group[DB_STANDBY];
    for (size_t i = span->first; i < span->before; i++)
        db_conn_suspend(&conns->all[i], reason);
}

static void send_ready_check(db_conn *conn, query_done done)
{
    params p = PARAMS_INIT;
    schema_params(&p);
    params_bool(&p, conn->group == DB_WRITES);
    send_check(conn, STATEMENT_ready, &p, done);
}

static void on_rechecked(void *arg, store_rows *rows, const cardbox_error *err)
{
    db_conn *conn = arg;
    db_conn_checked done = conn->on_rechecked;
    conn->recheck_pending = false;
    finish_check(conn, rows, err, judge_schema);
    if (done != NULL)
        done(conn->recheck_arg, conn->state == DB_CONN_USABLE);
}

bool db_conn_check_after(db_conn *conn, const cardbox_error *err, db_conn_checked done, void *arg)
{
    if (note_pooler(conn, err))
        return false; /* in its next tick, each loop stops using its connections */
    if (error_is_read_only(err->sqlstate))
        async_conn_drop(conn->async, "the database is read-only");
    if (!error_may_be_incompatible(err) || !db_conn_is_usable(conn) || conn->recheck_pending)
        return false;
    conn->recheck_pending = true;
    conn->on_rechecked = done;
    conn->recheck_arg = arg;
    send_ready_check(conn, on_rechecked);
    if (db_conn_is_usable(conn))
        return true;
    conn->recheck_pending = false;
    return false;
}

void db_conn_check(db_conn *conn)
{
    if (database_is_pooled(conn->side, clock_ms())) {
        set_pooled(conn);
    } else if (conn->incompatible && atomic_load(&conn->side->cause) == DATABASE_POOLED) {
        async_conn_drop(conn->async, "a new connection is checked for a pooler");
    } else {
        db_conn_set_state(conn, DB_CONN_CHECKING);
        send_ready_check(conn, on_checked);
    }
}

void db_conn_check_pooler(db_conn *conn, int64_t now_ms)
{
    if (db_conn_is_usable(conn) && database_is_pooled(conn->side, now_ms))
        set_pooled(conn);
}

void db_conns_follow_primary(db_conns *conns, int64_t now_ms)
{
    const db_conn_span *span = &conns->group[DB_STANDBY];
    int64_t cluster_identity = atomic_load(&conns->server->database.cluster_identity);
    if (cluster_identity == conns->cluster_identity)
        return;
    conns->cluster_identity = cluster_identity;
    for (size_t i = span->first; i < span->before; i++) {
        if (conns->all[i].state == DB_CONN_USABLE)
            db_conn_set_state(&conns->all[i], DB_CONN_INCOMPATIBLE);
        conns->all[i].retry_ms = now_ms;
    }
}

void db_conn_give_up(const db_conn *conn, int64_t now_ms)
{
    database_side *side = conn->side;
    const char *reason = conn->status->reason;
    bool is_away =
        conn->status->failed_attempts >= AWAY_AFTER_FAILURES || db_conn_away_ms(conn) <= now_ms;
    if (!is_away || atomic_load(&side->usable_count) > 0)
        return;
    if (reason[0] == '\0')
        reason = "the database does not accept connections";
    atomic_store(&side->refuses, error_message_is_answer(reason));
    atomic_store(&side->given_up, true);
    if (!note_event(side, DATABASE_AWAY))
        return;
    const char *why = log_quoted(slice_of(reason));
    if (conn->group == DB_STANDBY)
        log_warn("standby_away", "reason=%s hint=\"the primary answers its reads meanwhile\"", why);
    else
        log_error("database_away", "reason=%s%s", why,
                  !atomic_load(&side->refuses) || conn->owner->server->set->no_named_statements
                      ? ""
                      : " hint=\"start with --no-prepared-statements if a pooler refuses it\"");
}
