/*
 * test_pool.c: how many connections a pool keeps and for how long, and what is done when nobody
 * knows whether a write was, or a transaction has failed on its way.
 */
#include "store/task_test.h"

static cardbox *open_with(cardbox_options options)
{
    cardbox *opened = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    assert_ok(cardbox_open(&opened, &options, &err), &err);
    return opened;
}

static cardbox_pool_stats stats_of(cardbox *pool)
{
    cardbox_pool_stats stats;
    cardbox_pool_stats_get(&stats, pool);
    return stats;
}

/* --- how long connections stay --- */

static void some_are_there_from_the_start(void **state)
{
    (void)state;
    cardbox_options options = test_options();
    options.pool_min = 3;
    cardbox *pool = open_with(options);
    assert_int_equal(stats_of(pool).idle, 3);
    assert_int_equal(stats_of(pool).open, 3);
    cardbox_close(pool);
}

/* Those beyond pool_min go when they were idle for long, at the next one's return. */
static void idle_ones_are_closed(void **state)
{
    (void)state;
    enum { COUNT = 4 };
    cardbox *tx[COUNT];
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_options options = test_options();
    options.pool_min = 2;
    options.idle_timeout_s = 1;
    cardbox *pool = open_with(options);
    for (int i = 0; i < COUNT; i++)
        assert_ok(cardbox_begin(&tx[i], pool, &err), &err);
    assert_int_equal(stats_of(pool).open, COUNT);
    for (int i = 0; i < COUNT; i++)
        cardbox_rollback(tx[i]);
    usleep(1100 * 1000);
    assert_ok(cardbox_ping(pool, &err), &err);
    assert_int_equal(stats_of(pool).idle, 2);
    assert_int_equal(stats_of(pool).open, 2);
    assert_int_equal(stats_of(pool).lost, 0);
    cardbox_close(pool);
}

/* Their time is a second, or a tenth more or less. One that is old is not taken, nor kept. */
static void old_ones_are_replaced(void **state)
{
    (void)state;
    cardbox *tx = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_options options = test_options();
    options.max_lifetime_s = 1;
    cardbox *pool = open_with(options);
    usleep(1200 * 1000);
    assert_ok(cardbox_begin(&tx, pool, &err), &err);
    assert_int_equal(stats_of(pool).opened, 2);
    usleep(1200 * 1000);
    cardbox_rollback(tx);
    assert_int_equal(stats_of(pool).open, 0);
    assert_int_equal(stats_of(pool).lost, 0);
    cardbox_close(pool);
}

/* --- what fails --- */

static void run(const char *sql)
{
    PGconn *pg = PQconnectdb(test_dsn());
    PGresult *done = PQexec(pg, sql);
    if (PQresultStatus(done) != PGRES_COMMAND_OK && PQresultStatus(done) != PGRES_TUPLES_OK)
        fail_msg("%s", PQerrorMessage(pg));
    PQclear(done);
    PQfinish(pg);
}

/* A commit would be none: PostgreSQL answers it, and rolls back. */
static void a_failed_transaction_is_not_committed(void **state)
{
    (void)state;
    cardbox *tx = NULL;
    cardbox_cards *cards = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_card first = test_card("first", "1"), bad = test_card("bad", "1");
    run("ALTER TABLE cardbox.cards ADD CONSTRAINT none_bad CHECK (card_id <> 'bad')");
    assert_ok(cardbox_begin(&tx, db, &err), &err);
    assert_ok(cardbox_add_card(NULL, tx, "failed", &first, NULL, &err), &err);
    assert_int_equal(cardbox_add_card(NULL, tx, "failed", &bad, NULL, &err), CARDBOX_INVALID);
    assert_int_equal(cardbox_commit(tx, &err), CARDBOX_CONFLICT);
    assert_non_null(strstr(err.message, "nothing was kept"));
    assert_int_equal(cardbox_card_get(&cards, db, "failed", "first", &err), CARDBOX_NOT_FOUND);
    run("ALTER TABLE cardbox.cards DROP CONSTRAINT none_bad");
}

static const char DIES[] =
    "CREATE SEQUENCE public.tries; CREATE FUNCTION public.dies() RETURNS trigger LANGUAGE plpgsql "
    "AS "
    "$$ BEGIN PERFORM pg_catalog.nextval('public.tries'), "
    "pg_catalog.pg_terminate_backend(pg_catalog.pg_backend_pid()); RETURN NULL; END $$;"
    "CREATE CONSTRAINT TRIGGER dies AFTER INSERT ON cardbox.card_box_log DEFERRABLE INITIALLY "
    "DEFERRED FOR EACH ROW WHEN (NEW.tenant_id = 'dying' AND NEW.op <> 'create') "
    "EXECUTE FUNCTION public.dies(); GRANT ALL ON SEQUENCE public.tries TO PUBLIC";

/* The connection ends with the commit: what can be told from a first time is sent again, what can
 * not is sent once. */
