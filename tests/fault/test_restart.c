/*
 * test_restart.c: PostgreSQL is restarted at once (pg_ctl restart -m immediate) while threads
 * append to one box: every append that was acknowledged is there exactly once. And it stops while a
 * large card is sent to it, or loses its answers. Has a cluster of its own.
 */
#include "store/store_test.h"

#include <libpq-fe.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/wait.h>
#include <unistd.h>

enum { THREADS = 8, RESTARTS = 2 };

/* Who asks for more than a local commit waits for a standby, and in vain. */
#define SETTINGS "fsync=on synchronous_commit=local synchronous_standby_names=nobody"

static char dir[64], dsn[512];
static atomic_int acknowledged;

/* Runs tests/lib/pg.sh; what it prints goes to `out`. */
static int pg(const char *verb, const char *more, char *out, size_t size)
{
    char command[256];
    snprintf(command, sizeof(command), "tests/lib/pg.sh %s %s %s", verb, dir, more);
    FILE *pipe = popen(command, "r");
    if (pipe == NULL)
        return -1;
    char *line = fgets(out, (int)size, pipe);
    if (line != NULL)
        out[strcspn(out, "\n")] = '\0';
    return pclose(pipe);
}

static int start(void **state)
{
    (void)state;
    char answer[512] = "";
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_options options = CARDBOX_OPTIONS_INIT;
    const char *folder = getenv("TMPDIR");
    snprintf(dir, sizeof(dir), "%s/cardbox-restart-XXXXXX", folder != NULL ? folder : "/tmp");
    if (mkdtemp(dir) == NULL || pg("start", SETTINGS, answer, sizeof(answer)) != 0 ||
        pg("migrated", "restart", dsn, sizeof(dsn)) != 0)
        return -1;
    options.conninfo = dsn;
    options.retry_timeout_ms = 60000;
    if (cardbox_open(&db, &options, &err) != CARDBOX_OK) {
        fprintf(stderr, "%s: %s\n", dsn, err.message);
        return -1;
    }
    return 0;
}

static int stop(void **state)
{
    (void)state;
    char answer[512];
    cardbox_close(db);
    return pg("remove", "", answer, sizeof(answer));
}

typedef struct job {
    const char *box;
    int number;
    int appends;
    char message[CARDBOX_MESSAGE_SIZE];
} job;

static void *append_many(void *arg)
{
    job *my = arg;
    for (int i = 0; i < my->appends && my->message[0] == '\0'; i++) {
        char id[32];
        const char *ids[] = {id};
        cardbox_error err = CARDBOX_ERROR_INIT;
        cardbox_append_options how = CARDBOX_APPEND_OPTIONS_INIT;
        snprintf(id, sizeof(id), "%d-%d", my->number, i);
        how.key = id;
        if (cardbox_append_to_box(NULL, db, "t", my->box, ids, 1, &how, &err) != CARDBOX_OK)
            snprintf(my->message, sizeof(my->message), "%s", err.message);
        else
            atomic_fetch_add(&acknowledged, 1);
    }
    return NULL;
}

static void check_each_once(const char *box_id, int appends)
{
    cardbox_boxes *boxes = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    int next[THREADS] = {0};
    for (int from = 0; from < THREADS * appends; from += 10000) {
        cardbox_read_options part = {.offset = (size_t)from, .limit = 10000};
        assert_ok(cardbox_load_box(&boxes, db, "t", box_id, &part, &err), &err);
        const cardbox_box *box = cardbox_boxes_at(boxes, 0);
        assert_int_equal(box->length, THREADS * appends);
        for (size_t i = 0; i < box->card_count; i++) {
            int thread, turn;
            assert_int_equal(sscanf(box->card_ids[i], "%d-%d", &thread, &turn), 2);
            assert_int_equal(turn, next[thread]++);
        }
        cardbox_boxes_free(boxes);
    }
}

