/*
 * test_server_followers.c: how often those are looked at who follow a task and wait. The database
 * is played.
 */
#include "batcher_play.h"
#include "server/api/handlers.h"
#include "server/api/followers.h"

enum { FOLLOWERS = 3, TASK_COLUMNS = 17, LONG_MS = 1000 };

static followers *all;

/* A task that goes on: its id, and nothing else. */
static void give_task(void)
{
    static PGresAttDesc columns[TASK_COLUMNS];
    PGresult *rows = PQmakeEmptyPGresult(NULL, PGRES_TUPLES_OK);
    for (size_t i = 0; i < TASK_COLUMNS; i++)
        columns[i] = (PGresAttDesc){.name = (char *)(uintptr_t) "x", .format = 1, .typlen = -1};
    assert_true(PQsetResultAttrs(rows, TASK_COLUMNS, columns));
    assert_true(PQsetvalue(rows, 0, 0, (char *)(uintptr_t) "task", 4));
    land(rows, NULL);
}

/* A client that has read what there was, and waits. */
static void follow(size_t number)
{
    static const request_host HOST = {.resume = resume, .left = left};
    request *r = &requests[number];
    slice piece;
    request_init(r, &server, &counts, j);
    r->host = &HOST;
    r->followers = all;
    r->match.params[0] = tenant;
    r->match.params[1] = SLICE("task");
    request_set_state(r, REQUEST_WORKING);
    handle_task_stream(r);
    batcher_flush(j);
    give_task();
    assert_int_equal(status(number), 200);
    request_set_state(r, REQUEST_SENDING);
    while (r->answer.stream->peek(r, &piece) == STREAM_PIECE)
        r->answer.stream->took(r, piece.len);
}

static int start(void **state)
{
    int failed = set_up(state);
    set.insecure_no_auth = true;
    set.memory_max = 64L << 20;
    set.loops = 1;
    all = followers_new(&set);
    return failed != 0 || all == NULL;
}

static int stop(void **state)
{
    int failed = tear_down(state);
    followers_free(all);
    return failed;
}

/* Some who have asked once, and found nothing new. */
static void wait_for_news(size_t count)
{
    slice piece;
    for (size_t i = 0; i < count; i++)
        follow(i);
    followers_tick(all, clock_ms());
    batcher_flush(j);
    give_rows(NULL, 0);
    for (size_t i = 0; i < count; i++)
        assert_int_equal(requests[i].answer.stream->peek(&requests[i], &piece), STREAM_WAIT);
    looked = resumed = 0;
}

/* A loop may turn ten thousand times a second: whoever is not due costs it next to nothing. */
static void looks_when_they_are_due(void **state)
{
    int64_t now_ms = clock_ms();
    (void)state;
    wait_for_news(FOLLOWERS);
    for (int turn = 0; turn < 10; turn++)
        followers_tick(all, now_ms);
    assert_int_equal(looked, 0);
    followers_tick(all, now_ms + LONG_MS);
    assert_int_equal(looked, FOLLOWERS);
}

/* A server that stops waits for nobody. */
static void ends_at_once(void **state)
{
    int64_t now_ms = clock_ms();
    (void)state;
    wait_for_news(FOLLOWERS);
    atomic_store(&server.stop, STOP_DRAIN);
    followers_tick(all, now_ms);
    assert_int_equal(resumed, FOLLOWERS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(looks_when_they_are_due, start, stop),
        cmocka_unit_test_setup_teardown(ends_at_once, start, stop),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