static void what_nobody_knows_is_not_repeated(void **state)
{
    (void)state;
    cardbox_box_change box;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_append_options once = CARDBOX_APPEND_OPTIONS_INIT;
    const char *ids[] = {"x"};
    cardbox_options options = test_options();
    options.retry_timeout_ms = 2000;
    cardbox *pool = open_with(options);
    assert_ok(cardbox_box_ensure(&box, pool, "dying", NULL, &err), &err);
    run(DIES);
    assert_int_equal(cardbox_append_to_box(NULL, pool, "dying", box.box_id, ids, 1, NULL, &err),
                     CARDBOX_UNAVAILABLE);
    assert_false(err.retryable);
    assert_int_equal(test_count("SELECT last_value FROM public.tries", NULL), 1);
    assert_int_equal(cardbox_box_fork(NULL, pool, "dying", box.box_id, NULL, &err),
                     CARDBOX_UNAVAILABLE);
    assert_false(err.retryable);
    assert_int_equal(test_count("SELECT last_value FROM public.tries", NULL), 2);
    assert_int_equal(cardbox_save_box(NULL, pool, "dying", box.box_id, ids, 1, 1, &err),
                     CARDBOX_UNAVAILABLE);
    assert_false(err.retryable);
    assert_int_equal(test_count("SELECT last_value FROM public.tries", NULL), 3);
    once.key = "key";
    assert_int_equal(cardbox_append_to_box(NULL, pool, "dying", box.box_id, ids, 1, &once, &err),
                     CARDBOX_UNAVAILABLE);
    assert_true(err.retryable);
    assert_true(test_count("SELECT last_value FROM public.tries", NULL) > 4);
    run("DROP TRIGGER dies ON cardbox.card_box_log; DROP FUNCTION public.dies; DROP SEQUENCE "
        "public.tries");
    cardbox_close(pool);
}

static const char DIES_OF_OTHERS[] =
    "CREATE FUNCTION public.dies() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM "
    "pg_catalog.pg_terminate_backend(pg_catalog.pg_backend_pid()); RETURN NULL; END';"
    "CREATE CONSTRAINT TRIGGER dies AFTER INSERT ON cardbox.messages DEFERRABLE INITIALLY DEFERRED "
    "FOR EACH ROW WHEN (NEW.tenant_id = 'ids') EXECUTE FUNCTION public.dies();"
    "CREATE CONSTRAINT TRIGGER dies AFTER INSERT ON cardbox.session_lines DEFERRABLE INITIALLY "
    "DEFERRED FOR EACH ROW WHEN (NEW.tenant_id = 'ids') EXECUTE FUNCTION public.dies()";

/* The same statement is sent again, which has the same ids; but another call would make others, and
 * do it twice. */
static void ids_of_ours_are_not_the_callers(void **state)
{
    (void)state;
    static const char *const ENTRIES[] = {"{\"type\":\"user\",\"content\":\"a\"}",
                                          "{\"id\":\"a\",\"type\":\"user\",\"content\":\"a\"}"};
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_spawn spawn = CARDBOX_SPAWN_INIT;
    cardbox_message message = CARDBOX_MESSAGE_INIT;
    cardbox_options options = test_options();
    options.retry_timeout_ms = 300;
    cardbox *pool = open_with(options);
    assert_ok(cardbox_session_create(NULL, pool, "ids", "s", NULL, &err), &err);
    run(DIES_OF_OTHERS);
    spawn.goal = message.content = "go";
    for (int named = 0; named < 2; named++) {
        spawn.task_id = named ? "task" : NULL;
        assert_int_equal(cardbox_task_spawn(NULL, pool, "ids", &spawn, &err), CARDBOX_UNAVAILABLE);
        assert_int_equal(err.retryable, named);
        assert_int_equal(
            cardbox_session_append(NULL, pool, "ids", "s", &ENTRIES[named], 1, NULL, &err),
            CARDBOX_UNAVAILABLE);
        assert_int_equal(err.retryable, named);
    }
    run("ALTER TABLE cardbox.messages DISABLE TRIGGER dies");
    assert_ok(cardbox_task_spawn(NULL, pool, "ids", &spawn, &err), &err);
    run("ALTER TABLE cardbox.messages ENABLE TRIGGER dies");
    message.task_id = "task";
    for (int named = 0; named < 2; named++) {
        message.message_id = named ? "message" : NULL;
        assert_int_equal(cardbox_task_send(pool, "ids", &message, &err), CARDBOX_UNAVAILABLE);
        assert_int_equal(err.retryable, named);
    }
    run("DROP FUNCTION public.dies CASCADE");
    cardbox_close(pool);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(some_are_there_from_the_start),
        cmocka_unit_test(idle_ones_are_closed),
        cmocka_unit_test(old_ones_are_replaced),
        cmocka_unit_test(a_failed_transaction_is_not_committed),
        cmocka_unit_test(what_nobody_knows_is_not_repeated),
        cmocka_unit_test(ids_of_ours_are_not_the_callers),
    };
    return cmocka_run_group_tests(tests, open_db, close_db);
}
