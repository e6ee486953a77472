/*
 * acceptor.c: before each connection, the accepting loop decides which loop accepts it. If that is
 * another loop, the accepting loop stops watching the socket and wakes the other loop. So each loop
 * changes only its own epoll set.
 */
#include "server/net/acceptor.h"
#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>
#include "app/log.h"
#include "server/loop.h"

enum {
    /* maximum number of connections that a loop accepts at once, while its clients wait */
    AT_ONCE = 32,
    /* another loop accepts the connection if it has at least this number of clients less */
    SLACK = 2,
    PAUSE_MS = 10
};

size_t acceptor_next(const stats *loops, size_t count, size_t at)
{
    size_t next = at;
    for (size_t i = 0; i < count; i++) {
        bool serves = stats_serves(&loops[i]);
        uint64_t clients = tally_get(&loops[i].clients) + (next == at ? SLACK : 1);
        if (serves != stats_serves(&loops[next]) ? serves
                                                 : clients <= tally_get(&loops[next].clients))
            next = i;
    }
    return next;
}

static void set_watched(acceptor *a, bool wanted)
{
    struct epoll_event how = {.events = EPOLLIN, .data.u64 = a->tag};
    if (wanted != a->watched &&
        epoll_ctl(a->epoll_fd, wanted ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, a->fd, &how) == 0)
        a->watched = wanted;
}

static bool has_reserved_connection(const server_state *server)
{
    uint64_t open = 0;
    for (long i = 0; i < server->set->loops; i++)
        open += tally_get(&server->stats[i].clients_reserved);
    return open < HTTP_RESERVED;
}

static void pause_accepting(acceptor *a, int64_t now_ms)
{
    a->paused_until_ms = now_ms + PAUSE_MS;
    set_watched(a, false);
}

static void hand_over(acceptor *a, size_t next)
{
    set_watched(a, false);
    atomic_store(&a->server->accepting, next);
    loop_wake(a->server->loops[next]);
}

/* Finds a connection for a client that waits while all are in use. Closes the longest idle
 * connection of this loop, so that a later call accepts the client. If this loop has none, the next
 * loop tries. If no loop has one, each loop tries to close one with a partial request. If no loop
 * has one either, returns true if a reserved connection may be opened now. */
static bool find_connection(acceptor *a, http *to, int64_t now_ms)
{
    server_state *server = a->server;
    size_t loops = (size_t)server->set->loops;
    size_t tries = atomic_load(&server->close_tries);
    bool closed =
        tries < loops ? http_close_idle(to, false, now_ms) : http_close_partial(to, false, now_ms);
    tries = closed ? 0 : tries + 1;
    atomic_store(&server->close_tries, tries % (2 * loops));
    if (closed)
        return false;
    if (tries < 2 * loops)
        hand_over(a, (a->number + 1) % loops);
    else if (has_reserved_connection(server))
        return true;
    else if (!http_close_idle(to, true, now_ms) && !http_close_partial(to, true, now_ms))
        pause_accepting(a, now_ms);
    return false;
}

void acceptor_ready(acceptor *a, http *to, int64_t now_ms)
{
    server_state *server = a->server;
    for (int i = 0; i < AT_ONCE && a->watched; i++) {
        size_t next = acceptor_next(server->stats, (size_t)server->set->loops, a->number);
        int failure = 0;
        if (http_free_connections(server) <= 0) {
            /* after the first iteration, it is not known whether another client waits */
            if (i > 0 || !find_connection(a, to, now_ms))
                return;
            next = a->number;
        } else {
            atomic_store(&server->close_tries, 0);
        }
        if (next == a->number)
            failure = http_accept(to, a->fd);
        else
            hand_over(a, next);
        if (failure == EAGAIN)
            return;
        if (failure != 0) {
            log_debug("not_accepted", "errno=%d", failure);
            pause_accepting(a, now_ms);
        }
    }
}

void acceptor_tick(acceptor *a, int64_t now_ms)
{
    bool wanted = a->fd >= 0 && atomic_load(&a->server->accepting) == a->number;
    if (!wanted || now_ms < a->paused_until_ms)
        return;
    set_watched(a, true);
    if (!a->watched)
        pause_accepting(a, now_ms);
}

int64_t acceptor_next_ms(const acceptor *a)
{
    bool paused = a->fd >= 0 && !a->watched && atomic_load(&a->server->accepting) == a->number;
    return paused ? a->paused_until_ms : INT64_MAX;
}

void acceptor_close(acceptor *a, http *to)
{
    if (a->fd < 0)
        return;
    while (to != NULL && http_free_connections(a->server) > 0 && http_accept(to, a->fd) == 0)
        continue;
    set_watched(a, false);
    close(a->fd);
    a->fd = -1;
}
