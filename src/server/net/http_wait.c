/*
 * http_wait.c: how a connection waits for the answer of its request, and when libmicrohttpd runs.
 * Suspending and resuming a connection costs three system calls and an epoll event. A connection
 * that is not suspended costs almost nothing: libmicrohttpd calls its handler again in each run. So
 * a connection that waits for a read of cards or boxes by id is polled first, and suspended after
 * POLLS_MOST runs. Polling saves CPU time for small reads.
 *
 * While a connection is polled or in a TLS handshake, MHD_get_timeout may always return 0. So
 * http_note_pending() records when libmicrohttpd really needs another run. If no other run is
 * needed, libmicrohttpd runs every POLL_MS, and when its descriptor is ready.
 */
#include "server/net/http_internal.h"

enum {
    POLLS_MOST = 16,    /* weighted number of runs after which a polled connection is suspended */
    POLLS_IDLE_RUN = 8, /* weight of a run that was made only for polled connections */
    POLL_MS = 1,        /* maximum time between two runs while connections are polled */
    RUNS_MAX = 3        /* maximum number of runs in one iteration of the loop */
};

static void set_wait(exchange *x, exchange_wait to)
{
    x->http->polled += to == WAIT_POLLED;
    x->http->polled -= x->wait == WAIT_POLLED;
    x->wait = to;
}

void http_suspend(exchange *x)
{
    set_wait(x, WAIT_SUSPENDED);
    MHD_suspend_connection(x->connection);
}

void http_wait(exchange *x)
{
    request *r = &x->request;
    if (x->polls < POLLS_MOST && batcher_waits_for_quick_read(r)) {
        x->polls += x->http->idle_run ? POLLS_IDLE_RUN : 1;
        set_wait(x, WAIT_POLLED);
    } else {
        http_suspend(x);
    }
}

void http_resume(request *r)
{
    exchange *x = (exchange *)r;
    x->http->pending = true;
    if (x->wait == WAIT_SUSPENDED)
        MHD_resume_connection(x->connection);
    set_wait(x, WAIT_NOT);
}

void http_end_wait(exchange *x)
{
    batcher_client_left(x->request.batcher, &x->request);
    set_wait(x, WAIT_NOT);
}

void http_note_pending(http *h)
{
    h->pending = h->pending || h->polled > 0 || h->handshaking > 0;
}

void http_set_handshaking(http *h, client *c, bool handshaking)
{
    h->handshaking += handshaking;
    h->handshaking -= c->handshaking;
    c->handshaking = handshaking;
}

static int64_t library_ms(const http *h, int64_t now_ms)
{
    MHD_UNSIGNED_LONG_LONG wait_ms;
    if (h->pending)
        return now_ms;
    if (h->polled > 0)
        return h->run_ms + POLL_MS;
    if (MHD_get_timeout(h->daemon, &wait_ms) != MHD_YES || wait_ms >= INT32_MAX)
        return INT64_MAX;
    if (wait_ms == 0 && h->handshaking > 0)
        return h->run_ms + POLL_MS;
    return now_ms + (int64_t)wait_ms;
}

int64_t http_next_ms(const http *h, int64_t now_ms)
{
    int64_t next_ms = library_ms(h, now_ms);
    if (!TAILQ_EMPTY(&h->clients.list) && h->clients.due_ms < next_ms)
        next_ms = h->clients.due_ms;
    return next_ms;
}

void http_run(http *h, int64_t now_ms)
{
    h->idle_run = !h->pending && h->polled > 0 && now_ms >= h->run_ms + POLL_MS;
    h->run_ms = now_ms;
    for (int runs = 0; runs == 0 || (runs < RUNS_MAX && library_ms(h, now_ms) <= now_ms); runs++) {
        h->pending = false;
        MHD_run(h->daemon);
    }
    /* libmicrohttpd could not start these connections, and has closed them */
    tally_sub(&h->stats->clients, h->starting);
    h->starting = 0;
}
