/*
 * http_wait.c: how a connection waits for the answer of its request, and when the library runs.
 * Suspending and resuming a connection costs three system calls and an epoll event. A connection
 * that is not suspended costs almost nothing: the library calls its handler again in each run. So a
 * connection that waits for a read by id is polled first, and suspended after LOOKS_MOST runs. This
 * saves a sixth of the server's CPU time for a small read.
 *
 * While connections are polled, MHD_get_timeout always returns 0, and also during a TLS handshake.
 * So http_more() notes when the library really has more work. Otherwise it runs every LOOK_MS.
 */
#include "server/net/http_internal.h"

enum {
    LOOKS_MOST = 16,  /* runs before the connection is suspended */
    LOOKS_SILENT = 8, /* weight of a run that was made only for waiting requests */
    LOOK_MS = 1,      /* maximum between two runs while connections are polled */
    RUNS_MOST = 3     /* in one iteration: to accept, to send and to complete an answer */
};

static void wait_move(exchange *x, exchange_wait to)
{
    x->http->asked += to == WAIT_ASKED;
    x->http->asked -= x->wait == WAIT_ASKED;
    x->wait = to;
}

void http_suspend(exchange *x)
{
    wait_move(x, WAIT_SUSPENDED);
    MHD_suspend_connection(x->connection);
}

void http_wait(exchange *x)
{
    request *r = &x->request;
    if (x->looks < LOOKS_MOST && batcher_is_quick(r->batcher, r)) {
        x->looks += x->http->silent ? LOOKS_SILENT : 1;
        wait_move(x, WAIT_ASKED);
    } else {
        http_suspend(x);
    }
}

void http_wake(exchange *x)
{
    x->http->pending = true;
    if (x->wait == WAIT_SUSPENDED)
        MHD_resume_connection(x->connection);
    wait_move(x, WAIT_NOT);
}

void http_leave(exchange *x)
{
    batcher_leave(x->request.batcher, &x->request);
    wait_move(x, WAIT_NOT);
}

void http_more(http *h)
{
    h->pending = h->pending || h->asked > 0 || h->greeting > 0;
}

void http_greeting(http *h, client *c, bool goes_on)
{
    h->greeting += goes_on;
    h->greeting -= c->greeting;
    c->greeting = goes_on;
}

/* The time at which the library has to run. */
static int64_t library_ms(const http *h, int64_t now_ms)
{
    MHD_UNSIGNED_LONG_LONG wait_ms;
    if (h->pending)
        return now_ms;
    if (h->asked > 0)
        return h->run_ms + LOOK_MS;
    if (MHD_get_timeout(h->daemon, &wait_ms) != MHD_YES || wait_ms >= INT32_MAX)
        return INT64_MAX;
    if (wait_ms == 0 && h->greeting > 0)
        return h->run_ms + LOOK_MS;
    return now_ms + (int64_t)wait_ms;
}

int64_t http_next_ms(const http *h, int64_t now_ms)
{
    int64_t next_ms = library_ms(h, now_ms);
    if (h->clients.first != NULL && h->clients.due_ms < next_ms)
        next_ms = h->clients.due_ms;
    return next_ms;
}

void http_run(http *h, int64_t now_ms)
{
    h->silent = !h->pending && h->asked > 0 && now_ms >= h->run_ms + LOOK_MS;
    h->run_ms = now_ms;
    for (int runs = 0; runs == 0 || (runs < RUNS_MOST && library_ms(h, now_ms) <= now_ms); runs++) {
        h->pending = false;
        MHD_run(h->daemon);
    }
}
