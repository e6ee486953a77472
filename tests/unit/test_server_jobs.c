/*
 * test_server_jobs.c: the pool of threads: who works on what, how projects share it, what may wait,
 * and how jobs end whose clients left. The loop is this test, and its requests are played.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <cmocka.h>
#include <pthread.h>
#include <semaphore.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "base/clock.h"
#include "server/background/jobs.h"
#include "server/response/http_error.h"

enum {
    REQUESTS_MAX = 400,
    LOOPS = 2,
    OF_PROJECT = 64,
    IN_ALL = 256,
    CALLS = 8,
    CALLS_OF_PROJECT = 3,
    PATIENCE_MS = 120000
};

static settings set;
static server_state server;
static stats counts[32];
static request requests[REQUESTS_MAX];
static bool resumed[REQUESTS_MAX], gone[REQUESTS_MAX];
static job_pool *pools[JOB_KINDS];
static job_kind kind; /* the pool of add() */
static jobs of_loop, *const all = &of_loop;
static int wake_fd;
static sem_t gate;
static atomic_size_t begun, done_count, given_up;
static pthread_t loop_thread;

static void resume(request *r)
{
    assert_true(pthread_equal(pthread_self(), loop_thread));
    resumed[r - requests] = true;
}

static bool left(const request *r)
{
    return gone[r - requests];
}

/* --- what is worked on --- */

static void work_now(request *r, void *arg)
{
    (void)arg;
    assert_false(pthread_equal(pthread_self(), loop_thread));
    request_answer_fixed(r, 200, SLICE("{}"));
}

/* Waits until the test lets it go. */
static void work_later(request *r, void *arg)
{
    atomic_fetch_add(&begun, 1);
    while (sem_wait(&gate) != 0)
        continue;
    atomic_fetch_add(&given_up, atomic_load(&r->job.given_up));
    work_now(r, arg);
}

static void note_done(request *r, void *arg)
{
    assert_true(pthread_equal(pthread_self(), loop_thread));
    assert_ptr_equal(arg, &requests[r - requests]);
    atomic_fetch_add(&done_count, 1);
}

static bool add(size_t number, const char *tenant, job_work how)
{
    static const request_host HOST = {.resume = resume, .left = left};
    request *r = &requests[number];
    request_init(r, &server, &counts[0], NULL);
    r->host = &HOST;
    r->jobs = all;
    r->match.params[0] = slice_of(tenant);
    request_set_state(r, REQUEST_WORKING);
    return jobs_add(r, kind, how, note_done, r);
}

static unsigned status(size_t number)
{
    return requests[number].state == REQUEST_ANSWERED ? requests[number].answer.status : 0;
}

static void turn(void)
{
    jobs_tick(all, clock_ms());
    clock_sleep_ms(1);
}

static void await_answers(size_t from, size_t before)
{
    int64_t end_ms = clock_ms() + PATIENCE_MS;
    for (size_t i = from; i < before; i++)
        while (!resumed[i] && clock_ms() < end_ms)
            turn();
    for (size_t i = from; i < before; i++)
        assert_int_equal(status(i), 200);
}

static void await_begun(size_t count)
{
    int64_t end_ms = clock_ms() + PATIENCE_MS;
    while (atomic_load(&begun) < count && clock_ms() < end_ms)
        turn();
    assert_int_equal(atomic_load(&begun), count);
}

static void open_gate(size_t count)
{
    for (size_t i = 0; i < count; i++)
        sem_post(&gate);
}

/* --- a pool for each test --- */

static int set_up(void **state)
{
    (void)state;
    set = (settings){.loops = LOOPS,
                     .database_timeout_ms = PATIENCE_MS,
                     .memory_max = 64L << 20,
                     .ability_calls_max = CALLS,
                     .project_ability_calls_max = CALLS_OF_PROJECT};
    server.set = &set;
    memset(counts, 0, sizeof(counts));
    memset(resumed, 0, sizeof(resumed));
    memset(gone, 0, sizeof(gone));
    begun = done_count = given_up = 0;
    sem_init(&gate, 0, 0);
    loop_thread = pthread_self();
    wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    kind = JOB_COMPUTE;
    pools[JOB_COMPUTE] = job_pool_new(&set, JOB_COMPUTE, counts + LOOPS);
    pools[JOB_CALL] = job_pool_new(&set, JOB_CALL, counts + LOOPS + 8);
    of_loop = (jobs){.pools = pools, .stats = &counts[0], .wake_fd = wake_fd};
    return wake_fd < 0 || pools[JOB_COMPUTE] == NULL || pools[JOB_CALL] == NULL;
}

