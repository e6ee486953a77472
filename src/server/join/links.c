/*
 * links.c: keeps the connections of a loop coming back, and checks each against the schema that
 * this build needs before it is used. While none is up only the first one tries.
 */
#include "server/join/links.h"
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/timerfd.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/log.h"
#include "base/memory.h"
#include "server/auth/token_list.h"
#include "store/errors.h"
#include "store/pg/migrations.h"

enum {
    SLOW_MS = 2,           /* a statement that takes as long makes the next connection be used: one
                            * that is quick is worth waiting for, as few large statements cost less
                            * than many small ones */
    FAILURES_MOST = 2,     /* attempts to connect, then the database counts as away */
    GIVE_UP_MS = 1000,     /* and when an attempt takes longer */
    KEEPER_WAIT_MS = 100,  /* until it is looked again whether the keeper has its connection */
    UNFIT_RETRY_MS = 1000, /* until a database that was not migrated is looked at again */
    RENEW_MS = 1000,       /* since a large message: the burst is over */
    READY_BYTES_MAX = 64,
    READS_LARGE = 32,     /* an answer that has come in so many pieces is a large one: */
    REST_NS = 150 * 1000, /* so long it is left alone then, while some more pieces come */
    READS_MANY = 64 /* after so many pieces of an answer it is seen to that there is memory for
                     * more: to ask for it costs as much as some pieces do */
};

struct db_link {
    links *all;
    link_group group;
    store_pipe *pipe;
    link_state state;
    bool unfit; /* what it was found to be last; it stays so while it is asked again */
    int64_t retry_ms;
    int64_t down_ms; /* since when it is down */
    uint64_t tag;
    bool rests;     /* it is not watched for more of an answer, for a moment */
    int watched_fd; /* as it is in the epoll set; -1: it is not */
    unsigned watched_events;
    unsigned watched_serial;
};

/* The connections of a group: link[first] up to before link[before]. */
typedef struct link_span {
    size_t first, before;
} link_span;

struct links {
    shared *house;
    stats *stats;
    int epoll_fd;
    int rest_fd;  /* a timer */
    bool resting; /* it was started */
    unsigned ups_seen;
    pipe_hosts hosts;
    int64_t up_ms;      /* since when any connection is up; INT64_MAX: none is */
    int64_t hurried_ms; /* when all were told last to try again at once */
    link_span group[LINK_GROUPS];
    size_t count;
    size_t cores;
    db_link link[];
};

static bool is_news(shared *house, int what)
{
    return atomic_exchange(&house->told, what) != what;
}

static void link_move(db_link *k, link_state to)
{
    shared *house = k->all->house;
    if (k->state == to)
        return;
    if (k->state == LINK_USABLE)
        atomic_fetch_sub(&house->connections_up, 1);
    if (k->unfit && (to == LINK_USABLE || to == LINK_DOWN)) {
        atomic_fetch_sub(&house->unfit, 1);
        k->unfit = false;
    }
    tally_sub(&k->all->stats->links[k->group][k->state], 1);
    tally_add(&k->all->stats->links[k->group][to], 1);
    k->state = to;
    if (to == LINK_DOWN)
        k->down_ms = clock_ms();
    if (to == LINK_USABLE) {
        atomic_store(&house->given_up, false);
        atomic_fetch_add(&house->connections_up, 1);
        atomic_fetch_add(&house->ups, 1);
        if (is_news(house, TOLD_UP))
            log_info("database_up", "schema=%d", migrations_newest());
    }
    if (to == LINK_UNFIT) {
        atomic_fetch_add(&house->unfit, k->unfit ? 0 : 1);
        k->unfit = true;
        atomic_store(&house->given_up, true);
    }
}

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

/* --- is the database fit? --- */

