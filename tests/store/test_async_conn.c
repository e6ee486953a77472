/*
 * test_async_conn.c: a pipelined connection by itself, in a loop of its own, and its connector.
 * link with: -Wl,--wrap=PQsendPrepare
 */
#include "store/store_test.h"

#include <netinet/in.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "base/clock.h"
#include "db/async_internal.h"

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

static atomic_int open_count;
static connector *opener;
static int wake_fd;

/* One iteration of the loop. */
static void turn(async_conn *c)
{
    short events = (async_conn_events(c) & ASYNC_WRITE) != 0 ? POLLIN | POLLOUT : POLLIN;
    struct pollfd ready[] = {{async_conn_fd(c), events, 0}, {wake_fd, POLLIN, 0}};
    uint64_t woken;
    if (poll(ready, 2, 10) > 0 && ready[0].revents != 0)
        async_conn_ready(c);
    if (ready[1].revents != 0)
        assert_int_equal(read(wake_fd, &woken, sizeof(woken)), sizeof(woken));
    async_conn_tick(c, clock_ms());
}

static void await_up(async_conn *c)
{
    for (int64_t end = clock_ms() + 10000; !async_conn_is_up(c) && clock_ms() < end;)
        turn(c);
    assert_true(async_conn_is_up(c));
}

static answer ask(async_conn *c)
{
    answer got = {.err = CARDBOX_ERROR_INIT};
    cardbox_error err = CARDBOX_ERROR_INIT;
    assert_ok(async_conn_send(c, STATEMENT_ping, NULL, NULL, note_answer, &got, &err), &err);
    for (int64_t end = clock_ms() + 10000; !got.there && clock_ms() < end;)
        turn(c);
    assert_true(got.there);
    return got;
}

/* The server has not what this connection takes for prepared. */
static void lose_prepared(async_conn *c)
{
    c->prepared[STATEMENT_ping] = true;
}

static void a_lost_statement_needs_another_connection(void **state)
{
    async_conn *c = *state;
    lose_prepared(c);
    answer got = ask(c);
    assert_false(got.has_rows);
    assert_string_equal(got.err.sqlstate, "26000");
    assert_true(got.err.retryable);
    await_up(c);
    assert_true(ask(c).has_rows);
}

/* Then nobody knows what is in the pipeline: the statement was not done, and may be asked again. */
static void one_that_cannot_be_ends_the_connection(void **state)
{
    async_conn *c = *state;
    cardbox_error err = CARDBOX_ERROR_INIT;
    prepares_fail = true;
    assert_int_equal(async_conn_send(c, STATEMENT_ping, NULL, NULL, note_answer, NULL, &err),
                     CARDBOX_UNAVAILABLE);
    prepares_fail = false;
    assert_true(err.retryable);
    turn(c);
    assert_false(async_conn_is_up(c));
    await_up(c);
    assert_true(ask(c).has_rows);
}

static int silent_host(uint16_t *port)
{
    struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof(at);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(fd >= 0 && bind(fd, (struct sockaddr *)&at, sizeof(at)) == 0);
    assert_int_equal(listen(fd, 10), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&at, &length), 0);
    *port = ntohs(at.sin_port);
    return fd;
}

/* Nobody waits for the attempt any more, and so nobody waits for its end. */
static void an_attempt_that_hangs_is_abandoned(void **state)
{
    (void)state;
    uint16_t port;
    char conninfo[80];
    async_conn *c = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_options options = test_options();
    atomic_int count = 0;
    connector *hangs = connector_new(&count);
    int fd = silent_host(&port), woken = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    snprintf(conninfo, sizeof(conninfo), "host=127.0.0.1 port=%u sslmode=disable", port);
    options.conninfo = conninfo;
    options.connect_timeout_ms = 60000;
    assert_ok(async_conn_new(&c, &options, hangs, woken, NULL, &err), &err);
    async_conn_tick(c, clock_ms());
    int client = accept(fd, NULL, NULL); /* the attempt is under way */
    assert_true(async_conn_is_wanted(c) && !async_conn_is_up(c));
    assert_int_equal(async_conn_next_ms(c), INT64_MAX);
    async_conn_free(c);
    assert_false(connector_free(hangs));
    close(fd);
    close(client); /* libpq notices */
    while (!connector_free(hangs))
        continue;
    assert_int_equal(atomic_load(&count), 0);
    close(woken);
}

static int open_conn(void **state)
{
    async_conn *c = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_options options = test_options();
    wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    opener = connector_new(&open_count);
    if (opener == NULL || async_conn_new(&c, &options, opener, wake_fd, NULL, &err) != CARDBOX_OK)
        return -1;
    *state = c;
    await_up(c);
    return 0;
}

static int close_conn(void **state)
{
    async_conn_free(*state);
    bool ended = connector_free(opener);
    close(wake_fd);
    return !ended || atomic_load(&open_count) != 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_lost_statement_needs_another_connection, open_conn,
                                        close_conn),
        cmocka_unit_test(an_attempt_that_hangs_is_abandoned),
        cmocka_unit_test_setup_teardown(one_that_cannot_be_ends_the_connection, open_conn,
                                        close_conn),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
