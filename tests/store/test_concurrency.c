/*
 * test_concurrency.c: many threads on one pool: no append lost or doubled, one winner of a key,
 * full pools, connections that are killed under their users, transactions and lent connections,
 * fork; writers of one session.
 */
#include "store/store_test.h"

#include <libpq-fe.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = TEST_CONNECTIONS };

typedef struct job {
    int number;
    int appends;
    const char *box;
    const char *key; /* "": one a call; NULL: none */
    atomic_int *replayed;
    char message[CARDBOX_MESSAGE_SIZE]; /* of the first failure */
} job;

static void run_jobs(job *jobs, void *(*work)(void *))
{
    pthread_t threads[THREADS];
    for (int i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, work, &jobs[i]);
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        assert_string_equal(jobs[i].message, "");
}

static void *append_many(void *arg)
{
    job *my = arg;
    for (int i = 0; i < my->appends && my->message[0] == '\0'; i++) {
        char first[32], second[32], key[32];
        const char *ids[] = {first, second};
        cardbox_error err = CARDBOX_ERROR_INIT;
        cardbox_box_change change;
        cardbox_append_options how = CARDBOX_APPEND_OPTIONS_INIT;
        snprintf(first, sizeof(first), "%d-%d-a", my->number, i);
        snprintf(second, sizeof(second), "%d-%d-b", my->number, i);
        snprintf(key, sizeof(key), "%d-%d", my->number, i);
        how.key = my->key != NULL && my->key[0] == '\0' ? key : my->key;
        if (cardbox_append_to_box(&change, db, "t", my->box, ids, 2, &how, &err) != CARDBOX_OK)
            snprintf(my->message, sizeof(my->message), "%s", err.message);
        else if (change.replayed)
            atomic_fetch_add(my->replayed, 1);
    }
    return NULL;
}

/* Every pair is there once, its two ids side by side, the pairs of each thread in order. */
static void check_pairs(const char *box_id, int appends)
{
    cardbox_boxes *boxes = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    int next[THREADS] = {0};
    assert_ok(cardbox_load_box(&boxes, db, "t", box_id, NULL, &err), &err);
    const cardbox_box *box = cardbox_boxes_at(boxes, 0);
    assert_int_equal(box->card_count, 2 * THREADS * appends);
    for (size_t i = 0; i < box->card_count; i += 2) {
        int thread, turn, same_thread, same_turn;
        char half, other;
        assert_int_equal(sscanf(box->card_ids[i], "%d-%d-%c", &thread, &turn, &half), 3);
        assert_int_equal(sscanf(box->card_ids[i + 1], "%d-%d-%c", &same_thread, &same_turn, &other),
                         3);
        assert_int_equal(half, 'a');
        assert_int_equal(other, 'b');
        assert_int_equal(same_thread, thread);
        assert_int_equal(same_turn, turn);
        assert_int_equal(turn, next[thread]++);
    }
    cardbox_boxes_free(boxes);
}

static void new_box(char out[CARDBOX_UUID_SIZE])
{
    cardbox_box_change change;
    cardbox_error err = CARDBOX_ERROR_INIT;
    assert_ok(cardbox_box_ensure(&change, db, "t", NULL, &err), &err);
    memcpy(out, change.box_id, CARDBOX_UUID_SIZE);
}

static void appends_to_one_box(void **state)
{
    (void)state;
    char box[CARDBOX_UUID_SIZE];
    int appends = test_times(200, 20);
    job jobs[THREADS];
    new_box(box);
    for (int i = 0; i < THREADS; i++)
        jobs[i] = (job){.number = i, .appends = appends, .box = box};
    run_jobs(jobs, append_many);
    check_pairs(box, appends);
}

