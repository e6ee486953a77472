/*
 * loop.c: in each iteration, a loop waits, reads answers of the database, serves clients and sends
 * statements. Before a loop ends, it answers all suspended requests.
 */
#include "server/loop.h"
#include <pthread.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "base/clock.h"
#include "server/batch/db_conns.h"
#include "server/net/acceptor.h"
#include "server/background/jobs.h"
#include "server/api/followers.h"
#include "server/background/transfers.h"

enum {
    EVENTS_MAX = 64,
    TAG_WAKE = 0,
    TAG_HTTP = 1,
    TAG_ACCEPT = 2,
    /* epoll tag of the first database connection; the tags of the other connections follow */
    TAG_DATABASE = 3,
    LINGER_MS = 100,     /* draining ends early if the loop had no request for this time */
    SEND_LAST_MS = 2000, /* maximum time in LOOP_CLOSING, unless jobs still run */
    WAIT_MOST_MS = 60000,
    JOB_END_MS = 2 /* pause between two checks whether jobs have ended */
};

typedef enum loop_phase {
    LOOP_SERVING,
    LOOP_DRAINING, /* no connections are accepted; requests are finished */
    LOOP_CLOSING,  /* the remaining requests are answered, mostly with 503, and the answers are sent
                    */
    LOOP_OVER
} loop_phase;

struct loop {
    server_state *server;
    stats *stats;
    int epoll_fd;
    int wake_fd;
    http *http;
    acceptor acceptor;
    db_conns *conns;
    batcher *batcher;
    transfers transfers;
    followers *followers;
    jobs jobs;
    pthread_t thread;
    bool started;
    loop_phase phase;
    int64_t phase_ms;  /* latest end of LOOP_DRAINING or LOOP_CLOSING */
    int64_t active_ms; /* when the loop last had a request */
};

static bool watch_fd(const loop *l, int fd, uint64_t tag)
{
    struct epoll_event how = {.events = EPOLLIN, .data.u64 = tag};
    return epoll_ctl(l->epoll_fd, EPOLL_CTL_ADD, fd, &how) == 0;
}

void loop_wait(loop *l)
{
    if (l->started)
        pthread_join(l->thread, NULL);
    l->started = false;
}

void loop_free(loop *l)
{
    if (l == NULL)
        return;
    loop_wait(l);
    acceptor_close(&l->acceptor, NULL);
    http_free(l->http);
    db_conns_free(l->conns);
    batcher_free(l->batcher);
    followers_free(l->followers);
    if (l->wake_fd >= 0)
        close(l->wake_fd);
    if (l->epoll_fd >= 0)
        close(l->epoll_fd);
    free(l);
}

static cardbox_status open_parts(loop *l, size_t number, cardbox_error *err)
{
    l->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
    l->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (l->epoll_fd < 0 || l->wake_fd < 0)
        return CARDBOX_NOMEM;
    loop_handles at = {number, l->epoll_fd, l->wake_fd, TAG_DATABASE};
    cardbox_status status = db_conns_new(&l->conns, l->server, &at, err);
    if (status != CARDBOX_OK)
        return status;
    l->batcher = batcher_new(l->server, l->stats, l->conns);
    l->transfers.wake_fd = l->wake_fd;
    l->followers = followers_new(l->server->set);
    l->jobs = (jobs){.pools = l->server->jobs, .stats = l->stats, .wake_fd = l->wake_fd};
    if (l->batcher == NULL || l->followers == NULL)
        return CARDBOX_NOMEM;
    l->http = http_new(l->server, l->stats,
                       &(http_parts){.batcher = l->batcher,
                                     .transfers = &l->transfers,
                                     .followers = l->followers,
                                     .jobs = &l->jobs});
    if (l->http == NULL || !watch_fd(l, l->wake_fd, TAG_WAKE) ||
        !watch_fd(l, http_fd(l->http), TAG_HTTP))
        return CARDBOX_NOMEM;
    return CARDBOX_OK;
}

cardbox_status loop_new(loop **out, server_state *server, size_t number, int listen_fd,
                        cardbox_error *err)
{
    loop *l = calloc(1, sizeof(*l));
    if (l == NULL) {
        close(listen_fd);
        return CARDBOX_NOMEM;
    }
    l->server = server;
    l->stats = &server->stats[number];
    l->epoll_fd = l->wake_fd = -1;
    cardbox_status status = open_parts(l, number, err);
    l->acceptor = (acceptor){.server = server,
                             .number = number,
                             .epoll_fd = l->epoll_fd,
                             .tag = TAG_ACCEPT,
                             .fd = listen_fd};
    if (status != CARDBOX_OK)
        loop_free(l);
    else
        *out = l;
    return status;
}

/* --- stopping --- */

static void set_phase(loop *l, loop_phase phase, int64_t end_ms)
{
    l->phase = phase;
    l->phase_ms = end_ms;
}

/* Answers the waiting requests, mostly with 503, because no request may be suspended when
 * libmicrohttpd stops. A request on which a helper thread works stays suspended until its job has
 * ended. */
