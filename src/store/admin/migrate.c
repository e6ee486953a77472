/*
 * migrate.c: applies migrations and functions on one plain libpq connection. The pool is not used,
 * because a migration may exceed the time limit of its statements, needs a session-level advisory
 * lock, and sends several statements in one text.
 */
#include "store/admin/migrate.h"

#include <stdio.h>
#include <stdlib.h>
#include "base/clock.h"
#include "db/connect.h"
#include "base/errors.h"
#include "db/statement.h"

/* The first PostgreSQL version with views that check the rights of their caller
 * (security_invoker). */
#define SERVER_VERSION_MIN 150000

/* Maximum number of attempts of a transaction that fails by a conflict. After a deadlock, or if a
 * table stays locked, more attempts may follow until wait_s is over. Migrations of two databases
 * can conflict, because roles belong to the whole cluster. */
#define ATTEMPTS_MAX 6

/* Maximum milliseconds that an attempt waits for the lock of a table. While an attempt waits, other
 * sessions that need the table, even readers, may wait behind it. */
#define LOCK_WAIT_MS 2000

#define LOCK_NAME "cardbox.migrate"

typedef struct migrator {
    PGconn *conn;
    const schema *build;
    size_t applied; /* number of the build's migrations that the database had when the run began */
    bool *current; /* for each function of the build: whether the database has it with the same text
                    */
    const migrate_how *how;
    cardbox_error *err;
} migrator;

/* --- statements --- */

/* `doing` names the failed action, such as "migration 3 (add_cards)". */
static cardbox_status statement_failed(migrator *m, const PGresult *result, const char *doing)
{
    cardbox_error why = CARDBOX_ERROR_INIT;
    cardbox_status status = connect_error(&why, m->conn, result);
    error_set(m->err, status, "%s failed: %s", doing, why.message);
    memcpy(m->err->sqlstate, why.sqlstate, sizeof(why.sqlstate));
    return status;
}

static bool succeeded(const PGresult *result)
{
    ExecStatusType status = PQresultStatus(result);
    return status == PGRES_TUPLES_OK || status == PGRES_COMMAND_OK || status == PGRES_EMPTY_QUERY;
}

static cardbox_status run_sql(migrator *m, const char *sql, const char *doing)
{
    PGresult *result = PQexec(m->conn, sql);
    cardbox_status status = succeeded(result) ? CARDBOX_OK : statement_failed(m, result, doing);
    PQclear(result);
    return status;
}

static cardbox_status exec_statement(migrator *m, statement_id id, const char *doing)
{
    return run_sql(m, statement_get(id)->text, doing);
}

static cardbox_status run_with_params(migrator *m, PGresult **out, statement_id id, int count,
                                      const char *const *values, const char *doing)
{
    PGresult *result =
        PQexecParams(m->conn, statement_get(id)->text, count, NULL, values, NULL, NULL, 0);
    bool ok = succeeded(result);
    cardbox_status status = ok ? CARDBOX_OK : statement_failed(m, result, doing);
    if (out != NULL)
        *out = ok ? result : NULL;
    if (out == NULL || !ok)
        PQclear(result);
    return status;
}

static cardbox_status connect_database(migrator *m, const char *conninfo)
{
    connect_params how;
    cardbox_options given = CARDBOX_OPTIONS_INIT, options;
    given.conninfo = conninfo;
    given.application_name = "cardbox-migrate";
    /* this option also leaves statement_timeout unset, since building an index may last long */
    given.no_named_statements = true;
    options_complete(&options, &given);
    cardbox_status status = conninfo_check(options.conninfo, m->err);
    if (status != CARDBOX_OK)
        return status;
    if (connect_params_fill(&how, &options))
        m->conn = PQconnectdbParams(how.keys, how.values, 1);
    if (m->conn == NULL)
        return error_nomem(m->err);
    if (PQstatus(m->conn) != CONNECTION_OK)
        return error_set(m->err, CARDBOX_UNAVAILABLE, "cannot connect to the database: %.*s",
                         connect_first_line(PQerrorMessage(m->conn)), PQerrorMessage(m->conn));
    connect_silence(m->conn);
    if (PQserverVersion(m->conn) < SERVER_VERSION_MIN)
        return error_set(m->err, CARDBOX_INVALID,
                         "the server is PostgreSQL %d, but 15 or later is needed",
                         PQserverVersion(m->conn) / 10000);
    return CARDBOX_OK;
}

