/*
 * test_hanging.c: appends of many threads while the database hangs: each call returns in the
 * caller's own time and reports what it knows. Between the SDK and PostgreSQL stands a proxy that
 * stops forwarding. It keeps its connections open, so that nothing reports the loss.
 */
#include "store/store_test.h"

#include <libpq-fe.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <time.h>
#include <unistd.h>

/* --- the proxy --- */

enum { PAIRS_MAX = 128, FREEZE_ALL = PAIRS_MAX };

typedef struct pair {
    int client, server;
    bool frozen;
} pair;

static struct {
    char dir[64];
    struct sockaddr_un own, behind;
    int listener;
    pthread_t thread;
    atomic_bool ends;
    atomic_int to_freeze; /* so many connections on which a request comes; FREEZE_ALL: all */
    atomic_int frozen;
    pair pairs[PAIRS_MAX];
    int count;
} proxy;

static void accept_pair(void)
{
    int client = accept(proxy.listener, NULL, NULL);
    int server = socket(AF_UNIX, SOCK_STREAM, 0);
    if (client < 0 || proxy.count == PAIRS_MAX ||
        connect(server, (struct sockaddr *)&proxy.behind, sizeof(proxy.behind)) != 0) {
        close(client);
        close(server);
        return;
    }
    proxy.pairs[proxy.count++] = (pair){client, server, false};
}

/* False: one side has closed. */
static bool forward(int from, int to)
{
    char bytes[65536];
    ssize_t got = recv(from, bytes, sizeof(bytes), 0);
    return got > 0 && send(to, bytes, (size_t)got, MSG_NOSIGNAL) == got;
}

static void close_pair(int i)
{
    close(proxy.pairs[i].client);
    close(proxy.pairs[i].server);
    proxy.pairs[i] = proxy.pairs[--proxy.count];
}

static void serve_pair(int i, bool from_client, bool from_server)
{
    pair *p = &proxy.pairs[i];
    int left = atomic_load(&proxy.to_freeze);
    if (from_client && left > 0) {
        p->frozen = true;
        atomic_fetch_add(&proxy.frozen, 1);
        atomic_store(&proxy.to_freeze, left == FREEZE_ALL ? left : left - 1);
    } else if ((from_client && !forward(p->client, p->server)) ||
               (from_server && !forward(p->server, p->client))) {
        close_pair(i);
    }
}

static void *run_proxy(void *arg)
{
    struct pollfd ready[2 * PAIRS_MAX + 1];
    while (!atomic_load(&proxy.ends)) {
        int count = proxy.count;
        ready[2 * count] = (struct pollfd){proxy.listener, POLLIN, 0};
        for (int i = 0; i < count; i++) {
            short events = proxy.pairs[i].frozen ? 0 : POLLIN;
            ready[2 * i] = (struct pollfd){proxy.pairs[i].client, events, 0};
            ready[2 * i + 1] = (struct pollfd){proxy.pairs[i].server, events, 0};
        }
        poll(ready, (nfds_t)(2 * count + 1), 20);
        for (int i = count - 1; i >= 0; i--) {
            if (proxy.pairs[i].frozen && (ready[2 * i].revents & POLLHUP) != 0)
                close_pair(i);
            else if (!proxy.pairs[i].frozen && (ready[2 * i].revents | ready[2 * i + 1].revents))
                serve_pair(i, ready[2 * i].revents != 0, ready[2 * i + 1].revents != 0);
        }
        if (ready[2 * count].revents != 0)
            accept_pair();
    }
    return arg;
}

