/*
 * test_append_batcher.c: appends that many threads of a pool make at the same time share
 * statements: each still gets its own answer, nobody pays for another's mistake, nobody waits for
 * another's lock, and all is well where commits take long.
 */
#include "store/task_test.h"

#include <pthread.h>

enum { THREADS = TEST_CONNECTIONS, BOXES = 5 };

static char boxes[BOXES][CARDBOX_UUID_SIZE];
static const char NOWHERE[] = "ffffffff-0000-7000-8000-000000000000";

static int make_boxes(void **state)
{
    cardbox_box_change change;
    cardbox_error err = CARDBOX_ERROR_INIT;
    open_db(state);
    for (int i = 0; i < BOXES; i++) {
        assert_ok(cardbox_box_ensure(&change, db, "batch", NULL, &err), &err);
        memcpy(boxes[i], change.box_id, CARDBOX_UUID_SIZE);
    }
    return 0;
}

typedef struct job {
    int number, turns;
    const char *only; /* the one box that it appends to, or NULL: all in turn */
    pthread_t thread;
    char wrong[CARDBOX_MESSAGE_SIZE]; /* what came first that should not have */
} job;

static void expect(job *my, const char *what, cardbox_status wanted, cardbox_status got,
                   const cardbox_error *err)
{
    if (got != wanted && my->wrong[0] == '\0')
        snprintf(my->wrong, sizeof(my->wrong), "%s: status %d, %.200s", what, (int)got,
                 err->message);
}

static cardbox_status append(cardbox_box_change *out, const char *box, const char *id,
                             const char *key, int64_t version, cardbox_error *err)
{
    cardbox_append_options how = CARDBOX_APPEND_OPTIONS_INIT;
    how.key = key;
    how.expected_version = version;
    return cardbox_append_to_box(out, db, "batch", box, &id, 1, &how, err);
}

/* What works, what is done already, and what must be refused, all in one crowd. */
static void *append_in_turn(void *arg)
{
    job *my = arg;
    for (int i = 0; i < my->turns; i++) {
        const char *box = my->only != NULL ? my->only : boxes[(i + my->number) % BOXES];
        cardbox_error err = CARDBOX_ERROR_INIT;
        cardbox_box_change first = {.version = 0}, again = {.version = 0};
        char id[32], key[32];
        snprintf(id, sizeof(id), "%d-%d", my->number, i);
        snprintf(key, sizeof(key), "k%d-%d", my->number, i);
        expect(my, "append", CARDBOX_OK, append(&first, box, id, i % 3 == 0 ? NULL : key, 0, &err),
               &err);
        if (my->only != NULL)
            continue;
        if (i % 3 == 1) {
            expect(my, "replay", CARDBOX_OK, append(&again, box, id, key, 0, &err), &err);
            if (!again.replayed || again.version != first.version || again.length != first.length)
                snprintf(my->wrong, sizeof(my->wrong), "the replay of %s differs", key);
        }
        if (i % 3 == 2)
            expect(my, "other ids", CARDBOX_CONFLICT, append(NULL, box, "x", key, 0, &err), &err);
        expect(my, "no box", CARDBOX_NOT_FOUND, append(NULL, NOWHERE, id, key, 0, &err), &err);
        expect(my, "version", CARDBOX_CONFLICT, append(NULL, box, "x", NULL, INT32_MAX, &err),
               &err);
    }
    return NULL;
}

static void start(job *jobs, int count)
{
    for (int i = 0; i < count; i++)
        pthread_create(&jobs[i].thread, NULL, append_in_turn, &jobs[i]);
}

static void finish(const job *jobs, int count)
{
    for (int i = 0; i < count; i++)
        pthread_join(jobs[i].thread, NULL);
    for (int i = 0; i < count; i++)
        assert_string_equal(jobs[i].wrong, "");
}

/* Every id that thread put into a box is there once, in its order, and no other is. */
static size_t check_box(const char *box, int turns)
{
    cardbox_boxes *found = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    int last[THREADS];
    for (int i = 0; i < THREADS; i++)
        last[i] = -1;
    assert_ok(cardbox_load_box(&found, db, "batch", box, NULL, &err), &err);
    const cardbox_box *is = cardbox_boxes_at(found, 0);
    size_t count = is->card_count;
    assert_int_equal(is->version, count + 1); /* one id a change, after its creation */
    for (size_t i = 0; i < count; i++) {
        int thread, turn;
        assert_int_equal(sscanf(is->card_ids[i], "%d-%d", &thread, &turn), 2);
        assert_in_range(thread, 0, THREADS - 1);
        assert_true(turn > last[thread] && turn < turns);
        last[thread] = turn;
    }
    cardbox_boxes_free(found);
    return count;
}

static PGresult *ask(PGconn *pg, const char *sql, const char *value)
{
    PGresult *result = PQexecParams(pg, sql, 1, NULL, &value, NULL, NULL, 0);
    assert_int_equal(PQresultStatus(result), PGRES_TUPLES_OK);
    return result;
}

static void each_gets_its_own_answer(void **state)
{
    (void)state;
    int turns = test_times(150, 30);
    size_t count = 0;
    job jobs[THREADS];
    for (int i = 0; i < THREADS; i++)
        jobs[i] = (job){.number = i, .turns = turns};
    start(jobs, THREADS);
    finish(jobs, THREADS);
    for (int i = 0; i < BOXES; i++)
        count += check_box(boxes[i], turns);
    assert_int_equal(count, THREADS * turns);

    /* And they did share statements: rows of one transaction, to different boxes. */
    PGconn *pg = PQconnectdb(test_dsn());
    PGresult *shared = ask(pg,
                           "SELECT count(*) > count(DISTINCT xmin::text) FROM cardbox.card_box_log "
                           "WHERE tenant_id = $1 AND op = 'append'",
                           "batch");
    assert_string_equal(PQgetvalue(shared, 0, 0), "t");
    PQclear(shared);
    PQfinish(pg);
}