/* Sets a safe search_path, so that functions that other roles have created do not run with the
 * rights of the migrating role. */
static cardbox_status guard(migrator *m)
{
    char pid[16];
    const char *values[] = {pid};
    snprintf(pid, sizeof(pid), "%d", PQbackendPID(m->conn));
    return run_with_params(m, NULL, STATEMENT_connection_guard, 1, values,
                           "setting the search path");
}

/* Rejects a pooler in transaction mode: behind it a session of PostgreSQL would keep the advisory
 * lock after the migration, and later migrations would wait. */
static cardbox_status check_direct(migrator *m)
{
    PGresult *result;
    cardbox_status status = run_with_params(m, &result, STATEMENT_migrate_backend_pid, 0, NULL,
                                            "looking for a connection pooler");
    if (status != CARDBOX_OK)
        return status;
    bool own = strtol(PQgetvalue(result, 0, 0), NULL, 10) == PQbackendPID(m->conn);
    PQclear(result);
    return own ? CARDBOX_OK
               : error_set(m->err, CARDBOX_INVALID,
                           "this connection goes through a pooler such as PgBouncer: give the "
                           "connection string of PostgreSQL itself");
}

/* --- locks --- */

static cardbox_status wait_for_locks(migrator *m, int64_t ms)
{
    char text[24];
    const char *values[] = {text, "false"};
    snprintf(text, sizeof(text), "%lld", (long long)(ms > 0 ? ms : 1));
    return run_with_params(m, NULL, STATEMENT_lock_wait, 2, values, "setting lock_timeout");
}

/* Sets a message that names the session that holds the advisory lock `name` or, if `name` is NULL,
 * locks of CardBox's tables. Returns CARDBOX_BUSY, or the failure of the statement that looks for
 * the session. */
static cardbox_status held(migrator *m, const char *what, const char *name)
{
    const char *values[] = {name, "true"};
    PGresult *result = NULL;
    cardbox_status status = run_with_params(m, &result, STATEMENT_lock_holder, 2, values, what);
    if (status != CARDBOX_OK)
        return status;
    error_set(m->err, CARDBOX_BUSY, "%s: waited %u s for a lock: %s", what, m->how->wait_s,
              PQntuples(result) > 0 ? PQgetvalue(result, 0, 0) : "the lock is free now");
    PQclear(result);
    return CARDBOX_BUSY;
}

static cardbox_status lock(migrator *m)
{
    static const char doing[] = "taking the lock of migrations";
    const char *values[] = {LOCK_NAME};
    int64_t deadline_ms = clock_ms() + m->how->wait_s * INT64_C(1000);
    for (unsigned attempt = 1;; attempt++) {
        PGresult *result;
        cardbox_status status =
            run_with_params(m, &result, STATEMENT_migrate_lock, 1, values, doing);
        if (status != CARDBOX_OK)
            return status;
        bool taken = PQgetvalue(result, 0, 0)[0] == 't';
        PQclear(result);
        if (taken)
            return CARDBOX_OK;
        if (clock_ms() >= deadline_ms)
            return held(m, doing, LOCK_NAME);
        clock_sleep_ms(clock_backoff_ms(attempt, 20, 500));
    }
}

/* --- comparing the database with the list --- */

static const migration *newest(const migrator *m)
{
    return &m->build->migrations[m->build->migration_count - 1];
}

static cardbox_status too_new(migrator *m, const char *version)
{
    return error_set(m->err, CARDBOX_CONFLICT,
                     "the database is at migration %s, this build ends at %d: use a newer cardbox",
                     version, newest(m)->version);
}

