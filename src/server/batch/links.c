/*
 * links.c: keeps the connections of a loop coming back, and says which of them takes the next
 * statement. While none is up only the first one tries.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include "base/clock.h"
#include "app/log.h"
#include "base/memory.h"
#include "server/batch/links_internal.h"

enum {
    SLOW_MS = 2,            /* a statement that takes as long makes the next connection be used: one
                             * that is quick is worth waiting for, as few large statements cost less
                             * than many small ones */
    KEEPER_WAIT_MS = 20,    /* until it is looked again whether the keeper has its connection */
    DATABASE_WAIT_MS = 100, /* until it is looked again whether another loop has a connection */
    KEEPER_FIRST_MS = 1000, /* so long the keeper goes before the first ones of each group */
    SLOTS_LOOK_MS = 1000,   /* until it is looked again whether a connection may be open */
    RENEW_MS = 1000,        /* since a large message: the burst is over */
    READS_LARGE = 32,       /* an answer that arrived in this many reads is a large one: */
    REST_NS = 150 * 1000,   /* so long it is left alone then, while some more pieces come */
    READS_MANY = 64 /* after so many pieces of an answer it is seen to that there is memory for
                     * more: to ask for it costs as much as some pieces do */
};

/* --- the epoll set --- */

static void watch(db_link *k)
{
    int fd = pipe_fd(k->pipe);
    unsigned events = pipe_events(k->pipe) & ~(k->rests ? (unsigned)PIPE_READ : 0u);
    unsigned serial = pipe_socket_serial(k->pipe);
    struct epoll_event how = {.data.u64 = k->tag};
    if (fd == k->watched_fd && events == k->watched_events && serial == k->watched_serial)
        return;
    how.events = (events & PIPE_READ ? EPOLLIN : 0u) | (events & PIPE_WRITE ? EPOLLOUT : 0u);
    /* A closed socket has left the set by itself, and its number may be in use again. */
    if (fd >= 0 && epoll_ctl(k->all->epoll_fd, EPOLL_CTL_MOD, fd, &how) != 0 &&
        epoll_ctl(k->all->epoll_fd, EPOLL_CTL_ADD, fd, &how) != 0)
        pipe_drop(k->pipe, strerror(errno));
    k->watched_fd = fd;
    k->watched_events = events;
    k->watched_serial = serial;
}

/* --- large answers --- */

/* PostgreSQL sends 8 KiB at a time and wakes who waits for them, which costs both sides as much as
 * the rows in them. So after all that had come of a large answer was read, its connection is not
 * watched for a moment, in which less comes than its socket holds: a batch of boxes is a quarter
 * faster. */
static void rest(db_link *k)
{
    static const struct itimerspec SHORTLY = {.it_value = {.tv_nsec = REST_NS}};
    links *l = k->all;
    int waiting = 0;
    k->rests = pipe_reads(k->pipe) >= READS_LARGE &&
               ioctl(pipe_fd(k->pipe), FIONREAD, &waiting) == 0 && waiting == 0;
    if (k->rests && !l->resting)
        l->resting = k->rests = timerfd_settime(l->rest_fd, 0, &SHORTLY, NULL) == 0;
}

static void end_rest(links *l)
{
    uint64_t ignored;
    l->resting = read(l->rest_fd, &ignored, sizeof(ignored)) < 0;
    for (size_t i = 0; !l->resting && i < l->count; i++) {
        l->link[i].rests = false;
        watch(&l->link[i]);
    }
}

static bool any_up(const links *l)
{
    for (size_t i = 0; i < l->count; i++)
        if (pipe_up(l->link[i].pipe))
            return true;
    return false;
}

/* Updates the number of held slots, and reports a failed attempt to slots.c. */
static void note_slot(db_link *k)
{
    bool held = pipe_fd(k->pipe) >= 0;
    unsigned failures = pipe_failed_attempts(k->pipe);
    if (held != k->held)
        atomic_fetch_add(&k->all->of->held, held ? 1 : -1);
    k->held = held;
    if (failures > k->failures)
        slots_refused(k->all->of, SLOTS_LOOP, pipe_refusal(k->pipe), pipe_reason(k->pipe));
    k->failures = failures;
}