static int tear_down(void **state)
{
    (void)state;
    bool left_over = jobs_are_open(all);
    for (open_gate(left_over ? REQUESTS_MAX : 0); jobs_are_open(all); clock_sleep_ms(1))
        jobs_abort(all);
    for (size_t i = 0; i < REQUESTS_MAX; i++)
        if (requests[i].server != NULL)
            request_clear(&requests[i]);
    memset(requests, 0, sizeof(requests));
    for (size_t i = 0; i < JOB_KINDS; i++)
        job_pool_free(pools[i]);
    sem_destroy(&gate);
    close(wake_fd);
    return left_over;
}

/* --- the tests --- */

static void test_work_is_done_in_a_thread(void **state)
{
    uint64_t wakes = 0;
    (void)state;
    assert_true(add(0, "a", work_later));
    await_begun(1);
    assert_int_equal(requests[0].state, REQUEST_SUSPENDED);
    open_gate(1);
    await_answers(0, 1);
    assert_int_equal(atomic_load(&done_count), 1);
    assert_false(requests[0].job.in_thread);
    assert_ptr_equal(requests[0].stats, &counts[0]);
    assert_int_equal(read(wake_fd, &wakes, sizeof(wakes)), sizeof(wakes));
    assert_int_equal(tally_get(&counts[0].jobs), 0); /* a thread counts in its own */
    assert_int_equal(tally_get(&counts[0].jobs_open), 0);
}

/* The thread may not touch what is the loop's: an answer wakes the connection there. */
static void test_project_leaves_a_thread(void **state)
{
    size_t threads = job_threads(&set, JOB_COMPUTE), several = 10;
    (void)state;
    for (size_t i = 0; i < several; i++)
        assert_true(add(i, "a", work_later));
    await_begun(threads - 1);
    assert_true(add(several, "b", work_now));
    await_answers(several, several + 1);
    assert_int_equal(atomic_load(&begun), threads - 1);
    open_gate(several);
    await_answers(0, several);
    assert_int_equal(atomic_load(&done_count), several + 1);
}

static void test_places_are_bounded(void **state)
{
    size_t number = 0;
    const char *tenants[IN_ALL / OF_PROJECT] = {"a", "b", "c", "d"};
    (void)state;
    for (size_t project = 0; project < IN_ALL / OF_PROJECT; project++) {
        for (size_t i = 0; i < OF_PROJECT; i++)
            assert_true(add(number++, tenants[project], work_later));
        assert_false(add(number, tenants[project], work_later));
        assert_int_equal(status(number), 503);
        assert_string_equal(requests[number].answer.header[0].name, "Retry-After");
        number++;
    }
    assert_false(add(number, "z", work_later)); /* it has none, but all places are taken */
    assert_int_equal(status(number), 503);
    open_gate(number);
    while (jobs_are_open(all))
        turn();
    assert_true(add(number + 1, "z", work_now));
    await_answers(number + 1, number + 2);
}

static void test_client_left(void **state)
{
    size_t threads = job_threads(&set, JOB_COMPUTE);
    (void)state;
    for (size_t i = 0; i < threads; i++)
        assert_true(add(i, "a", work_later)); /* the last one waits */
    await_begun(threads - 1);
    gone[0] = gone[threads - 1] = true;
    while (!resumed[threads - 1])
        turn();
    assert_int_equal(status(threads - 1), 503);
    assert_int_equal(atomic_load(&done_count), 1); /* though it was not worked on */
    assert_false(resumed[0]);                      /* a thread still has it */
    while (!atomic_load(&requests[0].job.given_up))
        turn();
    open_gate(threads);
    await_answers(0, threads - 1);
    assert_int_equal(atomic_load(&given_up), 1);
}