static cardbox_status compare_recorded(migrator *m, const char *version, const char *recorded)
{
    if (m->applied == m->build->migration_count)
        return too_new(m, version);
    const migration *next = &m->build->migrations[m->applied];
    if (strtol(version, NULL, 10) != next->version)
        return error_set(m->err, CARDBOX_CONFLICT,
                         "the database has migration %s but not %d (%s): restore its table "
                         "cardbox.migrations, or the database, from a backup",
                         version, next->version, next->name);
    if (strcmp(next->checksum, recorded) != 0)
        return error_set(m->err, CARDBOX_CONFLICT,
                         "migration %d (%s) was changed after it was applied: use the build that "
                         "applied it, and put the change into a new migration",
                         next->version, next->name);
    m->applied++;
    return CARDBOX_OK;
}

static cardbox_status read_applied(migrator *m)
{
    PGresult *rows = NULL;
    m->applied = 0;
    cardbox_status status =
        run_with_params(m, &rows, STATEMENT_migrate_list, 0, NULL, "reading cardbox.migrations");
    /* A migration newer than the build is reported before a gap or a changed migration, since a
     * newer build explains both. */
    int last = PQntuples(rows) - 1;
    if (status == CARDBOX_OK && last >= 0 &&
        strtol(PQgetvalue(rows, last, 0), NULL, 10) > newest(m)->version)
        status = too_new(m, PQgetvalue(rows, last, 0));
    for (int row = 0; status == CARDBOX_OK && row < PQntuples(rows); row++)
        status = compare_recorded(m, PQgetvalue(rows, row, 0), PQgetvalue(rows, row, 2));
    PQclear(rows);
    return status;
}

/* Rejects a database that a newer release has migrated: its functions may be newer even if its
 * migrations are those of the build. */
static cardbox_status check_release(migrator *m)
{
    const char *values[] = {m->build->release};
    PGresult *rows = NULL;
    cardbox_status status = run_with_params(m, &rows, STATEMENT_migrate_newer_release, 1, values,
                                            "reading the recorded release");
    if (status == CARDBOX_OK && PQntuples(rows) > 0)
        status = error_set(m->err, CARDBOX_CONFLICT,
                           "the database was migrated by release %s, this is %s: nothing was "
                           "changed; use a newer cardbox",
                           PQgetvalue(rows, 0, 0), m->build->release);
    PQclear(rows);
    return status;
}

static void mark_function(migrator *m, const char *name, const char *recorded)
{
    for (size_t i = 0; i < m->build->function_count; i++)
        if (strcmp(m->build->functions[i].name, name) == 0)
            m->current[i] = strcmp(m->build->functions[i].checksum, recorded) == 0;
}

static cardbox_status read_functions(migrator *m)
{
    PGresult *rows = NULL;
    cardbox_status status = run_with_params(m, &rows, STATEMENT_migrate_functions, 0, NULL,
                                            "reading cardbox.functions");
    for (int row = 0; status == CARDBOX_OK && row < PQntuples(rows); row++)
        mark_function(m, PQgetvalue(rows, row, 0), PQgetvalue(rows, row, 1));
    PQclear(rows);
    return status;
}

static cardbox_status read_record(migrator *m)
{
    cardbox_status status = read_applied(m);
    if (status == CARDBOX_OK)
        status = check_release(m);
    return status == CARDBOX_OK ? read_functions(m) : status;
}

/* Sets *known to whether the database has a table of migrations. Rejects a database of a
 * development version before the first release, whose migrations differ from those of the build. */