static void start_proxy(void)
{
    PGconn *pg = PQconnectdb(test_dsn());
    assert_int_equal(PQstatus(pg), CONNECTION_OK);
    memset(&proxy, 0, sizeof(proxy));
    snprintf(proxy.dir, sizeof(proxy.dir), "/tmp/cardbox-hang-XXXXXX");
    assert_non_null(mkdtemp(proxy.dir));
    proxy.own.sun_family = proxy.behind.sun_family = AF_UNIX;
    snprintf(proxy.own.sun_path, sizeof(proxy.own.sun_path), "%s/.s.PGSQL.5432", proxy.dir);
    snprintf(proxy.behind.sun_path, sizeof(proxy.behind.sun_path), "%s/.s.PGSQL.%s", PQhost(pg),
             PQport(pg));
    PQfinish(pg);
    proxy.listener = socket(AF_UNIX, SOCK_STREAM, 0);
    assert_int_equal(bind(proxy.listener, (struct sockaddr *)&proxy.own, sizeof(proxy.own)), 0);
    assert_int_equal(listen(proxy.listener, PAIRS_MAX), 0);
    assert_int_equal(pthread_create(&proxy.thread, NULL, run_proxy, NULL), 0);
}

static void stop_proxy(void)
{
    atomic_store(&proxy.ends, true);
    pthread_join(proxy.thread, NULL);
    while (proxy.count > 0)
        close_pair(0);
    close(proxy.listener);
    unlink(proxy.own.sun_path);
    rmdir(proxy.dir);
}

static void freeze(int count)
{
    atomic_store(&proxy.to_freeze, count);
}

static cardbox *open_by_proxy(unsigned statement_timeout_ms)
{
    cardbox *opened = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_options options = test_options();
    char dsn[1024];
    snprintf(dsn, sizeof(dsn), "%s host=%s port=5432", test_dsn(), proxy.dir);
    options.conninfo = dsn;
    options.pool_max = TEST_CONNECTIONS;
    options.pool_min = 4; /* a request is what comes first on these */
    options.acquire_timeout_ms = options.connect_timeout_ms = options.retry_timeout_ms = 1000;
    options.statement_timeout_ms = statement_timeout_ms;
    assert_ok(cardbox_open(&opened, &options, &err), &err);
    return opened;
}

/* --- threads --- */

typedef struct job {
    pthread_t thread;
    cardbox *with;
    char box[CARDBOX_UUID_SIZE];
    const char *key;
    int appends;
    cardbox_status status; /* of the last append */
    cardbox_error err;
    double longest_s;
} job;

static double now_s(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

static void *append(void *arg)
{
    job *my = arg;
    const char *id = "card";
    cardbox_append_options how = CARDBOX_APPEND_OPTIONS_INIT;
    how.key = my->key;
    for (int i = 0; i < my->appends && my->status == CARDBOX_OK; i++) {
        double began_s = now_s();
        my->status = cardbox_append_to_box(NULL, my->with, "hang", my->box, &id, 1, &how, &my->err);
        double took_s = now_s() - began_s;
        my->longest_s = took_s > my->longest_s ? took_s : my->longest_s;
    }
    return NULL;
}

/* Each with a box of its own, which is made on the side. */
static void make_jobs(job *jobs, int count, cardbox *with, int appends)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_box_change change;
    for (int i = 0; i < count; i++) {
        jobs[i] = (job){.with = with, .appends = appends, .err = CARDBOX_ERROR_INIT};
        assert_ok(cardbox_box_ensure(&change, db, "hang", NULL, &err), &err);
        memcpy(jobs[i].box, change.box_id, CARDBOX_UUID_SIZE);
    }
}

static void start(job *jobs, int count)
{
    for (int i = 0; i < count; i++)
        assert_int_equal(pthread_create(&jobs[i].thread, NULL, append, &jobs[i]), 0);
}

static void finish(const job *jobs, int count)
{
    for (int i = 0; i < count; i++)
        pthread_join(jobs[i].thread, NULL);
}

static size_t cards_in(const char *box)
{
    cardbox_boxes *found = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    assert_ok(cardbox_load_box(&found, db, "hang", box, NULL, &err), &err);
    size_t count = cardbox_boxes_at(found, 0)->card_count;
    cardbox_boxes_free(found);
    return count;
}

/* --- tests --- */

enum { CALLS_MAX = 60 };

/* What the four timeouts of a second and the two seconds that a server has to answer by itself
 * allow, and as much again as a slow machine may need. */
static const double ALLOWED_S = 6.0 + 2.5;

