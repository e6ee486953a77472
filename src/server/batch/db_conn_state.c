/*
 * db_conn_state.c: what a connection is found to be: each is checked against the schema that this
 * build needs before it is used. And what the other loops and the log are last_logged of it.
 */
#include <stdio.h>
#include <string.h>
#include "base/clock.h"
#include "app/log.h"
#include "server/batch/db_conns_internal.h"
#include "base/errors.h"
#include "store/admin/cluster_identity.h"
#include "db/schema.h"

enum {
    INCOMPATIBLE_RETRY_MS = 1000, /* until a database that was not migrated is looked at again */
    READY_BYTES_MAX = SCHEMA_PARAMS_BYTES + 64
};

static bool is_new_event(database_side *of, int what)
{
    return atomic_exchange(&of->last_logged, what) != what;
}

void db_conn_set_state(db_conn *k, db_conn_state to)
{
    database_side *of = k->all->of;
    if (k->state == to)
        return;
    if (k->state == DB_CONN_USABLE && atomic_fetch_sub(&of->usable_count, 1) == 1)
        atomic_store(&of->last_lost_ms, clock_ms());
    if (k->incompatible && (to == DB_CONN_USABLE || to == DB_CONN_DOWN)) {
        atomic_fetch_sub(&of->incompatible, 1);
        k->incompatible = false;
    }
    tally_sub(&k->all->stats->db_conns[k->group][k->state], 1);
    tally_add(&k->all->stats->db_conns[k->group][to], 1);
    k->state = to;
    if (to == DB_CONN_DOWN)
        k->down_ms = clock_ms();
    if (to == DB_CONN_USABLE) {
        atomic_store(&of->given_up, false);
        if (atomic_fetch_add(&of->usable_count, 1) == 0)
            atomic_store(&of->up_ms, clock_ms());
        atomic_fetch_add(&of->connect_count, 1);
        if (is_new_event(of, LOGGED_UP))
            log_info(k->all->are_of_standby ? "standby_up" : "database_up", "schema=%d",
                     schema_newest());
    }
    if (to == DB_CONN_INCOMPATIBLE) {
        atomic_fetch_add(&of->incompatible, k->incompatible ? 0 : 1);
        k->incompatible = true;
        atomic_store(&of->given_up, true);
    }
}

static void check_again_later(db_conn *k)
{
    db_conn_set_state(k, DB_CONN_INCOMPATIBLE);
    k->retry_ms = clock_ms() + INCOMPATIBLE_RETRY_MS;
}

static void set_incompatible(db_conn *k, incompatible_cause cause, const char *reason)
{
    static const last_logged NEWS[] = {[INCOMPATIBLE_SCHEMA] = LOGGED_INCOMPATIBLE,
                                       [INCOMPATIBLE_RIGHTS] = LOGGED_FORBIDDEN,
                                       [INCOMPATIBLE_CHECK] = LOGGED_CHECK_FAILED};
    database_side *of = k->all->of;
    char why[LOG_QUOTE_SIZE];
    atomic_store(&of->cause, (int)cause);
    check_again_later(k);
    if (!is_new_event(of, (int)NEWS[cause]))
        return;
    log_quote(why, reason, strlen(reason));
    if (k->all->are_of_standby)
        log_warn("standby_incompatible", "reason=%s hint=\"the primary serves what it would\"",
                 why);
    else if (cause == INCOMPATIBLE_RIGHTS)
        log_error("database_forbidden",
                  "reason=%s hint=\"grant cardbox_service to the server's role\"", why);
    else if (cause == INCOMPATIBLE_CHECK)
        log_error("database_check_failed", "reason=%s", why);
    else
        log_error("database_not_migrated",
                  "needed=%d reason=%s hint=\"run cardbox migrate; no restart is needed\"",
                  schema_newest(), why);
}

static void send_check(db_conn *k, statement_id id, params *p, query_done done)
{
    if (async_conn_send(k->conn, id, p, NULL, done, k, NULL) != CARDBOX_OK)
        db_conn_set_state(k, DB_CONN_DOWN);
}

static void on_compared(void *arg, store_rows *rows, const cardbox_error *err);

static void judge_schema(db_conn *k, const store_rows *rows)
{
    char reason[64];
    int version;
    schema_state state = schema_compare(rows, &version);
    snprintf(reason, sizeof(reason), "it is at migration %d", version);
    if (state == SCHEMA_TOO_OLD)
        set_incompatible(k, INCOMPATIBLE_SCHEMA, reason);
    else if (state == SCHEMA_FUNCTIONS)
        set_incompatible(k, INCOMPATIBLE_SCHEMA, "it has not the SQL functions of this build");
    else if (rows_null(rows, 0, 2))
        set_incompatible(k, INCOMPATIBLE_SCHEMA, "a function is missing");
    else if (!rows_bool(rows, 0, 2))
        set_incompatible(k, INCOMPATIBLE_RIGHTS,
                         k->group == DB_WRITES ? "the role may not write to all tables"
                                               : "the role may not read all tables");
    else if (k->all->are_of_standby)
        send_check(k, STATEMENT_cluster_identity, NULL, on_compared);
    else
        db_conn_set_state(k, DB_CONN_USABLE);
}

