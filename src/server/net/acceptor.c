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

static bool is_full(const server_state *server)
{
    uint64_t clients = 0;
    for (long i = 0; i < server->set->loops; i++)
        clients += tally_get(&server->stats[i].clients);
    return clients >= (uint64_t)server->set->connections_max;
}

static void pause_accepting(acceptor *a, int64_t now_ms)
{
    a->paused_until_ms = now_ms + PAUSE_MS;
    set_watched(a, false);
}

void acceptor_ready(acceptor *a, http *to, int64_t now_ms)
{
    server_state *server = a->server;
    for (int i = 0; i < AT_ONCE && a->watched; i++) {
        size_t next = acceptor_next(server->stats, (size_t)server->set->loops, a->number);
        int failure = 0;
        if (is_full(server))
            pause_accepting(a, now_ms);
        else if (next == a->number)
            failure = http_accept(to, a->fd);
        else { /* hands over */
            set_watched(a, false);
            atomic_store(&server->accepting, next);
            loop_wake(server->loops[next]);
        }
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
    while (to != NULL && !is_full(a->server) && http_accept(to, a->fd) == 0)
        continue;
    set_watched(a, false);
    close(a->fd);
    a->fd = -1;
}