static void one_key_one_append(void **state)
{
    (void)state;
    cardbox_boxes *boxes = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    char box[CARDBOX_UUID_SIZE];
    atomic_int replayed = 0;
    job jobs[THREADS];
    new_box(box);
    for (int i = 0; i < THREADS; i++)
        jobs[i] =
            (job){.number = 0, .appends = 1, .box = box, .key = "once", .replayed = &replayed};
    run_jobs(jobs, append_many);
    assert_int_equal(replayed, THREADS - 1);
    assert_ok(cardbox_load_box(&boxes, db, "t", box, NULL, &err), &err);
    assert_int_equal(cardbox_boxes_at(boxes, 0)->card_count, 2);
    cardbox_boxes_free(boxes);
}

/* Batches of the same cards in opposite orders: no deadlock reaches anybody. */
static void *add_batches(void *arg)
{
    job *my = arg;
    enum { CARDS = 40 };
    for (int turn = 0; turn < my->appends && my->message[0] == '\0'; turn++) {
        static _Thread_local char ids[CARDS][24], contents[CARDS][24];
        cardbox_card cards[CARDS];
        cardbox_error err = CARDBOX_ERROR_INIT;
        for (int i = 0; i < CARDS; i++) {
            int number = my->number % 2 == 0 ? i : CARDS - 1 - i;
            snprintf(ids[i], sizeof(ids[i]), "batch-%d-%d", turn, number);
            snprintf(contents[i], sizeof(contents[i]), "%d", my->number % 3);
            cards[i] = test_card(ids[i], contents[i]);
        }
        if (cardbox_add_cards(NULL, db, "t", cards, CARDS, NULL, &err) != CARDBOX_OK)
            snprintf(my->message, sizeof(my->message), "%s", err.message);
    }
    return NULL;
}

static void batches_of_the_same_cards(void **state)
{
    (void)state;
    job jobs[THREADS];
    for (int i = 0; i < THREADS; i++)
        jobs[i] = (job){.number = i, .appends = test_times(20, 3)};
    run_jobs(jobs, add_batches);
}

static pthread_t killer;
static atomic_bool killing;
static atomic_int rounds; /* that the killer has gone */

/* Ends the other sessions of this database, again and again: all in the first round, then some. */
static void *kill_backends(void *arg)
{
    (void)arg;
    PGconn *pg = PQconnectdb(test_dsn());
    while (atomic_load(&killing)) {
        const char *share = atomic_load(&rounds) == 0 ? "1" : "0.3";
        PQclear(
            PQexecParams(pg,
                         "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = "
                         "current_database() AND pid <> pg_backend_pid() AND random() < $1",
                         1, NULL, &share, NULL, NULL, 0));
        atomic_fetch_add(&rounds, 1);
        usleep(5 * 1000);
    }
    PQfinish(pg);
    return NULL;
}

/* A teardown, because a killer that goes on would end the connections of the next cases. */
static int end_killer(void **state)
{
    (void)state;
    if (atomic_exchange(&killing, false))
        pthread_join(killer, NULL);
    return 0;
}

static void killed_connections(void **state)
{
    char box[CARDBOX_UUID_SIZE];
    atomic_int replayed = 0;
    cardbox_pool_stats stats;
    int appends = test_times(150, 60);
    job jobs[THREADS];
    new_box(box);
    for (int i = 0; i < THREADS; i++)
        jobs[i] =
            (job){.number = i, .appends = appends, .box = box, .key = "", .replayed = &replayed};
    atomic_store(&killing, true);
    atomic_store(&rounds, 0);
    pthread_create(&killer, NULL, kill_backends, NULL);
    while (atomic_load(&rounds) == 0)
        usleep(1000);
    run_jobs(jobs, append_many);
    end_killer(state);
    check_pairs(box, appends);
    cardbox_pool_stats_get(&stats, db);
    assert_true(stats.lost > 0);
    assert_int_equal(stats.open, stats.idle);
}

/* The server sends an append's row before it commits: a commit that fails after that must not pass
 * for a success. A deferred trigger makes it fail every time, where killed_connections needs luck.
 */