static void appends_survive_restarts(void **state)
{
    (void)state;
    pthread_t threads[THREADS];
    job jobs[THREADS];
    char answer[512];
    cardbox_box_change box;
    cardbox_error err = CARDBOX_ERROR_INIT;
    int appends = test_times(2000, 300);
    assert_ok(cardbox_box_ensure(&box, db, "t", NULL, &err), &err);
    for (int i = 0; i < THREADS; i++) {
        jobs[i] = (job){.box = box.box_id, .number = i, .appends = appends};
        pthread_create(&threads[i], NULL, append_many, &jobs[i]);
    }
    for (int i = 1; i <= RESTARTS; i++) {
        while (atomic_load(&acknowledged) < i * THREADS * appends / (RESTARTS + 1))
            usleep(1000);
        assert_int_equal(pg("restart", "immediate", answer, sizeof(answer)), 0);
    }
    for (int i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    for (int i = 0; i < THREADS; i++)
        assert_string_equal(jobs[i].message, "");
    check_each_once(box.box_id, appends);
    cardbox_pool_stats stats;
    cardbox_pool_stats_get(&stats, db);
    assert_true(stats.lost > 0 && stats.retried > 0);
}

/* The process that serves a program, by the name that this connected with. */
static pid_t server_process(const char *program)
{
    PGconn *pg = PQconnectdb(dsn);
    PGresult *rows =
        PQexecParams(pg, "SELECT pid FROM pg_stat_activity WHERE application_name = $1", 1, NULL,
                     &program, NULL, NULL, 0);
    assert_int_equal(PQntuples(rows), 1);
    pid_t pid = (pid_t)strtol(PQgetvalue(rows, 0, 0), NULL, 10);
    PQclear(rows);
    PQfinish(pg);
    return pid;
}

/* Lets a process that was stopped go on after a minute, should nobody else: so what waits for it
 * with no end fails, and does not hang. */
static pid_t wake_later(pid_t stopped)
{
    pid_t child = fork();
    if (child != 0)
        return child;
    sleep(60);
    kill(stopped, SIGCONT);
    _exit(0);
}

/* A card that is larger than what the socket takes is not sent for ever. */
static void a_stopped_server_takes_nothing(void **state)
{
    (void)state;
    enum { BYTES = 8 * 1024 * 1024 };
    cardbox *stuck = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_options options = CARDBOX_OPTIONS_INIT;
    char *content = malloc(BYTES + 3);
    assert_non_null(content);
    memset(content, 'x', BYTES + 2);
    content[0] = content[BYTES + 1] = '"';
    content[BYTES + 2] = '\0';
    cardbox_card card = test_card("large", content);
    options.conninfo = dsn;
    options.application_name = "stuck";
    options.statement_timeout_ms = 1000;
    assert_ok(cardbox_open(&stuck, &options, &err), &err);
    cardbox_card small = test_card("small", "1"); /* so that the statement is known there */
    assert_ok(cardbox_add_card(NULL, stuck, "t", &small, NULL, &err), &err);
    pid_t pid = server_process("stuck");
    assert_int_equal(kill(pid, SIGSTOP), 0);
    pid_t later = wake_later(pid);
    cardbox_status status = cardbox_add_card(NULL, stuck, "t", &card, NULL, &err);
    kill(later, SIGKILL);
    waitpid(later, NULL, 0);
    assert_int_equal(kill(pid, SIGCONT), 0);
    assert_int_equal(status, CARDBOX_TIMEOUT);
    assert_ok(cardbox_add_card(NULL, stuck, "t", &small, NULL, &err), &err);
    cardbox_close(stuck);
    free(content);
}

/* --- answers that are lost --- */

/* As the superuser; gives the first cell as a number. */
static long psql(const char *sql)
{
    char superuser[256];
    snprintf(superuser, sizeof(superuser), "host=%s user=postgres dbname=restart", dir);
    PGconn *pg = PQconnectdb(superuser);
    PGresult *rows = PQexec(pg, sql);
    if (PQresultStatus(rows) != PGRES_TUPLES_OK && PQresultStatus(rows) != PGRES_COMMAND_OK)
        fail_msg("%s: %s", sql, PQerrorMessage(pg));
    long value = PQntuples(rows) > 0 ? strtol(PQgetvalue(rows, 0, 0), NULL, 10) : 0;
    PQclear(rows);
    PQfinish(pg);
    return value;
}

/* A call that would be refused the second time. */
typedef struct lost_call {
    cardbox_status (*make)(cardbox *with, cardbox_error *err);
    cardbox *with;
    cardbox_status status;
    cardbox_error err;
} lost_call;

static cardbox_status append_expecting(cardbox *with, cardbox_error *err)
{
    const char *entry = "{\"id\":\"b\",\"type\":\"x\"}";
    cardbox_session_append_options how = CARDBOX_SESSION_APPEND_OPTIONS_INIT;
    how.expected_version = 2;
    return cardbox_session_append(NULL, with, "t", "appended", &entry, 1, &how, err);
}

static cardbox_status create_new(cardbox *with, cardbox_error *err)
{
    cardbox_session_options how = CARDBOX_SESSION_OPTIONS_INIT;
    how.must_be_new = true;
    return cardbox_session_create(NULL, with, "t", "made", &how, err);
}

static cardbox_status move_expecting(cardbox *with, cardbox_error *err)
{
    return cardbox_session_move_head(NULL, with, "t", "moved", "a", "b", err);
}

static void *run_call(void *arg)
{
    lost_call *call = arg;
    call->status = call->make(call->with, &call->err);
    return NULL;
}

static void make_session(const char *id, size_t count)
{
    const char *entries[] = {"{\"id\":\"a\",\"type\":\"x\"}", "{\"id\":\"b\",\"type\":\"x\"}"};
    cardbox_error err = CARDBOX_ERROR_INIT;
    assert_ok(cardbox_session_create(NULL, db, "t", id, NULL, &err), &err);
    assert_ok(cardbox_session_append(NULL, db, "t", id, entries, count, NULL, &err), &err);
}

static void await_count(const char *sql, long count)
{
    for (int i = 0; psql(sql) != count; i++) {
        assert_in_range(i, 0, 12000); /* two minutes */
        usleep(10000);
    }
}

/* Their commits wait for a standby that there is not, and the sessions end while they do: all was
 * done, and nobody says so. What can't be repeated must not be: it would be told of a conflict with
 * itself. */
static void lost_answers_are_no_conflicts(void **state)
{
    (void)state;
    static const char WAITING[] =
        "SELECT count(*) FROM pg_stat_activity WHERE wait_event = 'SyncRep' "
        "AND application_name = 'lost'";
    lost_call calls[] = {{append_expecting, NULL, CARDBOX_OK, CARDBOX_ERROR_INIT},
                         {create_new, NULL, CARDBOX_OK, CARDBOX_ERROR_INIT},
                         {move_expecting, NULL, CARDBOX_OK, CARDBOX_ERROR_INIT}};
    enum { CALLS = sizeof(calls) / sizeof(calls[0]) };
    pthread_t threads[CALLS];
    char waits[600];
    cardbox *lost = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_options options = CARDBOX_OPTIONS_INIT;
    make_session("appended", 1);
    make_session("moved", 2);
    snprintf(waits, sizeof(waits), "%s options='-c synchronous_commit=on'", dsn);
    options.conninfo = waits;
    options.application_name = "lost";
    assert_ok(cardbox_open(&lost, &options, &err), &err);
    for (size_t i = 0; i < CALLS; i++) {
        calls[i].with = lost;
        pthread_create(&threads[i], NULL, run_call, &calls[i]);
    }
    await_count(WAITING, CALLS);
    psql("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'lost'");
    await_count(WAITING, 0); /* a session that has not ended yet would be answered */
    psql("ALTER SYSTEM SET synchronous_standby_names = ''");
    psql("SELECT pg_reload_conf()");
    for (size_t i = 0; i < CALLS; i++) {
        pthread_join(threads[i], NULL);
        assert_int_equal(calls[i].status, CARDBOX_UNAVAILABLE);
        assert_false(calls[i].err.retryable);
    }
    cardbox_close(lost);
    assert_int_equal(test_session_version("t", "appended"), 3);
    assert_int_equal(test_session_version("t", "made"), 1);
    assert_int_equal(test_session_version("t", "moved"), 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lost_answers_are_no_conflicts),
        cmocka_unit_test(a_stopped_server_takes_nothing),
        cmocka_unit_test(appends_survive_restarts),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