static void not_fit(db_link *k, bool forbidden, const char *reason)
{
    shared *house = k->all->house;
    char why[LOG_QUOTE_SIZE];
    atomic_store(&house->forbidden, forbidden);
    link_move(k, LINK_UNFIT);
    k->retry_ms = clock_ms() + UNFIT_RETRY_MS;
    if (!is_news(house, forbidden ? TOLD_FORBIDDEN : TOLD_UNFIT))
        return;
    log_quote(why, reason, strlen(reason));
    if (forbidden)
        log_error("database_forbidden",
                  "reason=%s hint=\"grant cardbox_service to the server's role\"", why);
    else
        log_error("database_not_migrated",
                  "needed=%d reason=%s hint=\"run cardbox migrate; no restart is needed\"",
                  migrations_newest(), why);
}

static void judge(db_link *k, const store_rows *rows)
{
    char reason[64];
    int version = rows_null(rows, 0, 0) ? 0 : rows_int4(rows, 0, 0);
    snprintf(reason, sizeof(reason), "it is at migration %d", version);
    if (version < migrations_newest())
        not_fit(k, false, reason);
    else if (rows_null(rows, 0, 1))
        not_fit(k, false, "a function is missing");
    else if (!rows_bool(rows, 0, 1))
        not_fit(k, true,
                k->group == LINK_WRITES ? "the role may not write to all tables"
                                        : "the role may not read all tables");
    else
        link_move(k, LINK_USABLE);
}

static void checked(void *arg, store_rows *rows, const cardbox_error *err)
{
    db_link *k = arg;
    if (rows != NULL) {
        judge(k, rows);
    } else if (err->status == CARDBOX_INTERNAL || err->status == CARDBOX_FORBIDDEN) {
        not_fit(k, err->status == CARDBOX_FORBIDDEN, err->message);
    } else {
        link_move(k, LINK_DOWN);
        pipe_drop(k->pipe, err->message);
    }
    rows_free(rows);
}

bool links_blame(db_link *k, const cardbox_error *err)
{
    bool forbidden = err->status == CARDBOX_FORBIDDEN;
    if (error_is_read_only(err->sqlstate))
        pipe_drop(k->pipe, "the database is read-only");
    if (!forbidden && !error_is_schema(err->sqlstate))
        return false;
    if (k->state == LINK_USABLE)
        not_fit(k, forbidden, err->message);
    return true;
}

static void check(db_link *k)
{
    params p;
    link_move(k, LINK_CHECKING);
    params_init(&p, READY_BYTES_MAX);
    params_bool(&p, k->group == LINK_WRITES);
    if (pipe_send(k->pipe, STATEMENT_ready, &p, NULL, checked, k, NULL) != CARDBOX_OK)
        link_move(k, LINK_DOWN);
}

static bool is_hopeless(const db_link *k, int64_t now_ms)
{
    return pipe_failed_attempts(k->pipe) >= FAILURES_MOST || k->down_ms + GIVE_UP_MS <= now_ms;
}

static void give_up(db_link *k)
{
    shared *house = k->all->house;
    char why[LOG_QUOTE_SIZE];
    const char *reason = pipe_reason(k->pipe);
    if (atomic_load(&house->connections_up) > 0)
        return;
    if (reason[0] == '\0')
        reason = "it does not accept connections";
    atomic_store(&house->given_up, true);
    if (is_news(house, TOLD_DOWN))
        log_error("database_away", "reason=%s", log_quote(why, reason, strlen(reason)));
}

static bool any_up(const links *l)
{
    for (size_t i = 0; i < l->count; i++)
        if (pipe_up(l->link[i].pipe))
            return true;
    return false;
}

/* Draws the conclusions from whatever has happened to the connection. */
static void look(db_link *k, int64_t now_ms)
{
    if (!pipe_up(k->pipe)) {
        link_move(k, LINK_DOWN);
        if (is_hopeless(k, now_ms))
            give_up(k);
    } else if (k->state == LINK_DOWN) {
        check(k);
    }
    if (!any_up(k->all))
        k->all->up_ms = INT64_MAX;
    else if (k->all->up_ms == INT64_MAX)
        k->all->up_ms = now_ms;
    watch(k);
}

