/*
 * door.c: who stands at the door looks before each connection whose it is. If it is another loop's
 * it leaves the door and wakes that one, which goes there: each loop changes its own epoll set
 * only.
 */
#include "server/door.h"
#include <errno.h>
#include <sys/epoll.h>
#include <unistd.h>
#include "base/log.h"
#include "server/loop.h"

enum {
    AT_ONCE = 32, /* connections taken in one turn: those that are served wait no longer for them */
    SLACK = 4,    /* one fewer elsewhere is not worth a change at the door */
    REST_MS = 10
};

size_t door_next(const stats *loops, size_t count, size_t at)
{
    size_t fewest = 0;
    for (size_t i = 1; i < count; i++)
        if (tally_get(&loops[i].clients) < tally_get(&loops[fewest].clients))
            fewest = i;
    uint64_t least = tally_get(&loops[fewest].clients);
    for (size_t i = 0; i < count; i++)
        if (tally_get(&loops[i].clients_busy) < DOOR_BUSY &&
            tally_get(&loops[i].clients) < least + DOOR_AHEAD)
            return i;
    return tally_get(&loops[at].clients) < least + SLACK ? at : fewest;
}

static void watch(door *d, bool wanted)
{
    struct epoll_event how = {.events = EPOLLIN, .data.u64 = d->tag};
    if (wanted != d->watched &&
        epoll_ctl(d->epoll_fd, wanted ? EPOLL_CTL_ADD : EPOLL_CTL_DEL, d->fd, &how) == 0)
        d->watched = wanted;
}

void door_open(door *d, shared *house, size_t number, int epoll_fd, uint64_t tag, int fd)
{
    *d = (door){.house = house, .number = number, .epoll_fd = epoll_fd, .tag = tag, .fd = fd};
}

static bool is_full(const shared *house)
{
    uint64_t clients = 0;
    for (long i = 0; i < house->set->loops; i++)
        clients += tally_get(&house->stats[i].clients);
    return clients >= (uint64_t)house->set->connections_max;
}

static void rest(door *d, int64_t now_ms)
{
    d->rest_ms = now_ms + REST_MS;
    watch(d, false);
}

static void leave(door *d, size_t next)
{
    watch(d, false);
    atomic_store(&d->house->at_door, next);
    loop_wake(d->house->loops[next]);
}

void door_ready(door *d, http *to, int64_t now_ms)
{
    shared *house = d->house;
    for (int i = 0; i < AT_ONCE && d->watched; i++) {
        size_t next = door_next(house->stats, (size_t)house->set->loops, d->number);
        int failure = 0;
        if (is_full(house))
            rest(d, now_ms);
        else if (next != d->number)
            leave(d, next);
        else
            failure = http_accept(to, d->fd);
        if (failure == EAGAIN)
            return;
        if (failure != 0) {
            log_debug("not_accepted", "errno=%d", failure);
            rest(d, now_ms);
        }
    }
}

void door_tick(door *d, int64_t now_ms)
{
    bool wanted = d->fd >= 0 && atomic_load(&d->house->at_door) == d->number;
    if (!wanted || now_ms < d->rest_ms)
        return;
    watch(d, true);
    if (!d->watched)
        rest(d, now_ms);
}

int64_t door_next_ms(const door *d)
{
    bool rests = d->fd >= 0 && !d->watched && atomic_load(&d->house->at_door) == d->number;
    return rests ? d->rest_ms : INT64_MAX;
}

void door_close(door *d, http *to)
{
    if (d->fd < 0)
        return;
    while (to != NULL && !is_full(d->house) && http_accept(to, d->fd) == 0)
        continue;
    watch(d, false);
    close(d->fd);
    d->fd = -1;
}
