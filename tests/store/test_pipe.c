/*
 * test_pipe.c: a pipelined connection by itself, in a loop of its own.
 * link with: -Wl,--wrap=PQsendPrepare
 */
#include "store/store_test.h"

#include <poll.h>
#include "base/clock.h"
#include "db/pipe_internal.h"

static bool prepares_fail;

int __real_PQsendPrepare(PGconn *conn, const char *name, const char *text, int count,
                         const Oid *types);
int __wrap_PQsendPrepare(PGconn *conn, const char *name, const char *text, int count,
                         const Oid *types);

int __wrap_PQsendPrepare(PGconn *conn, const char *name, const char *text, int count,
                         const Oid *types)
{
    return prepares_fail ? 0 : __real_PQsendPrepare(conn, name, text, count, types);
}

typedef struct answer {
    bool there;
    bool has_rows;
    cardbox_error err;
} answer;

static void note_answer(void *arg, store_rows *rows, const cardbox_error *err)
{
    answer *got = arg;
    got->there = true;
    got->has_rows = rows != NULL;
    if (err != NULL)
        got->err = *err;
    rows_free(rows);
}

/* One turn of the loop. */
static void turn(store_pipe *pipe)
{
    unsigned events = pipe_events(pipe);
    struct pollfd ready = {pipe_fd(pipe), POLLIN | ((events & PIPE_WRITE) != 0 ? POLLOUT : 0), 0};
    if (poll(&ready, 1, 10) > 0)
        pipe_ready(pipe);
    pipe_tick(pipe, clock_ms());
}

static void connect_pipe(store_pipe *pipe)
{
    for (int64_t end = clock_ms() + 10000; !pipe_up(pipe) && clock_ms() < end;)
        turn(pipe);
    assert_true(pipe_up(pipe));
}

static answer ask(store_pipe *pipe)
{
    answer got = {.err = CARDBOX_ERROR_INIT};
    cardbox_error err = CARDBOX_ERROR_INIT;
    assert_ok(pipe_send(pipe, STATEMENT_ping, NULL, NULL, note_answer, &got, &err), &err);
    for (int64_t end = clock_ms() + 10000; !got.there && clock_ms() < end;)
        turn(pipe);
    assert_true(got.there);
    return got;
}

/* The server has not what this connection takes for prepared. */
static void lose_prepared(store_pipe *pipe)
{
    pipe->prepared[STATEMENT_ping] = (prepared){.sent = true, .generation = 7};
}

static void a_lost_statement_is_prepared_again(void **state)
{
    store_pipe *pipe = *state;
    lose_prepared(pipe);
    assert_true(ask(pipe).has_rows);
    assert_true(ask(pipe).has_rows);
}

/* Then nobody knows what is in the pipeline: the statement was not done, and may be asked again. */
static void one_that_cannot_be_ends_the_connection(void **state)
{
    store_pipe *pipe = *state;
    lose_prepared(pipe);
    prepares_fail = true;
    answer got = ask(pipe);
    prepares_fail = false;
    assert_false(got.has_rows);
    assert_int_equal(got.err.status, CARDBOX_UNAVAILABLE);
    assert_true(got.err.retryable);
    turn(pipe);
    assert_false(pipe_up(pipe));
    connect_pipe(pipe);
    assert_true(ask(pipe).has_rows);
}

static pipe_hosts hosts;

static int open_pipe(void **state)
{
    store_pipe *pipe = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_options options = test_options();
    if (pipe_new(&pipe, &options, "", &hosts, &err) != CARDBOX_OK)
        return -1;
    *state = pipe;
    connect_pipe(pipe);
    return 0;
}

static int close_pipe(void **state)
{
    pipe_free(*state);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_lost_statement_is_prepared_again, open_pipe, close_pipe),
        cmocka_unit_test_setup_teardown(one_that_cannot_be_ends_the_connection, open_pipe,
                                        close_pipe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
