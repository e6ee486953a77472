/*
 * http_wait.c: how a connection waits while its request does, and when the library is run. To
 * suspend a connection and to resume it takes three system calls (out of the library's epoll set, a
 * read in vain, into the set again) and an event that nobody needs; a small read has but two others
 * of its own. One that was neither given an answer nor suspended the library asks again in each of
 * its runs, for next to nothing. So a connection whose request waits for a read by id is asked at
 * first, and suspended only if that does not come for long.
 *
 * While there are connections to be asked the library always says that it has something to do, and
 * so it does while a part of a TLS handshake is there, however long the rest is in coming: then it
 * can't be believed. http_more says when there may be more than that. What nobody sees, such as the
 * rest of a long head, waits for the next run, for LOOK_MS at most.
 */
#include "server/net/http_internal.h"

enum {
    LOOKS_MOST = 16,  /* before it is suspended */
    LOOKS_SILENT = 8, /* for which one counts in a run that was made for nothing else */
    LOOK_MS = 1,  /* between two runs of the library at most, while there are some to be asked */
    RUNS_MOST = 3 /* in one turn: an answer is taken, sent and done with in one each */
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
    if (x->looks < LOOKS_MOST && batcher_will_answer_soon(r)) {
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
    batcher_forget(x->request.batcher, &x->request);
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

/* When the library wants to run. */
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