static cardbox_status is_known(migrator *m, bool *known)
{
    PGresult *rows;
    cardbox_status status = run_with_params(m, &rows, STATEMENT_migrate_has_record, 0, NULL,
                                            "looking for cardbox.migrations");
    if (status != CARDBOX_OK)
        return status;
    *known = PQgetvalue(rows, 0, 0)[0] == 't';
    if (PQgetvalue(rows, 0, 1)[0] == 't')
        status = error_set(
            m->err, CARDBOX_CONFLICT,
            "the database is of a development version, which this release can't migrate. Move each "
            "project with `cardbox export` of the old program and `cardbox import` of this one "
            "into a new database. Tokens, grants of worker roles, revisions of cards, earlier "
            "versions of boxes, idempotency keys, leases and events of tasks and reasons of "
            "cancellation do not move");
    PQclear(rows);
    return status;
}

/* --- applying --- */

static cardbox_status record_migration(migrator *m, const migration *one, const char *doing)
{
    char version[16];
    const char *values[] = {version, one->name, one->checksum, m->build->release};
    snprintf(version, sizeof(version), "%d", one->version);
    return run_with_params(m, NULL, STATEMENT_migrate_record, 4, values, doing);
}

static cardbox_status apply_function(migrator *m, const sql_function *one)
{
    char doing[96];
    const char *values[] = {one->name, one->checksum, m->build->release};
    snprintf(doing, sizeof(doing), "function %s", one->name);
    cardbox_status status = run_sql(m, one->text, doing);
    if (status == CARDBOX_OK)
        status = run_with_params(m, NULL, STATEMENT_migrate_record_function, 3, values, doing);
    return status;
}

static bool is_due(const migrator *m, const migration *with, size_t function)
{
    char needs[96];
    if (m->current[function])
        return false;
    snprintf(needs, sizeof(needs), "\n-- needs: %s\n", m->build->functions[function].name);
    return with == NULL || strstr(with->text, needs) != NULL;
}

static cardbox_status apply_functions(migrator *m, const migration *with, const char *doing)
{
    cardbox_status status = exec_statement(m, STATEMENT_migrate_functions_begin, doing);
    for (size_t i = 0; status == CARDBOX_OK && i < m->build->function_count; i++)
        if (is_due(m, with, i))
            status = apply_function(m, &m->build->functions[i]);
    return status == CARDBOX_OK ? exec_statement(m, STATEMENT_migrate_functions_end, doing)
                                : status;
}

static bool is_deadlock(const cardbox_error *err)
{
    return strcmp(err->sqlstate, "40P01") == 0;
}

/* After a deadlock: locks all tables that a migration names, before its first statement. A
 * migration that builds an index and then drops one blocks writers first and readers later. A
 * transaction that has read the table and then writes to it would wait for the migration, and the
 * migration for the transaction: a deadlock. */
static cardbox_status lock_tables(migrator *m, const migration *one, const char *doing)
{
    const char *values[] = {one->text};
    PGresult *result = NULL;
    cardbox_status status =
        run_with_params(m, &result, STATEMENT_migrate_lock_tables, 1, values, doing);
    if (status == CARDBOX_OK && !PQgetisnull(result, 0, 0))
        status = run_sql(m, PQgetvalue(result, 0, 0), doing);
    PQclear(result);
    return status;
}

/* One transaction of the migrator: it applies functions, and perhaps a migration. */
typedef struct unit {
    const migration *one; /* NULL: no migration, only functions */
    bool only_functions; /* true: applies only the functions that the migration needs; the migration
                            itself runs outside of a transaction */
    const char *doing;
} unit;

static cardbox_status apply_once(migrator *m, const unit *u, bool alone)
{
    bool migrates = u->one != NULL && !u->only_functions;
    cardbox_status status = exec_statement(m, STATEMENT_begin, u->doing);
    if (status == CARDBOX_OK && alone && migrates)
        status = lock_tables(m, u->one, u->doing);
    if (status == CARDBOX_OK)
        status = apply_functions(m, u->one, u->doing);
    if (status == CARDBOX_OK && migrates)
        status = run_sql(m, u->one->text, u->doing);
    if (status == CARDBOX_OK && migrates)
        status = record_migration(m, u->one, u->doing);
    if (status == CARDBOX_OK)
        status = exec_statement(m, STATEMENT_commit, u->doing);
    for (size_t i = 0; status == CARDBOX_OK && i < m->build->function_count; i++)
        m->current[i] = m->current[i] || is_due(m, u->one, i);
    if (status != CARDBOX_OK)
        PQclear(PQexec(m->conn, statement_get(STATEMENT_rollback)->text));
    return status;
}

