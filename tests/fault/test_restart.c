/*
 * test_restart.c: PostgreSQL is restarted at once (pg_ctl restart -m immediate) while threads
 * append to one box: every append that was acknowledged is there exactly once. Has a cluster of its
 * own.
 */
#include "store/store_test.h"

#include <pthread.h>
#include <stdatomic.h>
#include <unistd.h>

enum { THREADS = 8, RESTARTS = 2 };

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
    snprintf(dir, sizeof(dir), "/tmp/cardbox-restart-XXXXXX");
    if (mkdtemp(dir) == NULL || pg("start", "fsync=on", answer, sizeof(answer)) != 0 ||
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
    assert_ok(cardbox_ensure_box(&box, db, "t", NULL, &err), &err);
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(appends_survive_restarts),
    };
    return cmocka_run_group_tests(tests, start, stop);
}