/* Draws the conclusions from whatever has happened to the connection. */
static void look(db_link *k, int64_t now_ms)
{
    note_slot(k);
    if (!pipe_up(k->pipe)) {
        link_move(k, LINK_DOWN);
        link_consider_giving_up(k, now_ms);
    } else if (k->state == LINK_DOWN) {
        link_check(k);
    }
    if (!any_up(k->all))
        k->all->up_ms = INT64_MAX;
    else if (k->all->up_ms == INT64_MAX)
        k->all->up_ms = now_ms;
    watch(k);
}

/* --- what the loop calls --- */

static bool is_of_reads(link_group group)
{
    return group == LINK_READS || group == LINK_REPLICA;
}

/* How many connections of a group are used freely. As many reads as there are cores keep PostgreSQL
 * and the loops that have busy clients busy; more of them would only be smaller. Writes wait for
 * the disk, and those that wait at the same time are committed together. */
static size_t quick_connections(const links *l, link_group group)
{
    size_t loops = 0;
    if (!is_of_reads(group))
        return SIZE_MAX;
    for (long i = 0; i < l->server->set->loops; i++)
        loops += tally_get(&l->server->stats[i].clients_busy) > 0;
    return loops >= l->cores ? 1 : l->cores / (loops == 0 ? 1 : loops);
}

/* What is asked of the connections of a group. A joined read has half of a request's time, and most
 * reads are joined. */
static cardbox_options options_of(const settings *set, link_group group)
{
    long half_ms = (set->request_timeout_ms + 1) / 2;
    cardbox_options how = CARDBOX_OPTIONS_INIT;
    how.conninfo = group == LINK_REPLICA ? set->read_dsn : set->dsn;
    how.application_name = "cardboxd";
    how.connect_timeout_ms = (unsigned)set->connect_timeout_ms;
    how.statement_timeout_ms = (unsigned)(is_of_reads(group) ? half_ms : set->request_timeout_ms);
    how.no_named_statements = set->no_named_statements;
    return how;
}

/* Reads by id never read a table from end to end, though their plans are made once, perhaps while
 * it is still so small that this is cheapest. */
static const char *const SETTINGS[LINK_GROUPS] = {[LINK_READS] = "-c enable_seqscan=off",
                                                  [LINK_LISTS] = "",
                                                  [LINK_WRITES] = "",
                                                  [LINK_REPLICA] = "-c enable_seqscan=off"};

static cardbox_status add_link(links *l, link_group group, uint64_t first_tag, cardbox_error *err)
{
    size_t index = l->count - l->group[group].first;
    cardbox_options how = options_of(l->server->set, group);
    db_link *k = &l->link[l->count];
    k->all = l;
    k->group = group;
    k->tag = first_tag + l->count;
    k->rank = slots_rank(l->server, l->loop, group, index);
    k->watched_fd = -1;
    k->down_ms = clock_ms();
    tally_add(&l->stats->links[group][LINK_DOWN], 1);
    cardbox_status status = pipe_new(&k->pipe, &how, SETTINGS[group], &l->hosts, err);
    if (status == CARDBOX_OK)
        l->group[group].before = ++l->count;
    return status;
}

static size_t count_of(const settings *set, bool of_replica, link_group group)
{
    const long counts[LINK_GROUPS] = {
        [LINK_READS] = set->read_connections,
        [LINK_LISTS] = set->list_connections,
        [LINK_WRITES] = set->write_connections,
        [LINK_REPLICA] = set->standby_connections,
    };
    return of_replica == (group == LINK_REPLICA) ? (size_t)counts[group] : 0;
}