static void commit_fails_after_the_rows(void **state)
{
    (void)state;
    char box[CARDBOX_UUID_SIZE];
    const char *ids[] = {"late"};
    cardbox_boxes *boxes = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_append_options how = CARDBOX_APPEND_OPTIONS_INIT;
    PGconn *pg = PQconnectdb(test_dsn());
    PGresult *made =
        PQexec(pg, "CREATE FUNCTION refuse_late() RETURNS trigger LANGUAGE plpgsql AS "
                   "$$ BEGIN RAISE EXCEPTION 'too late' USING ERRCODE = 'check_violation'; END $$;"
                   "CREATE CONSTRAINT TRIGGER late AFTER INSERT ON cardbox.card_box_log "
                   "DEFERRABLE INITIALLY DEFERRED FOR EACH ROW WHEN (NEW.append_key = 'late') "
                   "EXECUTE FUNCTION refuse_late()");
    assert_int_equal(PQresultStatus(made), PGRES_COMMAND_OK);
    PQclear(made);
    new_box(box);
    how.key = "late";
    assert_int_equal(cardbox_append_to_box(NULL, db, "t", box, ids, 1, &how, &err),
                     CARDBOX_INVALID);
    assert_string_equal(err.message, "too late");
    assert_ok(cardbox_load_box(&boxes, db, "t", box, NULL, &err), &err);
    assert_int_equal(cardbox_boxes_at(boxes, 0)->card_count, 0);
    cardbox_boxes_free(boxes);
    PQclear(PQexec(pg, "DROP TRIGGER late ON cardbox.card_box_log; DROP FUNCTION refuse_late()"));
    PQfinish(pg);
}

static void full_pool(void **state)
{
    (void)state;
    cardbox *small = NULL, *first = NULL, *second = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_options options = test_options();
    options.pool_max = 1;
    options.acquire_timeout_ms = 50;
    assert_ok(cardbox_open(&small, &options, &err), &err);
    assert_ok(cardbox_begin(&first, small, &err), &err);
    assert_int_equal(cardbox_begin(&second, small, &err), CARDBOX_BUSY);
    assert_true(err.retryable);
    assert_int_equal(cardbox_ping(small, &err), CARDBOX_BUSY);
    cardbox_rollback(first);
    assert_ok(cardbox_begin(&second, small, &err), &err);
    cardbox_rollback(second);
    cardbox_close(small);
}

static void transactions(void **state)
{
    (void)state;
    cardbox *tx = NULL, *nested = NULL;
    cardbox_cards *cards = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_card card = test_card("tx-1", "1"), bad = test_card("tx-2", "{");

    assert_ok(cardbox_begin(&tx, db, &err), &err);
    assert_ok(cardbox_add_card(NULL, tx, "t", &card, NULL, &err), &err);
    assert_int_equal(cardbox_card_get(&cards, db, "t", "tx-1", &err), CARDBOX_NOT_FOUND);
    assert_ok(cardbox_card_get(&cards, tx, "t", "tx-1", &err), &err);
    cardbox_cards_free(cards);
    assert_int_equal(cardbox_begin(&nested, tx, &err), CARDBOX_INVALID);
    cardbox_rollback(tx);
    assert_int_equal(cardbox_card_get(&cards, db, "t", "tx-1", &err), CARDBOX_NOT_FOUND);

    /* Bad input is refused before it is sent: the transaction goes on. */
    assert_ok(cardbox_begin(&tx, db, &err), &err);
    assert_int_equal(cardbox_add_card(NULL, tx, "t", &bad, NULL, &err), CARDBOX_INVALID);
    assert_ok(cardbox_add_card(NULL, tx, "t", &card, NULL, &err), &err);
    assert_ok(cardbox_commit(tx, &err), &err);
    assert_ok(cardbox_card_get(&cards, db, "t", "tx-1", &err), &err);
    cardbox_cards_free(cards);
    assert_int_equal(cardbox_commit(NULL, &err), CARDBOX_INVALID);
    assert_int_equal(cardbox_commit(db, &err), CARDBOX_INVALID);
    cardbox_rollback(NULL);
}