/* --- what the loop calls --- */

/* How many connections of a group are used freely. As many reads as there are cores keep PostgreSQL
 * and the loops that have busy clients busy; more of them would only be smaller. Writes wait for
 * the disk, and those that wait at the same time are committed together. */
static size_t quick_connections(const links *l, link_group group)
{
    size_t loops = 0;
    if (group != LINK_READS)
        return SIZE_MAX;
    for (long i = 0; i < l->house->set->loops; i++)
        loops += tally_get(&l->house->stats[i].clients_busy) > 0;
    return loops >= l->cores ? 1 : l->cores / (loops == 0 ? 1 : loops);
}

/* What is asked of the connections of a group. A joined read has half of a request's time, and most
 * reads are joined. */
static cardbox_options options_of(const settings *set, link_group group)
{
    long half_ms = (set->request_timeout_ms + 1) / 2;
    cardbox_options how = CARDBOX_OPTIONS_INIT;
    how.conninfo = set->dsn;
    how.application_name = "cardboxd";
    how.connect_timeout_ms = (unsigned)set->connect_timeout_ms;
    how.statement_timeout_ms = (unsigned)(group == LINK_READS ? half_ms : set->request_timeout_ms);
    how.no_named_statements = set->no_named_statements;
    return how;
}

static cardbox_status add_link(links *l, link_group group, uint64_t first_tag, cardbox_error *err)
{
    cardbox_options how = options_of(l->house->set, group);
    db_link *k = &l->link[l->count];
    k->all = l;
    k->group = group;
    k->tag = first_tag + l->count;
    k->watched_fd = -1;
    k->down_ms = clock_ms();
    tally_add(&l->stats->links[group][LINK_DOWN], 1);
    cardbox_status status = pipe_new(&k->pipe, &how, &l->hosts, err);
    if (status == CARDBOX_OK)
        l->group[group].before = ++l->count;
    return status;
}

cardbox_status links_new(links **out, shared *house, stats *s, int epoll_fd, uint64_t first_tag,
                         cardbox_error *err)
{
    const settings *set = house->set;
    const size_t counts[LINK_GROUPS] = {
        [LINK_READS] = (size_t)set->read_connections,
        [LINK_LISTS] = (size_t)set->list_connections,
        [LINK_WRITES] = (size_t)set->write_connections,
    };
    size_t all = counts[LINK_READS] + counts[LINK_LISTS] + counts[LINK_WRITES];
    cardbox_status status = CARDBOX_OK;
    links *l = calloc(1, sizeof(*l) + all * sizeof(db_link));
    if (l == NULL)
        return CARDBOX_NOMEM;
    l->house = house;
    l->stats = s;
    l->epoll_fd = epoll_fd;
    l->up_ms = INT64_MAX;
    l->cores = (size_t)sysconf(_SC_NPROCESSORS_ONLN);
    l->rest_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    for (int group = 0; group < LINK_GROUPS; group++) {
        l->group[group] = (link_span){l->count, l->count};
        for (size_t i = 0; status == CARDBOX_OK && i < counts[group]; i++)
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
        memory_in_use() <= (size_t)k->all->house->set->memory_max)
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

/* Whether the keeper has reached the database since we did. */
static bool keeper_is_in(const links *l)
{
    return l->house->set->insecure_no_auth ||
           atomic_load(&l->house->tokens->confirmed_ms) >= l->up_ms;
}

/* Whether each loop has a connection of each group: it serves nobody of a group without one. */
static bool all_groups_are_in(const links *l)
{
    for (long loop = 0; loop < l->house->set->loops; loop++) {
        for (int group = 0; group < LINK_GROUPS; group++) {
            const tally *count = l->house->stats[loop].links[group];
            if (tally_get(&count[LINK_USABLE]) + tally_get(&count[LINK_CHECKING]) +
                    tally_get(&count[LINK_UNFIT]) ==
                0)
                return false;
        }
    }
    return true;
}

/* While the database is away one connection tries, not all. And it may take too few connections:
 * the keeper's, without which nobody is let in, and the first of each group of all loops come
 * before those that only make us quicker. */
static bool may_try(const links *l, size_t number)
{
    const db_link *k = &l->link[number];
    if (number == 0 || pipe_fd(k->pipe) >= 0)
        return true;
    return any_up(l) &&
           (number == l->group[k->group].first || (keeper_is_in(l) && all_groups_are_in(l)));
}

static bool is_usable(const db_link *k)
{
    return k->state == LINK_USABLE && pipe_up(k->pipe);
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
        if (!is_usable(other) && pipe_failed_attempts(other->pipe) == 0)
            return INT64_MAX;
        alone = alone || is_usable(other);
    }
    return alone ? swollen_ms + RENEW_MS : INT64_MAX;
}