/* Whether a failed call was honest about what became of it. */
static void check_failure(const job *j)
{
    if (j->status == CARDBOX_TIMEOUT) {
        assert_false(j->err.retryable);
        assert_non_null(strstr(j->err.message, "the outcome is unknown"));
        return;
    }
    assert_true(j->status == CARDBOX_BUSY || j->status == CARDBOX_UNAVAILABLE);
    assert_true(j->err.retryable);
    assert_int_equal(cards_in(j->box), 0);
}

static void hang_all(int count)
{
    job jobs[CALLS_MAX];
    int timeouts = 0;
    start_proxy();
    cardbox *with = open_by_proxy(1000);
    make_jobs(jobs, count, with, 1);
    freeze(FREEZE_ALL);
    start(jobs, count);
    finish(jobs, count);
    for (int i = 0; i < count; i++) {
        if (jobs[i].longest_s > ALLOWED_S)
            fail_msg("call %d of %d took %.1f s", i, count, jobs[i].longest_s);
        check_failure(&jobs[i]);
        timeouts += jobs[i].status == CARDBOX_TIMEOUT;
    }
    assert_true(timeouts > 0);
    cardbox_close(with);
    stop_proxy();
}

static void sixteen_calls_return_in_their_time(void **state)
{
    (void)state;
    hang_all(16);
}

static void sixty_calls_return_in_their_time(void **state)
{
    (void)state;
    hang_all(CALLS_MAX);
}

/* With a connection that hangs and all that wait for their turn on the same box. */
static void one_box_makes_no_queue(void **state)
{
    (void)state;
    job jobs[16];
    start_proxy();
    cardbox *with = open_by_proxy(1000);
    make_jobs(jobs, 16, with, 1);
    for (int i = 1; i < 16; i++)
        memcpy(jobs[i].box, jobs[0].box, CARDBOX_UUID_SIZE);
    freeze(FREEZE_ALL);
    start(jobs, 16);
    finish(jobs, 16);
    for (int i = 0; i < 16; i++) {
        assert_int_not_equal(jobs[i].status, CARDBOX_OK);
        if (jobs[i].longest_s > ALLOWED_S)
            fail_msg("call %d took %.1f s", i, jobs[i].longest_s);
    }
    cardbox_close(with);
    stop_proxy();
}

/* Two connections hang, which are all that send appends of threads together: the calls after them
 * go by others. A call whose statement was taken by the server in the end finds itself done. */
static void others_go_by_other_connections(void **state)
{
    (void)state;
    enum { HANGING = 2, OTHERS = 6 };
    job hanging[HANGING], others[OTHERS];
    start_proxy();
    cardbox *with = open_by_proxy(5000);
    make_jobs(hanging, HANGING, with, 1);
    make_jobs(others, OTHERS, with, 3);
    for (int i = 0; i < HANGING; i++) {
        hanging[i].key = "key";
        freeze(1);
        start(&hanging[i], 1);
        while (atomic_load(&proxy.frozen) <= i)
            usleep(1000);
    }
    start(others, OTHERS);
    finish(others, OTHERS);
    for (int i = 0; i < OTHERS; i++) {
        assert_ok(others[i].status, &others[i].err);
        assert_int_equal(cards_in(others[i].box), 3);
        if (others[i].longest_s > 4.0) /* those that hang do so for 7 */
            fail_msg("a call took %.1f s", others[i].longest_s);
    }
    finish(hanging, HANGING);
    for (int i = 0; i < HANGING; i++) {
        check_failure(&hanging[i]);
        hanging[i].status = CARDBOX_OK;
    }
    start(hanging, HANGING);
    finish(hanging, HANGING);
    for (int i = 0; i < HANGING; i++) {
        assert_ok(hanging[i].status, &hanging[i].err);
        assert_int_equal(cards_in(hanging[i].box), 1);
    }
    cardbox_close(with);
    stop_proxy();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sixteen_calls_return_in_their_time),
        cmocka_unit_test(sixty_calls_return_in_their_time),
        cmocka_unit_test(one_box_makes_no_queue),
        cmocka_unit_test(others_go_by_other_connections),
    };
    return cmocka_run_group_tests(tests, open_db, close_db);
}
