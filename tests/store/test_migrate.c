/*
 * test_migrate.c: migrations of schemas that no build has: files outside of a transaction, broken
 * in the middle and resumed; functions that they need; two processes at one of them; and others at
 * work meanwhile.
 */
#include "store/store_test.h"

#include <libpq-fe.h>
#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>
#include "store/admin/migrate.h"

enum { MIGRATIONS_MAX = 32, FUNCTIONS_MAX = 256 };

/* The build's own schema, and one migration and perhaps one function more. */
typedef struct longer {
    migration migrations[MIGRATIONS_MAX];
    sql_function functions[FUNCTIONS_MAX];
    schema schema;
} longer;

/* The texts stand for their checksums. */
static void lengthen(longer *out, const char *text, const char *function)
{
    out->schema = *schema_of_build();
    size_t migrations = out->schema.migration_count, functions = out->schema.function_count;
    assert_true(migrations < MIGRATIONS_MAX && functions < FUNCTIONS_MAX);
    memcpy(out->migrations, out->schema.migrations, migrations * sizeof(migration));
    memcpy(out->functions, out->schema.functions, functions * sizeof(sql_function));
    out->migrations[migrations] =
        (migration){out->migrations[migrations - 1].version + 1, "one_more", text, text};
    out->functions[functions] = (sql_function){"one_more", function, function};
    out->schema.migrations = out->migrations;
    out->schema.migration_count++;
    out->schema.functions = out->functions;
    out->schema.function_count += function != NULL;
}

static void count_applied(void *arg, const migrate_step *step)
{
    *(unsigned *)arg += step->applied_now;
}

static cardbox_status run_with(const char *text, const char *function, unsigned wait_s,
                               bool dry_run, unsigned *applied, cardbox_error *err)
{
    longer build;
    migrate_how how = {dry_run, wait_s, count_applied, applied};
    *applied = 0;
    lengthen(&build, text, function);
    return migrate_run_schema(test_dsn(), &build.schema, &how, err);
}

static cardbox_status run_for(unsigned wait_s, const char *text, bool dry_run, unsigned *applied,
                              cardbox_error *err)
{
    return run_with(text, NULL, wait_s, dry_run, applied, err);
}

static cardbox_status run(const char *text, bool dry_run, unsigned *applied, cardbox_error *err)
{
    return run_for(MIGRATE_WAIT_S, text, dry_run, applied, err);
}

static const char concurrent[] =
    "-- no-transaction\n"
    "-- What broke in the middle before is removed first.\n"
    "DROP INDEX CONCURRENTLY IF EXISTS cardbox.one_more;\n"
    "CREATE INDEX CONCURRENTLY one_more ON cardbox.cards (tenant_id, sealed)\n"
    "    WHERE sealed;\n";

static void keeps_nothing_of_a_failure(void **state)
{
    unsigned applied;
    cardbox_error err = CARDBOX_ERROR_INIT;
    (void)state;
    assert_int_equal(
        run("CREATE TABLE cardbox.half ();\nSELECT nonsense;\n", false, &applied, &err),
        CARDBOX_INTERNAL);
    assert_non_null(strstr(err.message, "(one_more) failed: column \"nonsense\" does not exist"));
    assert_int_equal(applied, 0);
    /* The table is not there: making it again, the failure is the same one. */
    assert_int_equal(
        run("CREATE TABLE cardbox.half ();\nSELECT nonsense;\n", false, &applied, &err),
        CARDBOX_INTERNAL);
    assert_non_null(strstr(err.message, "nonsense"));
}

static void resumes_outside_of_a_transaction(void **state)
{
    char broken[sizeof(concurrent) + 32];
    unsigned applied;
    cardbox_error err = CARDBOX_ERROR_INIT;
    (void)state;
    snprintf(broken, sizeof(broken), "%sSELECT nonsense;\n", concurrent);
    assert_int_equal(run(broken, false, &applied, &err), CARDBOX_INTERNAL);
    assert_int_equal(applied, 0);
    assert_ok(run(concurrent, true, &applied, &err), &err);
    assert_int_equal(applied, 1);
}

static void *run_in_thread(void *arg)
{
    unsigned *applied = arg;
    cardbox_error err = CARDBOX_ERROR_INIT;
    if (run(concurrent, false, applied, &err) != CARDBOX_OK)
        *applied = 1000;
    return NULL;
}

/* Finds what the test before has left. Who waits must not hold up CREATE INDEX CONCURRENTLY, which
 * waits for everybody's statements. */
static void several_at_once(void **state)
{
    enum { COUNT = 4 };
    pthread_t threads[COUNT];
    unsigned applied[COUNT], sum = 0;
    (void)state;
    for (int i = 0; i < COUNT; i++)
        assert_int_equal(pthread_create(&threads[i], NULL, run_in_thread, &applied[i]), 0);
    for (int i = 0; i < COUNT; i++) {
        pthread_join(threads[i], NULL);
        sum += applied[i];
    }
    assert_int_equal(sum, 1);
}

static void refuses_what_changed(void **state)
{
    static const migrate_how dry = {.dry_run = true};
    unsigned applied;
    cardbox_error err = CARDBOX_ERROR_INIT;
    (void)state;
    assert_int_equal(run("SELECT 1;\n", false, &applied, &err), CARDBOX_CONFLICT);
    assert_non_null(strstr(err.message, "(one_more) was changed after it was applied"));
    assert_int_equal(migrate_run(test_dsn(), &dry, &err), CARDBOX_CONFLICT);
    assert_non_null(strstr(err.message, "use a newer cardbox"));
    assert_int_equal(migrate_run("nix=1", &dry, NULL), CARDBOX_INVALID);
}