cardbox_status links_new(links **out, server_state *server, bool of_replica, size_t loop,
                         int epoll_fd, uint64_t first_tag, cardbox_error *err)
{
    size_t all = 0;
    cardbox_status status = CARDBOX_OK;
    for (int group = 0; group < LINK_GROUPS; group++)
        all += count_of(server->set, of_replica, (link_group)group);
    links *l = calloc(1, sizeof(*l) + all * sizeof(db_link));
    if (l == NULL)
        return CARDBOX_NOMEM;
    l->server = server;
    l->loop = loop;
    l->of = of_replica ? &server->replica : &server->primary;
    l->are_of_replica = of_replica;
    l->stats = &server->stats[loop];
    l->epoll_fd = epoll_fd;
    l->up_ms = INT64_MAX;
    l->cores = (size_t)server->set->cpus;
    l->rest_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    for (int group = 0; group < LINK_GROUPS; group++) {
        l->group[group] = (link_span){l->count, l->count};
        size_t count = count_of(server->set, of_replica, (link_group)group);
        for (size_t i = 0; status == CARDBOX_OK && i < count; i++)
            status = add_link(l, (link_group)group, first_tag, err);
    }
    struct epoll_event how = {.events = EPOLLIN, .data.u64 = first_tag + l->count};
    if (status == CARDBOX_OK && epoll_ctl(epoll_fd, EPOLL_CTL_ADD, l->rest_fd, &how) != 0)
        status = CARDBOX_NOMEM;
    if (status != CARDBOX_OK) {
        links_free(l);
        return status;
    }
    *out = l;
    return CARDBOX_OK;
}

void links_free(links *l)
{
    if (l == NULL)
        return;
    for (size_t i = 0; i < l->count; i++) {
        pipe_free(l->link[i].pipe);
        link_move(&l->link[i], LINK_DOWN);
    }
    if (l->rest_fd >= 0)
        close(l->rest_fd);
    free(l);
}

/* libpq keeps all rows of an answer before anybody sees one, and how many bytes they are, nobody
 * can say before. So what bounds the memory is that no large answer goes on coming in while the
 * process has more in use than it may: at most each connection's next READS_MANY pieces come on
 * top of it. Who asked for it hears so; others that were in its statement are asked for again. */
static void see_to_memory(db_link *k)
{
    unsigned reads = pipe_reads(k->pipe);
    if (reads == 0 || reads % READS_MANY != 0 ||
        memory_in_use() <= (size_t)k->all->server->set->memory_max)
        return;
    log_info("answer_refused", "reason=\"memory\" reads=%u", reads);
    pipe_refuse(k->pipe, CARDBOX_TOO_LARGE,
                "the answer takes more memory than the server has left");
}

void links_ready(links *l, size_t number)
{
    if (number == l->count) {
        end_rest(l);
        return;
    }
    db_link *k = &l->link[number];
    pipe_ready(k->pipe);
    see_to_memory(k);
    rest(k);
    look(k, clock_ms());
}

/* Whether the keeper has reached the primary since its connections were all lost. */
static bool keeper_is_in(const links *l)
{
    int64_t keeper_ms = atomic_load(&l->server->keeper_ms);
    return keeper_ms > 0 && keeper_ms >= atomic_load(&l->server->primary.lost_ms);
}

/* Whether each loop that may have one has a connection of each of our groups: it serves nobody of a
 * group without one. */
static bool all_groups_are_in(const links *l)
{
    for (size_t loop = 0; loop < (size_t)l->server->set->loops; loop++) {
        if (slots_loop_is_closed(l->server, loop))
            continue;
        for (int group = 0; group < LINK_GROUPS; group++) {
            const link_span *span = &l->group[group];
            const tally *count = l->server->stats[loop].links[group];
            if (span->first < span->before && tally_get(&count[LINK_USABLE]) +
                                                      tally_get(&count[LINK_CHECKING]) +
                                                      tally_get(&count[LINK_UNFIT]) ==
                                                  0)
                return false;
        }
    }
    return true;
}

/* For standbys each loop decides by its own connections. */
static bool database_is_up(const links *l)
{
    return l->are_of_replica ? any_up(l) : atomic_load(&l->of->connections_up) > 0;
}

/* While the database is away one connection tries, not all. And PostgreSQL may have too few slots:
 * the keeper's connection, without which nobody is let in, comes before the first ones of each
 * group, unless it takes long, and these before those that only make us quicker. */