/* A lost connection ends a transaction; the pool serves the next one. */
static void killed_transaction(void **state)
{
    (void)state;
    cardbox *tx = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_card card = test_card("lost-1", "1");
    assert_ok(cardbox_begin(&tx, db, &err), &err);
    assert_ok(cardbox_add_card(NULL, tx, "t", &card, NULL, &err), &err);
    PGconn *pg = PQconnectdb(test_dsn());
    PQclear(PQexec(pg, "SELECT pg_terminate_backend(pid, 60000) FROM pg_stat_activity WHERE "
                       "datname = current_database() AND state = 'idle in transaction'"));
    PQfinish(pg);
    assert_int_equal(cardbox_add_card(NULL, tx, "t", &card, NULL, &err), CARDBOX_UNAVAILABLE);
    err = (cardbox_error)CARDBOX_ERROR_INIT;
    assert_int_equal(cardbox_commit(tx, &err), CARDBOX_UNAVAILABLE);
    assert_true(err.retryable); /* it is known that nothing was kept */
    assert_int_equal(test_add("t", "lost-1", "1"), CARDBOX_OUTCOME_INSERTED);
}

/* The caller's rows and its cards commit, and roll back, together. */
static void lent_connection(void **state)
{
    (void)state;
    cardbox *tx = NULL;
    cardbox_cards *cards = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_card card = test_card("lent-1", "1");
    PGconn *pg = PQconnectdb(test_dsn());
    PQclear(PQexec(pg, "CREATE TABLE mine (id text)"));
    for (int turn = 0; turn < 2; turn++) {
        PQclear(PQexec(pg, "BEGIN"));
        PQclear(PQexec(pg, "INSERT INTO mine VALUES ('lent-1')"));
        assert_ok(cardbox_borrow(&tx, pg, &err), &err);
        assert_ok(cardbox_add_card(NULL, tx, "t", &card, NULL, &err), &err);
        assert_ok(cardbox_commit(tx, &err), &err); /* ends the handle, not the transaction */
        assert_int_equal(cardbox_card_get(&cards, db, "t", "lent-1", &err), CARDBOX_NOT_FOUND);
        PQclear(PQexec(pg, turn == 0 ? "ROLLBACK" : "COMMIT"));
    }
    assert_ok(cardbox_card_get(&cards, db, "t", "lent-1", &err), &err);
    cardbox_cards_free(cards);
    PGresult *result = PQexec(pg, "SELECT count(*) FROM mine");
    assert_string_equal(PQgetvalue(result, 0, 0), "1");
    PQclear(result);
    /* Not while something is under way on it, and not in another encoding. */
    assert_ok(cardbox_borrow(&tx, pg, &err), &err);
    assert_int_equal(PQenterPipelineMode(pg), 1);
    assert_int_equal(cardbox_ping(tx, &err), CARDBOX_INVALID);
    PQexitPipelineMode(pg);
    assert_ok(cardbox_ping(tx, &err), &err);
    cardbox_rollback(tx);
    PQclear(PQexec(pg, "SET client_encoding TO latin1"));
    assert_int_equal(cardbox_borrow(&tx, pg, &err), CARDBOX_INVALID);
    PQfinish(pg);
    assert_int_equal(cardbox_borrow(&tx, NULL, &err), CARDBOX_INVALID);
}

/* The server's last words do not say on which side of the commit they were said. */
static void ended_while_committing(void **state)
{
    (void)state;
    static const char SETUP[] =
        "CREATE FUNCTION public.dies() RETURNS trigger LANGUAGE plpgsql AS 'BEGIN PERFORM "
        "pg_catalog.pg_terminate_backend(pg_catalog.pg_backend_pid()); RETURN NULL; END';"
        "CREATE CONSTRAINT TRIGGER dies AFTER INSERT ON cardbox.cards DEFERRABLE INITIALLY "
        "DEFERRED FOR EACH ROW WHEN (NEW.tenant_id = 'dying') EXECUTE FUNCTION public.dies()";
    cardbox *tx = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_card card = test_card("last", "1");
    PGconn *pg = PQconnectdb(test_dsn());
    PGresult *made = PQexec(pg, SETUP);
    assert_int_equal(PQresultStatus(made), PGRES_COMMAND_OK);
    PQclear(made);
    PQfinish(pg);
    assert_ok(cardbox_begin(&tx, db, &err), &err);
    assert_ok(cardbox_add_card(NULL, tx, "dying", &card, NULL, &err), &err);
    assert_int_equal(cardbox_commit(tx, &err), CARDBOX_UNAVAILABLE);
    assert_false(err.retryable);
    assert_non_null(strstr(err.message, "outcome is unknown"));
}