/* Another session, in whose transaction `sql` was run. */
static PGconn *hold(const char *sql)
{
    PGconn *conn = PQconnectdb(test_dsn());
    PQclear(PQexec(conn, "SET application_name = 'holder'; BEGIN"));
    PGresult *result = PQexec(conn, sql);
    assert_int_equal(PQresultStatus(result), PGRES_TUPLES_OK);
    PQclear(result);
    return conn;
}

static void *let_go_soon(void *arg)
{
    usleep(300000);
    PQfinish(arg);
    return NULL;
}

static void forget_one_more(void)
{
    PQfinish(hold("DELETE FROM cardbox.migrations WHERE name = 'one_more' RETURNING 1; COMMIT; "
                  "SELECT 1"));
}

/* It gives up when it was told to, and else goes on when it can. */
static void names_who_has_a_table(void **state)
{
    static const char text[] = "ALTER TABLE cardbox.cards ADD COLUMN one_more integer;\n";
    char named[64];
    unsigned applied;
    pthread_t thread;
    cardbox_error err = CARDBOX_ERROR_INIT;
    PGconn *reader = hold("SELECT count(*) FROM cardbox.cards");
    (void)state;
    snprintf(named, sizeof(named), "(one_more): waited 1 s for a lock: session %d (holder)",
             PQbackendPID(reader));
    assert_int_equal(run_for(1, text, false, &applied, &err), CARDBOX_BUSY);
    if (strstr(err.message, named) == NULL || strstr(err.message, "idle in transaction") == NULL)
        fail_msg("%s", err.message);
    assert_int_equal(pthread_create(&thread, NULL, let_go_soon, reader), 0);
    assert_ok(run(text, false, &applied, &err), &err);
    pthread_join(thread, NULL);
    assert_int_equal(applied, 1);
    forget_one_more();
}

static void *read_and_write(void *arg)
{
    const atomic_bool *over = arg;
    PGconn *conn = PQconnectdb(test_dsn());
    while (!atomic_load(over))
        PQclear(PQexec(conn, "BEGIN; SELECT FROM cardbox.cards LIMIT 1; "
                             "UPDATE cardbox.cards SET sealed = sealed WHERE false; COMMIT"));
    PQfinish(conn);
    return NULL;
}

/* Whoever writes has read the table before, and so keeps it from a migration that keeps them from
 * writing. */
static void writers_do_not_stop_it(void **state)
{
    static const char text[] = "CREATE INDEX one_more ON cardbox.cards (tenant_id, sealed);\n"
                               "DO $$\n"
                               "BEGIN\n"
                               "    WHILE NOT EXISTS (SELECT FROM pg_locks l\n"
                               "                       WHERE l.relation = "
                               "'cardbox.cards'::regclass AND NOT l.granted) LOOP\n"
                               "        PERFORM pg_sleep(0.01);\n"
                               "    END LOOP;\n"
                               "END\n"
                               "$$;\n"
                               "DROP INDEX cardbox.one_more;\n";
    atomic_bool over = false;
    unsigned applied;
    pthread_t thread;
    cardbox_error err = CARDBOX_ERROR_INIT;
    (void)state;
    assert_int_equal(pthread_create(&thread, NULL, read_and_write, &over), 0);
    cardbox_status status = run(text, false, &applied, &err);
    atomic_store(&over, true);
    pthread_join(thread, NULL);
    assert_ok(status, &err);
    assert_int_equal(applied, 1);
    forget_one_more();
}

/* In the transaction of the migration: without the one there is not the other. */
static void functions_come_before_what_needs_them(void **state)
{
    static const char function[] = "CREATE OR REPLACE FUNCTION cardbox.one_more(a int) RETURNS "
                                   "boolean LANGUAGE sql IMMUTABLE AS 'SELECT a > 0';\n";
    static const char good[] =
        "-- A table with a check.\n"
        "-- needs: one_more\n"
        "CREATE TABLE cardbox.one_more (a int CHECK (cardbox.one_more(a)));\n"
        "DROP TABLE cardbox.one_more;\n";
    char bad[sizeof(good) + 32], alone[sizeof(good) + 32];
    unsigned applied;
    cardbox_error err = CARDBOX_ERROR_INIT;
    (void)state;
    snprintf(bad, sizeof(bad), "%sSELECT nonsense;\n", good);
    snprintf(alone, sizeof(alone), "-- no-transaction\n%s", good);
    assert_int_equal(run_with(bad, function, MIGRATE_WAIT_S, false, &applied, &err),
                     CARDBOX_INTERNAL);
    PQfinish(hold("SELECT 1 / (to_regproc('cardbox.one_more') IS NULL)::int"));
    assert_ok(run_with(good, function, MIGRATE_WAIT_S, false, &applied, &err), &err);
    assert_int_equal(applied, 2);
    forget_one_more();
    PQfinish(hold("DELETE FROM cardbox.functions WHERE name = 'one_more' RETURNING 1; "
                  "DROP FUNCTION cardbox.one_more; COMMIT; SELECT 1"));
    assert_ok(run_with(alone, function, MIGRATE_WAIT_S, false, &applied, &err), &err);
    assert_int_equal(applied, 2);
    forget_one_more();
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(names_who_has_a_table),
        cmocka_unit_test(writers_do_not_stop_it),
        cmocka_unit_test(functions_come_before_what_needs_them),
        cmocka_unit_test(keeps_nothing_of_a_failure),
        cmocka_unit_test(resumes_outside_of_a_transaction),
        cmocka_unit_test(several_at_once),
        cmocka_unit_test(refuses_what_changed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