static bool may_try(const links *l, size_t number)
{
    const db_link *k = &l->link[number];
    /* One that broke when something was sent has no socket any more, and was not seen to yet. */
    if (pipe_fd(k->pipe) >= 0 || k->state != LINK_DOWN)
        return true;
    if (!slots_allow(l->of, k->rank))
        return false;
    if (number == 0 && (l->loop == 0 || l->are_of_replica))
        return true;
    if (!database_is_up(l))
        return false;
    if (number > l->group[k->group].first)
        return keeper_is_in(l) && all_groups_are_in(l);
    return keeper_is_in(l) || clock_ms() >= atomic_load(&l->of->up_ms) + KEEPER_FIRST_MS;
}

/* When a connection is to be made anew, as what libpq keeps of a burst of large messages counts as
 * memory in use for good: while others of its group serve, if it has others, and none of them is on
 * its way. */
static int64_t renew_ms(const links *l, const db_link *k)
{
    int64_t swollen_ms = pipe_swollen_ms(k->pipe);
    if (swollen_ms == INT64_MAX)
        return INT64_MAX;
    const link_span *span = &l->group[k->group];
    bool alone = span->before - span->first == 1;
    for (size_t i = span->first; i < span->before; i++) {
        const db_link *other = &l->link[i];
        if (other == k)
            continue;
        if (!link_is_usable(other) && pipe_failed_attempts(other->pipe) == 0)
            return INT64_MAX;
        alone = alone || link_is_usable(other);
    }
    return alone ? swollen_ms + RENEW_MS : INT64_MAX;
}

/* When a link wants to be looked at again. Each is asked in every turn. */
static int64_t due_ms(const links *l, size_t number)
{
    const db_link *k = &l->link[number];
    bool serves = link_is_usable(k);
    if (!serves && !may_try(l, number)) {
        if (!slots_allow(l->of, k->rank))
            return clock_ms() + SLOTS_LOOK_MS;
        bool is_away = !database_is_up(l) && atomic_load(&l->of->told) != TOLD_NOTHING;
        return clock_ms() + (is_away ? DATABASE_WAIT_MS : KEEPER_WAIT_MS);
    }
    int64_t due = pipe_next_ms(k->pipe);
    int64_t renew = renew_ms(l, k);
    if (renew < due)
        due = renew;
    if (serves)
        return due;
    if (k->state == LINK_UNFIT && k->retry_ms < due)
        due = k->retry_ms;
    int64_t give_up_ms = k->down_ms + GIVE_UP_MS;
    bool undecided = atomic_load(&l->of->connections_up) == 0 && !atomic_load(&l->of->given_up);
    if (k->state == LINK_DOWN && undecided && give_up_ms < due)
        due = give_up_ms;
    return due;
}

/* Closes a connection that may not be open any more, once nothing is under way on it. */
static void give_back(db_link *k, int64_t now_ms)
{
    if (pipe_fd(k->pipe) < 0 || pipe_in_flight(k->pipe) > 0 || slots_allow(k->all->of, k->rank))
        return;
    pipe_drop(k->pipe, "connection closed: the database has too few connection slots");
    k->failures = pipe_failed_attempts(k->pipe);
    look(k, now_ms);
}

void links_tick(links *l, int64_t now_ms)
{
    unsigned ups = atomic_load(&l->of->ups);
    if (l->are_of_replica)
        links_compare(l, now_ms);
    if (ups != l->ups_seen)
        l->hurried_ms = now_ms;
    for (size_t i = 0; i < l->count; i++) {
        db_link *k = &l->link[i];
        if (ups != l->ups_seen)
            pipe_hurry(k->pipe);
        give_back(k, now_ms);
        if (due_ms(l, i) > now_ms)
            continue;
        if (renew_ms(l, k) <= now_ms) {
            pipe_drop(k->pipe, "it kept much memory");
            tally_add(&l->stats->renewed, 1);
        }
        pipe_tick(k->pipe, now_ms);
        if (k->state == LINK_UNFIT && k->retry_ms <= now_ms)
            link_check(k);
        look(k, now_ms);
    }
    l->ups_seen = ups;
}