/* When a link wants to be looked at again. Each is asked in every turn. */
static int64_t due_ms(const links *l, size_t number)
{
    const db_link *k = &l->link[number];
    bool serves = is_usable(k);
    if (!serves && !may_try(l, number))
        return any_up(l) ? clock_ms() + KEEPER_WAIT_MS : INT64_MAX;
    int64_t due = pipe_next_ms(k->pipe);
    int64_t renew = renew_ms(l, k);
    if (renew < due)
        due = renew;
    if (serves)
        return due;
    if (k->state == LINK_UNFIT && k->retry_ms < due)
        due = k->retry_ms;
    int64_t give_up_ms = k->down_ms + GIVE_UP_MS;
    bool undecided =
        atomic_load(&l->house->connections_up) == 0 && !atomic_load(&l->house->given_up);
    if (k->state == LINK_DOWN && undecided && give_up_ms < due)
        due = give_up_ms;
    return due;
}

void links_tick(links *l, int64_t now_ms)
{
    unsigned ups = atomic_load(&l->house->ups);
    if (ups != l->ups_seen)
        l->hurried_ms = now_ms;
    for (size_t i = 0; i < l->count; i++) {
        db_link *k = &l->link[i];
        if (ups != l->ups_seen)
            pipe_hurry(k->pipe);
        if (due_ms(l, i) > now_ms)
            continue;
        if (renew_ms(l, k) <= now_ms) {
            pipe_drop(k->pipe, "it kept much memory");
            tally_add(&l->stats->renewed, 1);
        }
        pipe_tick(k->pipe, now_ms);
        if (k->state == LINK_UNFIT && k->retry_ms <= now_ms)
            check(k);
        look(k, now_ms);
    }
    l->ups_seen = ups;
}

int64_t links_next_ms(const links *l)
{
    int64_t next_ms = INT64_MAX;
    for (size_t i = 0; i < l->count; i++) {
        int64_t due = due_ms(l, i);
        if (due < next_ms)
            next_ms = due;
    }
    return next_ms;
}

/* Whether it can't connect, though others can: it has tried since one of them came up. */
static bool is_shut_out(const db_link *k)
{
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
        hope = is_usable(k) || (k->state == LINK_CHECKING && !k->unfit);
        shut_out = shut_out && !hope && is_shut_out(k);
    }
    return (!hope && (unfit || shut_out)) || database_is_away(l->house);
}

size_t links_usable(const links *l, link_group group)
{
    size_t usable = 0;
    for (size_t i = l->group[group].first; i < l->group[group].before; i++)
        usable += is_usable(&l->link[i]);
    return usable;
}

bool links_is_last(const links *l, const db_link *free_one)
{
    const link_span *span = &l->group[free_one->group];
    size_t idle = 0;
    for (size_t i = span->first; i < span->before; i++) {
        const db_link *k = &l->link[i];
        idle += is_usable(k) && k != free_one && pipe_in_flight(k->pipe) == 0;
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
        if (!is_usable(k))
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