/* What the parent has open when it forks. */
typedef struct open_handles {
    cardbox *tx, *lent;
    PGconn *pg;
    cardbox_waiter *waiter;
} open_handles;

static bool is_refused(cardbox *parents)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_card card = test_card("child", "1");
    return cardbox_add_card(NULL, parents, "fork", &card, NULL, &err) == CARDBOX_INVALID &&
           strstr(err.message, "parent process") != NULL;
}

/* What a child does that ends in good order, with handles that are not its own. */
static void try_in_child(const open_handles *h)
{
    cardbox *own = NULL, *tx = NULL;
    cardbox_pool_stats stats = {0};
    cardbox_options options = test_options();
    bool refused = is_refused(db) && is_refused(h->tx) && is_refused(h->lent) &&
                   cardbox_begin(&tx, db, NULL) == CARDBOX_INVALID;
    bool opened =
        cardbox_open(&own, &options, NULL) == CARDBOX_OK && cardbox_ping(own, NULL) == CARDBOX_OK;
    cardbox_pool_stats_get(&stats, db);
    cardbox_waiter_wait(h->waiter, 0);
    cardbox_waiter_close(h->waiter);
    cardbox_rollback(h->lent);
    bool committed = cardbox_commit(h->tx, NULL) != CARDBOX_INVALID;
    cardbox_close(own);
    cardbox_close(db);
    _exit(refused && opened && !committed && stats.open == 0 ? 0 : 1);
}

/* A child may not use the parent's handles, may close them, and leaves the parent's sockets, and
 * what is under way on them, alone. */
static void after_fork(void **state)
{
    (void)state;
    cardbox_error err = CARDBOX_ERROR_INIT;
    int status = -1;
    cardbox_options options = test_options();
    cardbox_card card = test_card("parent", "1");
    open_handles h = {.pg = PQconnectdb(test_dsn())};
    assert_ok(cardbox_ping(db, &err), &err);
    assert_ok(cardbox_borrow(&h.lent, h.pg, &err), &err);
    assert_ok(cardbox_waiter_open(&h.waiter, &options, NULL, 0, &err), &err);
    assert_ok(cardbox_begin(&h.tx, db, &err), &err);
    assert_ok(cardbox_add_card(NULL, h.tx, "fork", &card, NULL, &err), &err);
    pid_t child = fork();
    if (child == 0)
        try_in_child(&h);
    waitpid(child, &status, 0);
    assert_int_equal(status, 0);
    assert_ok(cardbox_commit(h.tx, &err), &err);
    assert_ok(cardbox_card_delete(db, "fork", "parent", &err), &err);
    assert_int_equal(cardbox_card_delete(db, "fork", "child", &err), CARDBOX_NOT_FOUND);
    assert_ok(cardbox_ping(h.lent, &err), &err);
    assert_false(cardbox_waiter_wait(h.waiter, 0));
    cardbox_waiter_close(h.waiter);
    cardbox_rollback(h.lent);
    PQfinish(h.pg);
    cardbox_pool_stats before, after;
    cardbox_pool_stats_get(&before, db);
    assert_ok(cardbox_ping(db, &err), &err);
    cardbox_pool_stats_get(&after, db);
    assert_int_equal(after.lost, before.lost);
    assert_int_equal(after.opened, before.opened);
}