static void abort_requests(loop *l)
{
    jobs_abort(&l->jobs);
    batcher_abort(l->batcher);
    transfers_abort(&l->transfers);
    followers_tick(l->followers, clock_ms());
}

/* Draining ends early if the loop had no request for LINGER_MS. While a loop stops, its answers
 * have "Connection: close", so clients that send one request after another do not delay the end. */
static void continue_stopping(loop *l, int64_t now_ms)
{
    int stop = atomic_load(&l->server->stop);
    if (http_active(l->http) > 0)
        l->active_ms = now_ms;
    if (l->phase == LOOP_SERVING && stop != STOP_NOT) {
        acceptor_close(&l->acceptor, l->http);
        l->active_ms = now_ms;
        set_phase(l, LOOP_DRAINING, now_ms + l->server->set->drain_timeout_ms);
    }
    bool quiet = now_ms - l->active_ms >= LINGER_MS;
    if (l->phase == LOOP_DRAINING && (quiet || stop == STOP_AT_ONCE || now_ms >= l->phase_ms))
        set_phase(l, LOOP_CLOSING, now_ms + SEND_LAST_MS);
    if (l->phase == LOOP_CLOSING) {
        abort_requests(l);
        if (http_active(l->http) == 0 || (now_ms >= l->phase_ms && !jobs_are_open(&l->jobs)))
            set_phase(l, LOOP_OVER, now_ms);
    }
}

/* --- iterations --- */

static int64_t earlier(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

static int wait_ms(const loop *l)
{
    int64_t now_ms = clock_ms();
    int64_t next_ms = http_next_ms(l->http, now_ms);
    if (next_ms <= now_ms)
        return 0;
    next_ms = earlier(next_ms, db_conns_next_ms(l->conns));
    next_ms = earlier(next_ms, batcher_next_ms(l->batcher));
    next_ms = earlier(next_ms, acceptor_next_ms(&l->acceptor));
    next_ms = earlier(next_ms, transfers_next_ms(&l->transfers));
    next_ms = earlier(next_ms, followers_next_ms(l->followers));
    next_ms = earlier(next_ms, jobs_next_ms(&l->jobs));
    if (l->phase != LOOP_SERVING)
        next_ms = earlier(next_ms, now_ms + LINGER_MS / 4);
    next_ms = earlier(next_ms, now_ms + WAIT_MOST_MS);
    return next_ms <= now_ms ? 0 : (int)(next_ms - now_ms);
}

static void dispatch(loop *l, const struct epoll_event *events, int count, int64_t now_ms)
{
    eventfd_t ignored;
    for (int i = 0; i < count; i++) {
        if (events[i].data.u64 >= TAG_DATABASE)
            db_conns_on_socket(l->conns, events[i].data.u64 - TAG_DATABASE);
        else if (events[i].data.u64 == TAG_HTTP)
            http_ready(l->http, now_ms);
        else if (events[i].data.u64 == TAG_ACCEPT)
            acceptor_ready(&l->acceptor, l->http, now_ms);
        else
            eventfd_read(l->wake_fd, &ignored);
    }
}

static void handle_events(loop *l, const struct epoll_event *events, int count, int64_t now_ms)
{
    bool http_ready = count <= 0;
    dispatch(l, events, count, now_ms);
    for (int i = 0; i < count; i++)
        http_ready = http_ready || events[i].data.u64 == TAG_HTTP;
    acceptor_tick(&l->acceptor, now_ms);
    db_conns_tick(l->conns, now_ms);
    batcher_tick(l->batcher, now_ms);
    transfers_tick(&l->transfers, now_ms);
    followers_tick(l->followers, now_ms);
    jobs_tick(&l->jobs, now_ms);
    http_tick(l->http, now_ms);
    continue_stopping(l, now_ms);
    if (http_ready || http_next_ms(l->http, now_ms) <= now_ms)
        http_run(l->http, clock_ms());
    batcher_flush(l->batcher);
}

static void iterate(loop *l)
{
    struct epoll_event events[EVENTS_MAX];
    int count = epoll_wait(l->epoll_fd, events, EVENTS_MAX, wait_ms(l));
    int64_t begun_us = clock_us();
    handle_events(l, events, count, begun_us / 1000);
    stats_turn(l->stats, clock_us() - begun_us);
}

static void *run_loop(void *arg)
{
    loop *l = arg;
    while (l->phase != LOOP_OVER)
        iterate(l);
    for (abort_requests(l); jobs_are_open(&l->jobs); abort_requests(l))
        clock_sleep_ms(JOB_END_MS);
    atomic_fetch_sub(&l->server->loops_running, 1);
    return NULL;
}

bool loop_start(loop *l)
{
    atomic_fetch_add(&l->server->loops_running, 1);
    l->started = pthread_create(&l->thread, NULL, run_loop, l) == 0;
    if (!l->started)
        atomic_fetch_sub(&l->server->loops_running, 1);
    return l->started;
}

void loop_wake(loop *l)
{
    eventfd_write(l->wake_fd, 1);
}