/* True if a concurrent migration of another database may have caused the failure, so that a retry
 * may succeed. */
static bool is_collision(const cardbox_error *err)
{
    static const char *const states[] = {"40001", "40P01", "23505", "XX000"};
    for (size_t i = 0; i < sizeof(states) / sizeof(states[0]); i++)
        if (strcmp(err->sqlstate, states[i]) == 0)
            return true;
    return false;
}

static bool may_work_later(const migrator *m, unsigned attempt, int64_t deadline_ms)
{
    if (attempt < ATTEMPTS_MAX && is_collision(m->err))
        return true;
    return (m->err->status == CARDBOX_BUSY || is_deadlock(m->err)) && clock_ms() < deadline_ms;
}

static cardbox_status apply_in_transaction(migrator *m, const unit *u)
{
    int64_t wait_ms = m->how->wait_s * INT64_C(1000), deadline_ms = clock_ms() + wait_ms;
    cardbox_status status = wait_for_locks(m, wait_ms < LOCK_WAIT_MS ? wait_ms : LOCK_WAIT_MS);
    bool alone = false;
    for (unsigned attempt = 1; status == CARDBOX_OK; attempt++) {
        status = apply_once(m, u, alone);
        if (status == CARDBOX_OK || !may_work_later(m, attempt, deadline_ms))
            break;
        alone = alone || is_deadlock(m->err);
        clock_sleep_ms(clock_backoff_ms(attempt, 20, 500));
        status = CARDBOX_OK;
    }
    return status;
}

/* Runs each statement of a migration by itself. PostgreSQL runs several statements in one text as
 * one transaction. */
static cardbox_status apply_by_statement(migrator *m, const migration *one, const char *doing)
{
    cardbox_status status = apply_in_transaction(m, &(unit){one, true, doing});
    if (status == CARDBOX_OK)
        status = wait_for_locks(m, m->how->wait_s * INT64_C(1000));
    for (const char *at = one->text; status == CARDBOX_OK && *at != '\0';) {
        const char *end = strstr(at, ";\n");
        size_t length = end ? (size_t)(end + 2 - at) : strlen(at);
        char *sql = strndup(at, length);
        status = sql ? run_sql(m, sql, doing) : error_nomem(m->err);
        free(sql);
        at += length;
    }
    return status == CARDBOX_OK ? record_migration(m, one, doing) : status;
}

static cardbox_status apply_migration(migrator *m, const migration *one)
{
    static const char alone[] = "-- no-transaction\n";
    char doing[96];
    snprintf(doing, sizeof(doing), "migration %d (%s)", one->version, one->name);
    cardbox_status status = exec_statement(m, STATEMENT_migrate_grant_roles, doing);
    if (status != CARDBOX_OK)
        return status;
    status = strncmp(one->text, alone, strlen(alone)) == 0
                 ? apply_by_statement(m, one, doing)
                 : apply_in_transaction(m, &(unit){one, false, doing});
    return status == CARDBOX_BUSY ? held(m, doing, NULL) : status;
}

static void report(const migrator *m, int version, const char *name, bool now)
{
    if (m->how->report != NULL)
        m->how->report(m->how->arg, &(migrate_step){version, name, now});
}

/* In other encodings than UTF-8 some cards could not be stored. */
static cardbox_status check_encoding(migrator *m)
{
    const char *encoding = PQparameterStatus(m->conn, "server_encoding");
    if (encoding == NULL || strcmp(encoding, "UTF8") == 0)
        return CARDBOX_OK;
    return error_set(
        m->err, CARDBOX_INVALID,
        "the database's encoding is %s, but UTF8 is needed: make it by CREATE DATABASE "
        "... ENCODING 'UTF8' TEMPLATE template0",
        encoding);
}