static void bad_connection_strings(void **state)
{
    (void)state;
    cardbox *none = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_options options = CARDBOX_OPTIONS_INIT;
    options.no_retry = true;
    options.conninfo = "nonsense='";
    assert_int_equal(cardbox_open(&none, &options, &err), CARDBOX_INVALID);
    static const char *const later[] = {
        "port=abc",
        "host=a,b,c port=1,2",
        "host=a,b hostaddr=127.0.0.1",
        "sslmode=requir",
        "target_session_attrs=read-writ",
        "host=/nowhere port=' 5432 '",
        "host=/nowhere,/there port=1,",
        "host=/nowhere,/there port=1 target_session_attrs=prefer-standby",
        "host=/nowhere sslmode=verify-full",
        "host=/nowhere sslmode=disable port=''",
    };
    for (size_t i = 0; i < sizeof(later) / sizeof(later[0]); i++) {
        options.conninfo = later[i];
        assert_int_equal(cardbox_open(&none, &options, &err), CARDBOX_UNAVAILABLE);
    }
    options.conninfo = "host=/nowhere dbname=x";
    assert_int_equal(cardbox_open(&none, &options, &err), CARDBOX_UNAVAILABLE);
    assert_null(none);
    options.conninfo = test_dsn();
    assert_int_equal(cardbox_open(NULL, &options, &err), CARDBOX_INVALID);
}

/* --- writers of one session --- */

/* A writer of its own, on the pool of all; now and then the context, while others write. */
static void *write_session(void *arg)
{
    job *my = arg;
    cardbox_session_writer *writer = NULL;
    cardbox_context *context = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    char said[32];

    cardbox_status status = cardbox_session_open(&writer, db, "t", my->box, NULL, &err);
    for (int i = 0; i < my->appends && status == CARDBOX_OK; i++) {
        snprintf(said, sizeof(said), "%d-%d", my->number, i);
        if (cardbox_session_append_user(writer, said, NULL, &err) == NULL)
            status = err.status;
        else if (i % 5 == 4)
            status = cardbox_session_flush(writer, &err);
        if (status == CARDBOX_OK && i % 10 == 9) {
            status = cardbox_build_context(&context, db, "t", my->box, NULL,
                                           CARDBOX_FORMAT_ANTHROPIC, &err);
            cardbox_context_free(context);
        }
    }
    if (status == CARDBOX_OK)
        status = cardbox_session_close(writer, &err);
    if (status != CARDBOX_OK)
        snprintf(my->message, sizeof(my->message), "%s", err.message);
    return NULL;
}

static void writers_of_one_session(void **state)
{
    (void)state;
    char session[CARDBOX_UUID_SIZE];
    int appends = test_times(40, 10);
    job jobs[THREADS];
    cardbox_session_counts counts;
    cardbox_error err = CARDBOX_ERROR_INIT;

    cardbox_uuid7(session);
    assert_ok(cardbox_session_create(NULL, db, "t", session, NULL, &err), &err);
    for (int i = 0; i < THREADS; i++)
        jobs[i] = (job){.number = i, .appends = appends, .box = session};
    run_jobs(jobs, write_session);
    assert_ok(cardbox_session_count(&counts, db, "t", session, &err), &err);
    assert_int_equal(counts.entries, THREADS * appends);
    assert_int_equal(counts.dangling_parents, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appends_to_one_box),
        cmocka_unit_test(one_key_one_append),
        cmocka_unit_test(batches_of_the_same_cards),
        cmocka_unit_test_teardown(killed_connections, end_killer),
        cmocka_unit_test(commit_fails_after_the_rows),
        cmocka_unit_test(full_pool),
        cmocka_unit_test(transactions),
        cmocka_unit_test(killed_transaction),
        cmocka_unit_test(lent_connection),
        cmocka_unit_test(ended_while_committing),
        cmocka_unit_test(after_fork),
        cmocka_unit_test(bad_connection_strings),
        cmocka_unit_test(writers_of_one_session),
    };
    return cmocka_run_group_tests(tests, open_db, close_db);
}