static void test_time_is_over(void **state)
{
    size_t threads = job_threads(&set, JOB_COMPUTE);
    (void)state;
    for (size_t i = 0; i < threads; i++)
        assert_true(add(i, "a", work_later));
    await_begun(threads - 1);
    set.database_timeout_ms = 1;
    while (!resumed[threads - 1])
        turn();
    assert_int_equal(status(threads - 1), 504);
    open_gate(threads);
    await_answers(0, threads - 1);
}

static void test_server_stops(void **state)
{
    size_t threads = job_threads(&set, JOB_COMPUTE);
    (void)state;
    for (size_t i = 0; i < threads; i++)
        assert_true(add(i, "a", work_later));
    await_begun(threads - 1);
    jobs_abort(all);
    assert_int_equal(status(threads - 1), 503);
    assert_true(jobs_are_open(all));
    open_gate(threads);
    while (jobs_are_open(all)) {
        jobs_abort(all);
        clock_sleep_ms(1);
    }
    await_answers(0, threads - 1);
    assert_int_equal(atomic_load(&given_up), threads - 1);
}

/* --- calls of abilities --- */

/* None waits: each call that is accepted has a thread. */
static void test_calls_are_bounded(void **state)
{
    static const char *const TENANTS[CALLS] = {"a", "b", "c", "d", "e", "f", "g", "h"};
    (void)state;
    kind = JOB_CALL;
    for (size_t i = 0; i < CALLS; i++)
        assert_true(add(i, TENANTS[i], work_later));
    await_begun(CALLS);
    assert_false(add(CALLS, "i", work_later));
    assert_int_equal(status(CALLS), 503);
    assert_int_equal(tally_get(&counts[0].ability_calls_open), CALLS);
    kind = JOB_COMPUTE; /* which has threads of its own */
    assert_true(add(CALLS + 1, "a", work_now));
    await_answers(CALLS + 1, CALLS + 2);
    open_gate(CALLS);
    await_answers(0, CALLS);
    kind = JOB_CALL;
    assert_true(add(CALLS + 2, "a", work_now));
    await_answers(CALLS + 2, CALLS + 3);
}

/* A project with calls leaves half of the free threads to the others. */
static void test_calls_are_shared(void **state)
{
    static const char *const TENANTS[CALLS] = {"a", "a", "a", "b", "b", "c", "d", "e"};
    (void)state;
    kind = JOB_CALL;
    for (size_t i = 0; i < CALLS; i++) {
        assert_true(add(i, TENANTS[i], work_later));
        if (i + 1 < CALLS && strcmp(TENANTS[i], TENANTS[i + 1]) == 0)
            continue;
        assert_false(add(CALLS + i, TENANTS[i], work_later));
        assert_int_equal(status(CALLS + i), 503);
    }
    open_gate(CALLS);
    await_answers(0, CALLS);
}

/* The time limit of the database does not end a call. */
static void test_calls_have_their_own_time(void **state)
{
    (void)state;
    kind = JOB_CALL;
    set.database_timeout_ms = 1;
    assert_true(add(0, "a", work_later));
    await_begun(1);
    for (int64_t end_ms = clock_ms() + 600; clock_ms() < end_ms;)
        turn();
    assert_false(atomic_load(&requests[0].job.given_up));
    gone[0] = true;
    while (!atomic_load(&requests[0].job.given_up))
        turn();
    open_gate(1);
    await_answers(0, 1);
}

/* --- it asks for a statement --- */

static void render_none(request *r, const batch_rows *found)
{
    (void)found;
    assert_true(pthread_equal(pthread_self(), loop_thread));
    request_answer_fixed(r, 200, SLICE("{}"));
}

static void ask(request *r, void *arg)
{
    (void)arg;
    r->ticket = (batch_ticket){.kind = BATCH_CARDS, .render = render_none};
    batcher_add(r->batcher, r); /* no thread of the batcher's: it has none here */
}

static void test_statement_is_asked_for_by_the_loop(void **state)
{
    (void)state;
    assert_true(add(0, "a", ask));
    await_answers(0, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_work_is_done_in_a_thread, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_project_leaves_a_thread, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_places_are_bounded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_client_left, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_time_is_over, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_server_stops, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_calls_are_bounded, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_calls_are_shared, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_calls_have_their_own_time, set_up, tear_down),
        cmocka_unit_test_setup_teardown(test_statement_is_asked_for_by_the_loop, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