/* More of them than may send at once want the locked box; all the others go on. Each that waits for
 * the lock keeps a connection of PostgreSQL's, of which the tests' PgBouncer has three: there one
 * waits, beside who holds the lock, and the others have the third. */
static void a_lock_holds_up_its_box_alone(void **state)
{
    (void)state;
    enum { STUCK_MOST = 4 };
    const int stuck_count = getenv("CARDBOX_TEST_POOLED") == NULL ? STUCK_MOST : 1;
    const int other_count = THREADS - stuck_count;
    const char *card = "own";
    cardbox_box_change change;
    cardbox_error err = CARDBOX_ERROR_INIT;
    char locked[2][CARDBOX_UUID_SIZE];
    int turns = test_times(50, 10);
    job stuck[STUCK_MOST], others[THREADS];
    PGconn *pg = PQconnectdb(test_dsn());
    PQclear(PQexec(pg, "BEGIN"));
    for (int i = 0; i < 2; i++) {
        assert_ok(cardbox_box_ensure(&change, db, "batch", NULL, &err), &err);
        memcpy(locked[i], change.box_id, CARDBOX_UUID_SIZE);
        PQclear(ask(pg,
                    "SELECT FROM cardbox.card_boxes WHERE tenant_id = 'batch' AND box_id = $1 "
                    "FOR UPDATE",
                    locked[i]));
    }
    for (int i = 0; i < stuck_count; i++)
        stuck[i] = (job){.number = i, .turns = 2, .only = locked[i % 2]};
    for (int i = 0; i < other_count; i++)
        others[i] = (job){.number = stuck_count + i, .turns = turns};
    start(stuck, stuck_count);
    start(others, other_count);
    finish(others, other_count); /* with the lock still held: else this would end never */
    /* A box of the same id, but of another tenant, is another one. */
    assert_ok(cardbox_box_ensure(&change, db, "other", locked[0], &err), &err);
    assert_ok(cardbox_append_to_box(&change, db, "other", locked[0], &card, 1, NULL, &err), &err);
    assert_int_equal(check_box(locked[0], 2), 0);
    PQclear(PQexec(pg, "COMMIT"));
    PQfinish(pg);
    finish(stuck, stuck_count);
    assert_int_equal(check_box(locked[0], 2) + check_box(locked[1], 2), 2 * stuck_count);
}

/* Commits take 10 ms, one after the other. */
static const char SLOW_COMMITS[] =
    "CREATE FUNCTION public.commit_slowly() RETURNS trigger LANGUAGE plpgsql AS $$"
    "BEGIN"
    "    IF current_setting('test.slept', true) IS DISTINCT FROM txid_current()::text THEN"
    "        PERFORM set_config('test.slept', txid_current()::text, true),"
    "                pg_advisory_xact_lock(1), pg_sleep(0.01);"
    "    END IF;"
    "    RETURN NULL;"
    "END $$;"
    "CREATE CONSTRAINT TRIGGER slow AFTER INSERT ON cardbox.card_box_log"
    "   DEFERRABLE INITIALLY DEFERRED FOR EACH ROW"
    "   WHEN (NEW.tenant_id = 'batch' AND NEW.op = 'append')"
    "   EXECUTE FUNCTION public.commit_slowly()";
static const char QUICK_COMMITS[] =
    "DROP TRIGGER slow ON cardbox.card_box_log; DROP FUNCTION public.commit_slowly";

static void run(PGconn *pg, const char *sql)
{
    PGresult *done = PQexec(pg, sql);
    assert_true(PQresultStatus(done) == PGRES_COMMAND_OK ||
                PQresultStatus(done) == PGRES_TUPLES_OK);
    PQclear(done);
}

/* Each to a box of its own. Some end before others. */
static void append_apart(int turns)
{
    char own[THREADS][CARDBOX_UUID_SIZE];
    job jobs[THREADS];
    cardbox_box_change change;
    cardbox_error err = CARDBOX_ERROR_INIT;
    for (int i = 0; i < THREADS; i++) {
        assert_ok(cardbox_box_ensure(&change, db, "batch", NULL, &err), &err);
        memcpy(own[i], change.box_id, CARDBOX_UUID_SIZE);
        jobs[i] = (job){.number = i, .turns = turns - i, .only = own[i]};
    }
    start(jobs, THREADS);
    finish(jobs, THREADS);
    for (int i = 0; i < THREADS; i++)
        assert_int_equal(check_box(own[i], turns - i), turns - i);
}

/* All go on while some threads end before others. */
static void commits_that_wait_for_each_other(void **state)
{
    (void)state;
    PGconn *pg = PQconnectdb(test_dsn());
    run(pg, SLOW_COMMITS);
    append_apart(150);
    run(pg, QUICK_COMMITS);
    PQfinish(pg);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_gets_its_own_answer),
        cmocka_unit_test(a_lock_holds_up_its_box_alone),
        cmocka_unit_test(commits_that_wait_for_each_other),
    };
    return cmocka_run_group_tests(tests, make_boxes, close_db);
}
