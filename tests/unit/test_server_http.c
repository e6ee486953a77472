/*
 * test_server_http.c: the HTTP side of a loop with real connections and a database that is played
 * by the test, which runs the library itself and so can count how often it has to: requests that
 * wait must neither keep it busy nor keep others waiting, and their clients may leave.
 */
#include "batcher_play.h"
#include <arpa/inet.h>
#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>
#include "server/net/http.h"

enum {
    PATIENCE_MS = 60 * 1000, /* for what must come */
    LOOKS_MOST = 10,         /* at one that waits, while nothing else happens */
    TURNS_MOST = 50          /* for anything to be done */
};

#define GET    "GET /projects/t/cards/c HTTP/1.1\r\nHost: x\r\n\r\n"
#define LIST   "GET /projects/t/cards HTTP/1.1\r\nHost: x\r\n\r\n"
#define HEALTH "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"

static http *h;
static int listener;
static int64_t now_ms; /* the loop's; it goes on when there is nothing to do */

/* --- a loop and its clients --- */

static bool is_ready(int fd, int wait_ms)
{
    struct pollfd one = {fd, POLLIN, 0};
    return poll(&one, 1, wait_ms) == 1;
}

static bool is_due(void)
{
    return http_next_ms(h, now_ms) <= now_ms;
}

/* Whether it waits for no more than the next look at those that wait. */
static bool looks_soon(void)
{
    int64_t next_ms = http_next_ms(h, now_ms);
    return next_ms > now_ms && next_ms <= now_ms + 1;
}

static void run(void)
{
    http_run(h, now_ms);
    batcher_flush(j);
}

/* What a client did has reached the library's sockets. */
static void run_when_it_comes(void)
{
    assert_true(is_ready(http_fd(h), PATIENCE_MS));
    run();
}

static int batch_in(void)
{
    struct sockaddr_in to;
    socklen_t len = sizeof(to);
    int fd = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(getsockname(listener, (struct sockaddr *)&to, &len), 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&to, len), 0);
    assert_true(is_ready(listener, PATIENCE_MS));
    assert_int_equal(http_accept(h, listener), 0);
    assert_true(is_due());
    run();
    return fd;
}

static void say(int fd, const char *text)
{
    assert_int_equal(send(fd, text, strlen(text), MSG_NOSIGNAL), strlen(text));
}

/* A client whose request is with the play. */
static int ask(const char *text)
{
    size_t sent = play.sent, active = http_active(h);
    int fd = batch_in();
    say(fd, text);
    run_when_it_comes();
    assert_int_equal(http_active(h), active + 1);
    assert_int_equal(play.sent, sent + 1);
    return fd;
}

/* Waits as the loop does. False: the client has something to read. */
static bool await_turn(int fd)
{
    bool looks = looks_soon();
    struct pollfd either[] = {{fd, POLLIN, 0}, {http_fd(h), POLLIN, 0}};
    int ready = poll(either, 2, is_due() ? 0 : looks ? 1 : PATIENCE_MS);
    assert_true(ready > 0 || is_due() || looks);
    now_ms += ready == 0 && looks;
    return either[0].revents == 0;
}

/* The loop's turns, which are few. */
static void turn_until_answered(int fd)
{
    for (int turns = 0; await_turn(fd); turns++) {
        assert_true(turns < TURNS_MOST);
        run();
    }
}

/* What the client got: the status of the last answer, and how many came. */
static int hear(int fd, int *answers)
{
    char text[16 * 1024];
    assert_true(is_ready(fd, PATIENCE_MS));
    ssize_t len = recv(fd, text, sizeof(text) - 1, 0);
    int status = 0, count = 0;
    assert_true(len > 0);
    text[len] = '\0';
    for (const char *at = text; (at = strstr(at, "HTTP/1.1 ")) != NULL; at += 9, count++)
        status = (int)strtol(at + 9, NULL, 10);
    if (answers != NULL)
        *answers = count;
    return status;
}

static void leave(int fd)
{
    struct linger cut = {1, 0}; /* with a reset */
    setsockopt(fd, SOL_SOCKET, SO_LINGER, &cut, sizeof(cut));
    close(fd);
}

static int start(void **state)
{
    struct sockaddr_in any = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    if (set_up(state) != 0)
        return -1;
    set.insecure_no_auth = true;
    set.connections_max = 100;
    set.idle_timeout_s = 75;
    set.request_read_timeout_ms = PATIENCE_MS;
    set.memory_max = 1L << 30;
    set.body_max = 16 * 1024;
    listener = socket(AF_INET, SOCK_STREAM, 0);
    if (bind(listener, (struct sockaddr *)&any, sizeof(any)) != 0 || listen(listener, 100) != 0)
        return -1;
    h = http_new(&server, &counts, &(http_parts){.batcher = j});
    now_ms = clock_ms();
    http_tick(h, now_ms);
    return h == NULL;
}

static int stop(void **state)
{
    batcher_abort(j);
    while (play.flights > 0)
        give_error(CARDBOX_UNAVAILABLE);
    while (http_active(h) > 0 && is_due())
        run();
    http_free(h);
    close(listener);
    return tear_down(state);
}

/* --- tests --- */

static void waiting_costs_nothing(void **state)
{
    (void)state;
    int looks = 0, fd = ask(GET);
    for (; looks_soon(); looks++) {
        assert_true(looks < LOOKS_MOST);
        assert_false(is_ready(http_fd(h), 0));
        now_ms++;
        run();
    }
    assert_true(looks > 0);
    run(); /* the library looks once more what there is to do */
    assert_false(is_due());
    assert_true(http_next_ms(h, now_ms) > now_ms + 1);
    give_rows(NULL, 0);
    assert_true(is_due());
    turn_until_answered(fd);
    assert_int_equal(hear(fd, NULL), 404);
    close(fd);
}

