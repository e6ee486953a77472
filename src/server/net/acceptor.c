/*
 * acceptor.c: the loop whose turn it is asks before each connection which loop is to have it. If
 * that is another one it stops watching the socket and wakes that one, which begins to: each loop
 * changes its own epoll set only.
 */
#include "server/net/acceptor.h"
#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>
#include "app/log.h"
#include "server/loop.h"

enum {
    AT_ONCE = 32, /* connections taken in one turn: those that are served wait no longer for them */
    SLACK = 4,    /* one fewer elsewhere is not worth a change of turn */
    REST_MS = 10
};

/* Whether this loop may accept: it has its database connections, or no loop has. */
static bool may_take(const stats *loops, size_t count, size_t which)
{
    bool others = false;
    for (size_t i = 0; i < count; i++)
        others = others || stats_serves(&loops[i]);
    return !others || stats_serves(&loops[which]);
}

size_t acceptor_next(const stats *loops, size_t count, size_t at)
{
    size_t fewest = 0;
    while (fewest + 1 < count && !may_take(loops, count, fewest))
        fewest++;
    for (size_t i = fewest + 1; i < count; i++)
        if (may_take(loops, count, i) &&
            tally_get(&loops[i].clients) < tally_get(&loops[fewest].clients))
            fewest = i;
    uint64_t least = tally_get(&loops[fewest].clients);
    for (size_t i = 0; i < count; i++)
        if (may_take(loops, count, i) && tally_get(&loops[i].clients_busy) < ACCEPT_BUSY &&
            tally_get(&loops[i].clients) < least + ACCEPT_AHEAD)
            return i;
    bool stay = may_take(loops, count, at) && tally_get(&loops[at].clients) < least + SLACK;
    return stay ? at : fewest;
}

static void watch(acceptor *a, bool wanted)
{
    struct epoll_event how = {.events = EPOLLIN, .data.u64 = a->tag};
    if (wanted != a->watched &&
        epoll_ctl(a->epoll_fd, wanted ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, a->fd, &how) == 0)
        a->watched = wanted;
}

void acceptor_open(acceptor *a, server_state *server, size_t number, int epoll_fd, uint64_t tag,
                   int fd)
{
    *a = (acceptor){.server = server, .number = number, .epoll_fd = epoll_fd, .tag = tag, .fd = fd};
}

static bool is_full(const server_state *server)
{
    uint64_t clients = 0;
    for (long i = 0; i < server->set->loops; i++)
        clients += tally_get(&server->stats[i].clients);
    return clients >= (uint64_t)server->set->connections_max;
}

static void rest(acceptor *a, int64_t now_ms)
{
    a->rest_ms = now_ms + REST_MS;
    watch(a, false);
}

static void pass_on(acceptor *a, size_t next)
{
    watch(a, false);
    atomic_store(&a->server->accepting, next);
    loop_wake(a->server->loops[next]);
}

void acceptor_ready(acceptor *a, http *to, int64_t now_ms)
{
    server_state *server = a->server;
    for (int i = 0; i < AT_ONCE && a->watched; i++) {
        size_t next = acceptor_next(server->stats, (size_t)server->set->loops, a->number);
        int failure = 0;
        if (is_full(server))
            rest(a, now_ms);
        else if (next != a->number)
            pass_on(a, next);
        else
            failure = http_accept(to, a->fd);
        if (failure == EAGAIN)
            return;
        if (failure != 0) {
            log_debug("not_accepted", "errno=%d", failure);
            rest(a, now_ms);
        }
    }
}

void acceptor_tick(acceptor *a, int64_t now_ms)
{
    bool wanted = a->fd >= 0 && atomic_load(&a->server->accepting) == a->number;
    if (!wanted || now_ms < a->rest_ms)
        return;
    watch(a, true);
    if (!a->watched)
        rest(a, now_ms);
}

int64_t acceptor_next_ms(const acceptor *a)
{
    bool rests = a->fd >= 0 && !a->watched && atomic_load(&a->server->accepting) == a->number;
    return rests ? a->rest_ms : INT64_MAX;
}

void acceptor_close(acceptor *a, http *to)
{
    if (a->fd < 0)
        return;
    while (to != NULL && !is_full(a->server) && http_accept(to, a->fd) == 0)
        continue;
    watch(a, false);
    close(a->fd);
    a->fd = -1;
}