static cardbox_status compare_all(migrator *m)
{
    bool known = false, dry_run = m->how->dry_run;
    cardbox_status status = wait_for_locks(m, m->how->wait_s * INT64_C(1000));
    if (status == CARDBOX_OK)
        status = is_known(m, &known);
    /* The schema is created only if it is missing, so that a role that may not create schemas can
     * check and migrate an existing one. */
    if (status == CARDBOX_OK && !known)
        status = check_encoding(m);
    if (status == CARDBOX_OK && !known && !dry_run)
        status = exec_statement(m, STATEMENT_migrate_begin, "making cardbox.migrations");
    if (status == CARDBOX_OK && (known || !dry_run))
        status = read_record(m);
    return status == CARDBOX_BUSY ? held(m, "reading cardbox.migrations", NULL) : status;
}

static cardbox_status run_migrations(migrator *m)
{
    for (size_t i = 0; i < m->build->migration_count; i++) {
        const migration *one = &m->build->migrations[i];
        bool missing = i >= m->applied;
        cardbox_status status = missing && !m->how->dry_run ? apply_migration(m, one) : CARDBOX_OK;
        if (status != CARDBOX_OK)
            return status;
        report(m, one->version, one->name, missing);
    }
    return CARDBOX_OK;
}

/* `were_current`: the functions that were current before the migrations. All other functions are
 * reported as applied now, even if a migration needed and applied them before. */
static cardbox_status run_functions(migrator *m, const bool *were_current)
{
    static const char doing[] = "applying the functions";
    size_t count = m->build->function_count, due = 0;
    cardbox_status status = CARDBOX_OK;
    for (size_t i = 0; i < count; i++)
        due += is_due(m, NULL, i);
    if (due > 0 && !m->how->dry_run)
        status = apply_in_transaction(m, &(unit){.doing = doing});
    if (status == CARDBOX_BUSY)
        return held(m, doing, NULL);
    for (size_t i = 0; status == CARDBOX_OK && i < count; i++)
        report(m, 0, m->build->functions[i].name, !were_current[i]);
    return status;
}

static cardbox_status run_all(migrator *m)
{
    size_t size = (m->build->function_count + 1) * sizeof(*m->current);
    bool *were_current = malloc(size);
    if (were_current == NULL)
        return error_nomem(m->err);
    memcpy(were_current, m->current, size);
    cardbox_status status = run_migrations(m);
    if (status == CARDBOX_OK)
        status = run_functions(m, were_current);
    free(were_current);
    return status;
}

static cardbox_status check_and_apply(migrator *m)
{
    bool dry_run = m->how->dry_run;
    cardbox_status status = CARDBOX_OK;
    if (!dry_run)
        status = check_direct(m);
    if (!dry_run && status == CARDBOX_OK)
        status = lock(m);
    if (status == CARDBOX_OK)
        status = compare_all(m);
    return status == CARDBOX_OK ? run_all(m) : status;
}

cardbox_status migrate_run_schema(const char *conninfo, const schema *build, const migrate_how *how,
                                  cardbox_error *err)
{
    cardbox_error unasked = CARDBOX_ERROR_INIT;
    migrator m = {.build = build, .how = how, .err = err ? err : &unasked};
    m.current = calloc(build->function_count + 1, sizeof(*m.current));
    if (m.current == NULL)
        return error_nomem(m.err);
    cardbox_status status = connect_database(&m, conninfo);
    if (status == CARDBOX_OK)
        status = guard(&m);
    if (status == CARDBOX_OK)
        status = check_and_apply(&m);
    PQfinish(m.conn); /* PQfinish also releases the advisory lock */
    free(m.current);
    return status;
}

cardbox_status migrate_run(const char *conninfo, const migrate_how *how, cardbox_error *err)
{
    return migrate_run_schema(conninfo, schema_of_build(), how, err);
}