static void answers_leave_in_one_run(void **state)
{
    (void)state;
    int idle = batch_in(); /* the library looks twice at who was silent for longest */
    int fd[] = {ask(GET), batch_in(), batch_in()};
    say(fd[1], GET);
    run_when_it_comes();
    say(fd[2], GET);
    run_when_it_comes();
    assert_false(is_due());
    give_rows(NULL, 0);
    for (int i = 0; i < 3; i += 2) {
        assert_true(is_due());
        run();
        assert_int_equal(hear(fd[i], NULL), 404);
        if (i == 0)
            give_rows(NULL, 0); /* of the other two */
    }
    assert_int_equal(hear(fd[1], NULL), 404);
    assert_false(is_due() || looks_soon());
    for (int i = 0; i < 3; i++)
        close(fd[i]);
    close(idle);
}

/* What takes longer is not asked. */
static void lists_are_suspended_at_once(void **state)
{
    (void)state;
    int fd = ask(LIST);
    assert_false(is_due() || looks_soon());
    leave(fd);
    assert_false(is_ready(http_fd(h), 0));
    assert_int_equal(http_active(h), 1);
}

static void others_are_served(void **state)
{
    (void)state;
    static const char BODY[] = "POST /projects/t/cards/batch HTTP/1.1\r\nHost: x\r\nExpect: "
                               "100-continue\r\nContent-Type: application/json\r\n"
                               "Content-Length: 12000\r\n\r\n";
    char piece[4001], target[9000];
    int waits = ask(GET), fd = batch_in();
    say(fd, HEALTH);
    turn_until_answered(fd);
    assert_int_equal(hear(fd, NULL), 200);

    say(fd, BODY);
    turn_until_answered(fd);
    assert_int_equal(hear(fd, NULL), 100);
    memset(piece, ' ', sizeof(piece));
    piece[4000] = '\0';
    for (int i = 0; i < 3; i++) {
        say(fd, piece);
        run_when_it_comes();
    }
    turn_until_answered(fd);
    assert_int_equal(hear(fd, NULL), 400);

    memset(target, 'a', sizeof(target));
    memcpy(target, "GET /", 5);
    memcpy(target + sizeof(target) - 10, " HTTP/1.1", 10);
    say(fd, target);
    say(fd, "\r\nHost: x\r\n\r\n" HEALTH);
    for (int answers = 0, count; answers < 2; answers += count) {
        turn_until_answered(fd);
        int last = hear(fd, &count);
        assert_int_equal(last, answers + count == 1 ? 404 : 200);
    }
    close(fd);
    close(waits);
}

/* The second while the first waits, as is the third when the first is answered. */
static void pipelined_ones_are_answered(void **state)
{
    (void)state;
    int other = ask(GET), fd = batch_in();
    say(fd, GET);
    run_when_it_comes();
    say(fd, HEALTH HEALTH);
    run_when_it_comes();
    leave(other); /* it was alone in the first statement */
    run_when_it_comes();
    give_rows(NULL, 0);
    batcher_flush(j);
    other = batch_in();
    say(other, GET);
    run_when_it_comes();
    give_rows(NULL, 0);
    for (int answers = 0, count; answers < 3; answers += count) {
        turn_until_answered(fd);
        int last = hear(fd, &count);
        assert_int_equal(last, answers + count == 1 ? 404 : 200);
    }
    close(fd);
    close(other);
}

static void half_closed_ones_are_answered(void **state)
{
    (void)state;
    int fd = ask(GET);
    shutdown(fd, SHUT_WR);
    run_when_it_comes();
    give_rows(NULL, 0);
    turn_until_answered(fd);
    assert_int_equal(hear(fd, NULL), 404);
    turn_until_answered(fd);
    assert_int_equal(recv(fd, &(char){0}, 1, 0), 0);
    assert_int_equal(http_active(h), 0);
    close(fd);
}

/* With their statement on its way, or before. */
static void who_leaves_is_forgotten(void **state)
{
    (void)state;
    int fd[] = {ask(GET), batch_in(), batch_in()};
    for (int i = 1; i < 3; i++) {
        say(fd[i], GET);
        run_when_it_comes();
    }
    leave(fd[0]);
    leave(fd[1]);
    while (http_active(h) > 1)
        run_when_it_comes();
    assert_false(is_due());
    assert_int_equal(tally_get(&counts.waiting), 1);
    give_rows(NULL, 0); /* for nobody */
    batcher_flush(j);
    assert_int_equal(play.keys, 1);
    give_rows(NULL, 0);
    turn_until_answered(fd[2]);
    assert_int_equal(hear(fd[2], NULL), 404);
    close(fd[2]);
}

static void stops_while_some_wait(void **state)
{
    (void)state;
    int fd = ask(GET);
    batcher_abort(j);
    turn_until_answered(fd);
    assert_int_equal(hear(fd, NULL), 503);
    close(fd);
    fd = batch_in();
    say(fd, GET);
    run_when_it_comes(); /* the connection is busy: it waits for its turn when all ends */
    assert_int_equal(http_active(h), 1);
    close(fd);
}

#define HTTP_TEST(name) cmocka_unit_test_setup_teardown(name, start, stop)

int main(void)
{
    const struct CMUnitTest tests[] = {
        HTTP_TEST(waiting_costs_nothing),       HTTP_TEST(answers_leave_in_one_run),
        HTTP_TEST(lists_are_suspended_at_once), HTTP_TEST(others_are_served),
        HTTP_TEST(pipelined_ones_are_answered), HTTP_TEST(half_closed_ones_are_answered),
        HTTP_TEST(who_leaves_is_forgotten),     HTTP_TEST(stops_while_some_wait),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