/* Before the primary is known nothing is said against a standby. */
static void judge_cluster_identity(db_conn *k, const store_rows *rows)
{
    int64_t primary = k->all->cluster_identity;
    if (primary != 0 && cluster_identity_of(rows, true) == primary)
        db_conn_set_state(k, DB_CONN_USABLE);
    else if (primary != 0)
        set_incompatible(
            k, INCOMPATIBLE_SCHEMA,
            "it is no standby of the primary's database, or not yet of its timeline, or asked "
            "as another role");
    else
        check_again_later(k);
}

/* A check that PostgreSQL refused for a reason of its own, such as a file that it can't read. */
static bool is_check_failure(const cardbox_error *err)
{
    return err->status == CARDBOX_INTERNAL || error_is_of_class(err->sqlstate, "53") ||
           strcmp(err->sqlstate, STATE_FILES) == 0;
}

/* What a check gave, or not. */
static void finish_check(db_conn *k, store_rows *rows, const cardbox_error *err,
                         void (*judge_rows)(db_conn *k, const store_rows *rows))
{
    if (rows != NULL) {
        judge_rows(k, rows);
    } else if (err->status == CARDBOX_FORBIDDEN) {
        set_incompatible(k, INCOMPATIBLE_RIGHTS, err->message);
    } else if (error_is_schema(err->sqlstate)) {
        set_incompatible(k, INCOMPATIBLE_SCHEMA, err->message);
    } else if (is_check_failure(err)) {
        set_incompatible(k, INCOMPATIBLE_CHECK, err->message);
    } else {
        db_conn_set_state(k, DB_CONN_DOWN);
        async_conn_drop(k->conn, err->message);
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

void db_conn_recheck(db_conn *k, const char *reason)
{
    if (k->state == DB_CONN_USABLE)
        set_incompatible(k, INCOMPATIBLE_SCHEMA, reason);
}

/* Who waits for another connection to a standby that is silent must not wait as long once more. */
void db_conns_recheck_all(db_conns *l, const char *reason)
{
    for (size_t i = 0; i < l->count; i++)
        db_conn_recheck(&l->conn[i], reason);
}

static void send_ready_check(db_conn *k, query_done done)
{
    params p;
    params_init(&p, READY_BYTES_MAX);
    schema_params(&p);
    params_bool(&p, k->group == DB_WRITES);
    send_check(k, STATEMENT_ready, &p, done);
}

/* A connection that is found to be fit stays as it is. */
static void on_rechecked(void *arg, store_rows *rows, const cardbox_error *err)
{
    db_conn *k = arg;
    db_conn_checked done = k->on_rechecked;
    k->is_rechecked = false;
    finish_check(k, rows, err, judge_schema);
    if (done != NULL)
        done(k->recheck_arg, k->state == DB_CONN_USABLE);
}

bool db_conn_check_after(db_conn *k, const cardbox_error *err, db_conn_checked done, void *arg)
{
    if (error_is_read_only(err->sqlstate))
        async_conn_drop(k->conn, "the database is read-only");
    if (!error_may_be_incompatible(err) || !db_conn_is_usable(k) || k->is_rechecked)
        return false;
    k->is_rechecked = true;
    k->on_rechecked = done;
    k->recheck_arg = arg;
    send_ready_check(k, on_rechecked);
    if (db_conn_is_usable(k))
        return true;
    k->is_rechecked = false;
    return false;
}

void db_conn_check(db_conn *k)
{
    db_conn_set_state(k, DB_CONN_CHECKING);
    send_ready_check(k, on_checked);
}

/* That it has another primary than ours does not show otherwise. */
void db_conns_follow_primary(db_conns *l, int64_t now_ms)
{
    int64_t cluster_identity = atomic_load(&l->server->database.cluster_identity);
    if (cluster_identity == l->cluster_identity)
        return;
    l->cluster_identity = cluster_identity;
    for (size_t i = 0; i < l->count; i++) {
        if (l->conn[i].state == DB_CONN_USABLE)
            db_conn_set_state(&l->conn[i], DB_CONN_INCOMPATIBLE);
        l->conn[i].retry_ms = now_ms;
    }
}

void db_conn_report_away(const db_conn *k, int64_t now_ms)
{
    database_side *of = k->all->of;
    char why[LOG_QUOTE_SIZE];
    const char *reason = k->status->reason;
    bool is_away =
        k->status->failed_attempts >= AWAY_AFTER_FAILURES || db_conn_away_ms(k) <= now_ms;
    if (!is_away || atomic_load(&of->usable_count) > 0)
        return;
    if (reason[0] == '\0')
        reason = "it does not accept connections";
    atomic_store(&of->refuses, error_message_is_answer(reason));
    atomic_store(&of->given_up, true);
    if (!is_new_event(of, LOGGED_DOWN))
        return;
    log_quote(why, reason, strlen(reason));
    if (k->all->are_of_standby)
        log_warn("standby_away", "reason=%s hint=\"the primary serves what it would\"", why);
    else
        log_error("database_away", "reason=%s", why);
}