int64_t links_next_ms(const links *l)
{
    int64_t next_ms = clock_ms() + SLOTS_LOOK_MS;
    for (size_t i = 0; i < l->count; i++) {
        int64_t due = due_ms(l, i);
        if (due < next_ms)
            next_ms = due;
    }
    return next_ms;
}

/* Whether it can't connect, though others can: it has tried since one of them came up; or may not
 * connect. */
static bool is_shut_out(const db_link *k)
{
    if (!slots_allow(k->all->of, k->rank))
        return k->state == LINK_DOWN;
    return k->state == LINK_DOWN && pipe_failed_attempts(k->pipe) >= FAILURES_MOST &&
           k->all->hurried_ms + GIVE_UP_MS < clock_ms();
}

/* Connections of another loop that nobody has used since the database became unfit may still count
 * as usable: they are no help here. Nor are those of another group, where this one's find no room
 * in the database. */
bool links_away(const links *l, link_group group)
{
    bool unfit = false, hope = false, shut_out = true;
    for (size_t i = l->group[group].first; i < l->group[group].before && !hope; i++) {
        const db_link *k = &l->link[i];
        unfit = unfit || k->unfit;
        hope = link_is_usable(k) || (k->state == LINK_CHECKING && !k->unfit);
        shut_out = shut_out && !hope && is_shut_out(k);
    }
    return (!hope && (unfit || shut_out)) || database_is_away(l->of);
}

/* Whether the standbys were compared with what the primary is as far as is known: a connection to
 * it that came up since may lead to another one. */
static bool is_of_lineage(const links *l)
{
    return l->lineage == atomic_load(&l->server->lineage) &&
           atomic_load(&l->server->lineage_ups) == atomic_load(&l->server->primary.ups);
}

size_t links_usable(const links *l, link_group group)
{
    size_t usable = 0;
    if (l->are_of_replica && !is_of_lineage(l))
        return 0;
    for (size_t i = l->group[group].first; i < l->group[group].before; i++)
        usable += link_is_usable(&l->link[i]);
    return usable;
}

bool links_is_last(const links *l, const db_link *free_one)
{
    const link_span *span = &l->group[free_one->group];
    size_t idle = 0;
    for (size_t i = span->first; i < span->before; i++) {
        const db_link *k = &l->link[i];
        idle += link_is_usable(k) && k != free_one && pipe_in_flight(k->pipe) == 0;
    }
    return idle == 0 && links_usable(l, free_one->group) > 1;
}

db_link *links_free_one(links *l, link_group group, int64_t now_ms, int64_t *look_again_ms)
{
    const link_span *span = &l->group[group];
    size_t busy = 0, quick = quick_connections(l, group);
    int64_t slow_ms = INT64_MIN; /* when all that are busy so far are slow */
    for (size_t i = span->first; i < span->before; i++) {
        db_link *k = &l->link[i];
        if (!link_is_usable(k))
            continue;
        if (pipe_in_flight(k->pipe) == 0) {
            bool may = busy < quick || slow_ms <= now_ms;
            *look_again_ms = may ? INT64_MAX : slow_ms;
            return may ? k : NULL;
        }
        busy++;
        if (pipe_busy_since_ms(k->pipe) + SLOW_MS > slow_ms)
            slow_ms = pipe_busy_since_ms(k->pipe) + SLOW_MS;
    }
    *look_again_ms = INT64_MAX;
    return NULL;
}

cardbox_status links_send(db_link *to, statement_id id, params *p, const pipe_limits *limits,
                          pipe_done done, void *arg, cardbox_error *err)
{
    cardbox_status status = pipe_send(to->pipe, id, p, limits, done, arg, err);
    tally_add(&to->all->stats->statements[id], 1);
    watch(to);
    return status;
}

void links_each_row(db_link *to, pipe_rows some)
{
    pipe_each_row(to->pipe, some);
}
