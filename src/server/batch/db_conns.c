/*
 * db_conns.c: opens the connections of a loop, also after they were lost, and chooses the
 * connection for the next statement. While the primary is away, the loops try to connect to it only
 * for the first read connection of loop 0.
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
#include "base/errors.h"
#include "server/batch/db_conns_internal.h"

enum {
    /* if quick_connections() connections of a group are busy, a further one is used only when all
     * busy ones have been busy for this time. Before that, requests wait: one large batch costs
     * less than many small ones */
    SLOW_MS = 2,
    AUTH_WATCHER_WAIT_MS = 20, /* pause between two checks whether the auth watcher is connected */
    DATABASE_WAIT_MS = 100,    /* pause between two checks whether the database is reachable */
    /* Longest wait of the first connections of the groups for the auth watcher's connection. */
    AUTH_WATCHER_FIRST_MS = 1000,
    SLOTS_RETRY_MS = 1000,      /* pause between two checks whether slots.c allows a connection */
    READS_LARGE = 32,           /* an answer is large after this number of reads of the socket */
    READ_PAUSE_NS = 150 * 1000, /* pause before the next read of a large answer */
};

/* --- the epoll set --- */

static void update_epoll(db_conn *conn)
{
    int fd = async_conn_fd(conn->async);
    unsigned events =
        async_conn_events(conn->async) & ~(conn->reading_paused ? (unsigned)ASYNC_READ : 0u);
    unsigned serial = conn->status->socket_serial;
    struct epoll_event how = {.data.u64 = conn->tag};
    if (fd == conn->watched_fd && events == conn->watched_events && serial == conn->watched_serial)
        return;
    how.events = (events & ASYNC_READ ? EPOLLIN : 0u) | (events & ASYNC_WRITE ? EPOLLOUT : 0u);
    /* The kernel removes a closed socket from the set, and a new socket may have its number. */
    if (fd >= 0 && epoll_ctl(conn->owner->epoll_fd, EPOLL_CTL_MOD, fd, &how) != 0 &&
        epoll_ctl(conn->owner->epoll_fd, EPOLL_CTL_ADD, fd, &how) != 0)
        async_conn_drop(conn->async, strerror(errno));
    conn->watched_fd = fd;
    conn->watched_events = events;
    conn->watched_serial = serial;
}

/* --- large answers --- */

/* PostgreSQL sends an answer in parts of 8 KiB, and each part would wake the loop. So the loop
 * pauses between the reads of a large answer, and reads several parts at once. The pause is too
 * short to fill the buffer of the socket. */
static void pause_reading(db_conn *conn)
{
    static const struct itimerspec SHORTLY = {.it_value = {.tv_nsec = READ_PAUSE_NS}};
    db_conns *conns = conn->owner;
    int waiting = 0;
    conn->reading_paused = conn->status->reads >= READS_LARGE &&
                           ioctl(async_conn_fd(conn->async), FIONREAD, &waiting) == 0 &&
                           waiting == 0;
    if (conn->reading_paused && !conns->pause_timer_runs)
        conns->pause_timer_runs = conn->reading_paused =
            timerfd_settime(conns->pause_timer_fd, 0, &SHORTLY, NULL) == 0;
}

static void resume_reading(db_conns *conns)
{
    uint64_t ignored;
    conns->pause_timer_runs = read(conns->pause_timer_fd, &ignored, sizeof(ignored)) < 0;
    for (size_t i = 0; !conns->pause_timer_runs && i < conns->count; i++) {
        conns->all[i].reading_paused = false;
        update_epoll(&conns->all[i]);
    }
}

static void report_failed_attempt(db_conn *conn)
{
    unsigned failures = conn->status->failed_attempts;
    if (failures > conn->reported_failures)
        slots_refused(conn->side, SLOTS_LOOP, conn->status->refusal, conn->status->reason);
    conn->reported_failures = failures;
}

static void update_conn(db_conn *conn, int64_t now_ms)
{
    report_failed_attempt(conn);
    if (!async_conn_is_up(conn->async)) {
        db_conn_set_state(conn, DB_CONN_DOWN);
        db_conn_give_up(conn, now_ms);
    } else if (conn->state == DB_CONN_DOWN) {
        db_conn_check(conn);
    }
    update_epoll(conn);
}

/* --- what the loop calls --- */

static bool serves_batched_reads(db_group group)
{
    return group == DB_READS || group == DB_STANDBY;
}

/* The number of connections of a group that are used at the same time without regard to SLOW_MS.
 * One batched read for each core keeps PostgreSQL busy; more statements would only make the batches
 * smaller. For writes the number is not limited, because PostgreSQL flushes several commits at
 * once. */
static size_t quick_connections(const db_conns *conns, db_group group)
{
    size_t loops = 0;
    if (!serves_batched_reads(group))
        return SIZE_MAX;
    for (long i = 0; i < conns->server->set->loops; i++)
        loops += tally_get(&conns->server->stats[i].clients_busy) > 0;
    return loops >= conns->cores ? 1 : conns->cores / (loops == 0 ? 1 : loops);
}

/* The statement_timeout of a connection is that of most statements of its group, half of
 * --database-timeout-ms for batched reads: see limits_of() in query_batch.c. A statement with other
 * limits is preceded by one that sets them. */
static cardbox_options conn_options(const settings *set, db_group group)
{
    long half_ms = (set->database_timeout_ms + 1) / 2;
    cardbox_options how = CARDBOX_OPTIONS_INIT;
    how.conninfo = group == DB_STANDBY ? set->standby_dsn : set->dsn;
    how.application_name = "cardboxd";
    how.connect_timeout_ms = (unsigned)set->connect_timeout_ms;
    how.statement_timeout_ms =
        (unsigned)(serves_batched_reads(group) ? half_ms : set->database_timeout_ms);
    how.no_named_statements = set->no_named_statements;
    return how;
}

static cardbox_status add_conn(db_conns *conns, db_group group, const loop_handles *at,
                               cardbox_error *err)
{
    size_t index = conns->count - conns->group[group].first;
    cardbox_options how = conn_options(conns->server->set, group);
    db_conn *conn = &conns->all[conns->count];
    conn->owner = conns;
    conn->group = group;
    conn->side = db_side_of(conns->server, group);
    conn->tag = at->first_tag + conns->count;
    conn->rank = slots_rank(conns->server, conns->loop, group, index);
    conn->watched_fd = -1;
    conn->down_ms = clock_ms();
    tally_add(&conns->stats->db_conns[group][DB_CONN_DOWN], 1);
    cardbox_status status = async_conn_new(&conn->async, &how, conn->side->connector, at->wake_fd,
                                           &conns->server->memory, err);
    if (status != CARDBOX_OK)
        return status;
    conn->status = async_conn_status(conn->async);
    conns->group[group].before = ++conns->count;
    return CARDBOX_OK;
}

cardbox_status db_conns_new(db_conns **out, server_state *server, const loop_handles *at,
                            cardbox_error *err)
{
    const settings *set = server->set;
    const long counts[DB_GROUPS] = {
        [DB_READS] = set->read_connections,
        [DB_LISTS] = set->list_connections,
        [DB_WRITES] = set->write_connections,
        [DB_STANDBY] = set->standby_dsn == NULL ? 0 : set->standby_connections,
    };
    size_t all = 0;
    cardbox_status status = CARDBOX_OK;
    for (int group = 0; group < DB_GROUPS; group++)
        all += (size_t)counts[group];
    db_conns *conns = calloc(1, sizeof(*conns) + all * sizeof(db_conn));
    if (conns == NULL)
        return error_nomem(err);
    conns->server = server;
    conns->loop = at->loop;
    conns->stats = &server->stats[at->loop];
    conns->epoll_fd = at->epoll_fd;
    conns->cores = (size_t)set->cpus;
    conns->pause_timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
    if (conns->pause_timer_fd < 0)
        status = error_set(err, CARDBOX_INTERNAL, "cannot create a timer: %s", strerror(errno));
    for (int group = 0; group < DB_GROUPS; group++) {
        conns->group[group] = (db_conn_span){conns->count, conns->count};
        for (long i = 0; status == CARDBOX_OK && i < counts[group]; i++)
            status = add_conn(conns, (db_group)group, at, err);
    }
    struct epoll_event how = {.events = EPOLLIN, .data.u64 = at->first_tag + conns->count};
    if (status == CARDBOX_OK &&
        epoll_ctl(at->epoll_fd, EPOLL_CTL_ADD, conns->pause_timer_fd, &how) != 0)
        status = error_set(err, CARDBOX_INTERNAL, "cannot watch a timer: %s", strerror(errno));
    if (status != CARDBOX_OK) {
        db_conns_free(conns);
        return status;
    }
    *out = conns;
    return CARDBOX_OK;
}

void db_conns_free(db_conns *conns)
{
    if (conns == NULL)
        return;
    for (size_t i = 0; i < conns->count; i++) {
        async_conn_free(conns->all[i].async);
        db_conn_set_state(&conns->all[i], DB_CONN_DOWN);
    }
    if (conns->pause_timer_fd >= 0)
        close(conns->pause_timer_fd);
    free(conns);
}

/* Aborts a large answer while it arrives, if the memory budget is used up, because the size of an
 * answer is unknown until it is complete. If the statement carried several requests, each is sent
 * again in a statement of its own. */
static void check_memory(db_conn *conn)
{
    if (conn->status->received == 0 || !memory_is_used_up(&conn->owner->server->memory))
        return;
    log_info("answer_refused", "reason=\"memory\" bytes=%zu", conn->status->received);
    async_conn_abort_answer(conn->async, CARDBOX_TOO_LARGE,
                            "the answer needs more memory than the server has left");
}

void db_conns_on_socket(db_conns *conns, size_t number)
{
    if (number == conns->count) {
        resume_reading(conns);
        return;
    }
    db_conn *conn = &conns->all[number];
    async_conn_ready(conn->async);
    check_memory(conn);
    pause_reading(conn);
    update_conn(conn, clock_ms());
}

/* True if the auth watcher has reached the primary since the loops lost their last usable
 * connection. */
static bool auth_watcher_is_connected(const db_conns *conns)
{
    int64_t auth_watcher_ok_ms = atomic_load(&conns->server->database.auth_watcher_ok_ms);
    return auth_watcher_ok_ms > 0 &&
           auth_watcher_ok_ms >= atomic_load(&conns->server->database.primary.last_lost_ms);
}

/* True if each loop has an open connection of each group to the primary or, if `of_standby`, of the
 * group of standbys. Loops that may have none do not count. Loops open further connections only if
 * this is true, because a loop without a group can't serve all requests. */
static bool loops_are_complete(const server_state *server, bool of_standby)
{
    for (size_t loop = 0; loop < (size_t)server->set->loops; loop++) {
        if (slots_loop_has_none(server, loop))
            continue;
        for (int group = of_standby ? DB_STANDBY : 0; group <= DB_STANDBY - !of_standby; group++) {
            const tally *count = server->stats[loop].db_conns[group];
            if (tally_get(&count[DB_CONN_USABLE]) + tally_get(&count[DB_CONN_CHECKING]) +
                    tally_get(&count[DB_CONN_INCOMPATIBLE]) ==
                0)
                return false;
        }
    }
    return true;
}

/* For the primary: whether any loop has a usable connection to it. For standbys: whether this loop
 * has an open connection to one. */
static bool database_is_reachable(const db_conn *conn)
{
    const db_conns *conns = conn->owner;
    const db_conn_span *span = &conns->group[DB_STANDBY];
    bool any_connected = false;
    if (conn->group != DB_STANDBY)
        return atomic_load(&conn->side->usable_count) > 0;
    for (size_t i = span->first; i < span->before && !any_connected; i++)
        any_connected = async_conn_is_up(conns->all[i].async);
    return any_connected;
}

/* True if a connection is open or may be opened. PostgreSQL may have too few slots for all
 * connections. So the first read connection of loop 0 to the primary comes first, then the auth
 * watcher's connection, then the first connections of all groups and loops, then the others. The
 * first connections wait for the auth watcher up to AUTH_WATCHER_FIRST_MS, the others until it is
 * connected. */
static bool may_connect(const db_conn *conn)
{
    const db_conns *conns = conn->owner;
    bool of_standby = conn->group == DB_STANDBY;
    bool is_first = conn == &conns->all[conns->group[conn->group].first];
    /* The state of a connection that was just lost is not yet DB_CONN_DOWN. */
    if (async_conn_is_wanted(conn->async) || conn->state != DB_CONN_DOWN)
        return true;
    if (!slots_allow(conn->side, conn->rank))
        return false;
    if (is_first && (of_standby || (conn->group == DB_READS && conns->loop == 0)))
        return true;
    if (!database_is_reachable(conn))
        return false;
    if (!is_first)
        return auth_watcher_is_connected(conns) && loops_are_complete(conns->server, of_standby);
    return auth_watcher_is_connected(conns) ||
           clock_ms() >= atomic_load(&conn->side->up_ms) + AUTH_WATCHER_FIRST_MS;
}

static int64_t conn_due_ms(const db_conn *conn)
{
    bool serves = db_conn_is_usable(conn);
    if (!serves && !may_connect(conn)) {
        if (!slots_allow(conn->side, conn->rank))
            return clock_ms() + SLOTS_RETRY_MS;
        bool is_away = !database_is_reachable(conn) &&
                       atomic_load(&conn->side->last_logged) != DATABASE_UNKNOWN;
        return clock_ms() + (is_away ? DATABASE_WAIT_MS : AUTH_WATCHER_WAIT_MS);
    }
    int64_t due = async_conn_next_ms(conn->async);
    if (serves)
        return due;
    if (conn->state == DB_CONN_INCOMPATIBLE && conn->retry_ms < due)
        due = conn->retry_ms;
    int64_t give_up_ms = db_conn_away_ms(conn);
    bool may_still_come_up =
        atomic_load(&conn->side->usable_count) == 0 && !atomic_load(&conn->side->given_up);
    if (conn->state == DB_CONN_DOWN && may_still_come_up && give_up_ms < due)
        due = give_up_ms;
    return due;
}

static void close_if_not_allowed(db_conn *conn, int64_t now_ms)
{
    if (!async_conn_is_wanted(conn->async) || conn->status->pending > 0 ||
        slots_allow(conn->side, conn->rank))
        return;
    async_conn_drop(conn->async, "connection closed: the database has too few connection slots");
    conn->reported_failures = conn->status->failed_attempts;
    update_conn(conn, now_ms);
}

void db_conns_tick(db_conns *conns, int64_t now_ms)
{
    db_conns_follow_primary(conns, now_ms);
    for (size_t i = 0; i < conns->count; i++) {
        db_conn *conn = &conns->all[i];
        unsigned connect_count = atomic_load(&conn->side->connect_count);
        if (connect_count != conn->connect_count_seen) {
            async_conn_retry_now(conn->async);
            conn->retry_now_ms = now_ms;
            conn->connect_count_seen = connect_count;
        }
        close_if_not_allowed(conn, now_ms);
        db_conn_check_pooler(conn, now_ms);
        if (conn_due_ms(conn) > now_ms)
            continue;
        async_conn_tick(conn->async, now_ms);
        if (conn->state == DB_CONN_INCOMPATIBLE && conn->retry_ms <= now_ms)
            db_conn_check(conn);
        update_conn(conn, now_ms);
    }
}

int64_t db_conns_next_ms(const db_conns *conns)
{
    int64_t next_ms = INT64_MAX;
    for (size_t i = 0; i < conns->count; i++) {
        int64_t due = conn_due_ms(&conns->all[i]);
        if (due < next_ms)
            next_ms = due;
    }
    return next_ms;
}

/* True if a connection is down, and slots.c does not allow it, or AWAY_AFTER_FAILURES attempts to
 * open it have failed and no connection has become usable in the last AWAY_AFTER_MS. */
static bool is_refused(const db_conn *conn)
{
    if (!slots_allow(conn->side, conn->rank))
        return conn->state == DB_CONN_DOWN;
    return conn->state == DB_CONN_DOWN && conn->status->failed_attempts >= AWAY_AFTER_FAILURES &&
           conn->retry_now_ms + AWAY_AFTER_MS < clock_ms();
}

/* Examines the loop's own connections before database_is_away(), which may still count another
 * loop's connection as usable after the database has become incompatible. A group counts as refused
 * if is_refused() is true for its first connection. */
bool db_conns_away(const db_conns *conns, db_group group)
{
    const db_conn_span *span = &conns->group[group];
    bool incompatible = false, has_usable = false;
    for (size_t i = span->first; i < span->before; i++) {
        const db_conn *conn = &conns->all[i];
        incompatible = incompatible || conn->incompatible;
        has_usable = has_usable || db_conn_is_usable(conn) ||
                     (conn->state == DB_CONN_CHECKING && !conn->incompatible);
    }
    bool refused = span->first == span->before || is_refused(&conns->all[span->first]);
    return (!has_usable && (incompatible || refused)) ||
           database_is_away(db_side_of(conns->server, group));
}

size_t db_conns_usable(const db_conns *conns, db_group group)
{
    size_t usable = 0;
    const database *d = &conns->server->database;
    /* Standbys are unusable until they are compared with the present primary. A connection to the
     * primary that became usable after the identity was read may lead to another primary. */
    if (group == DB_STANDBY &&
        (conns->cluster_identity != atomic_load(&d->cluster_identity) ||
         atomic_load(&d->identity_connect_count) != atomic_load(&d->primary.connect_count)))
        return 0;
    for (size_t i = conns->group[group].first; i < conns->group[group].before; i++)
        usable += db_conn_is_usable(&conns->all[i]);
    return usable;
}

size_t db_conns_free_besides(const db_conns *conns, const db_conn *free_one)
{
    const db_conn_span *span = &conns->group[free_one->group];
    size_t idle = 0;
    for (size_t i = span->first; i < span->before; i++) {
        const db_conn *conn = &conns->all[i];
        idle += db_conn_is_usable(conn) && conn != free_one && conn->status->pending == 0;
    }
    return db_conns_usable(conns, free_one->group) > 1 ? idle : SIZE_MAX;
}

db_conn *db_conns_choose(db_conns *conns, db_group group, int64_t now_ms, int64_t *look_again_ms)
{
    const db_conn_span *span = &conns->group[group];
    size_t busy = 0, quick = quick_connections(conns, group);
    /* when all busy connections examined so far will have been busy for SLOW_MS */
    int64_t slow_ms = INT64_MIN;
    for (size_t i = span->first; i < span->before; i++) {
        db_conn *conn = &conns->all[i];
        if (!db_conn_is_usable(conn))
            continue;
        if (conn->status->pending == 0) {
            bool may = busy < quick || slow_ms <= now_ms;
            *look_again_ms = may ? INT64_MAX : slow_ms;
            return may ? conn : NULL;
        }
        busy++;
        if (conn->status->busy_since_ms + SLOW_MS > slow_ms)
            slow_ms = conn->status->busy_since_ms + SLOW_MS;
    }
    *look_again_ms = INT64_MAX;
    return NULL;
}

cardbox_status db_conn_send(db_conn *to, statement_id id, params *p, const query_limits *limits,
                            query_done done, void *arg, cardbox_error *err)
{
    cardbox_status status = async_conn_send(to->async, id, p, limits, done, arg, err);
    tally_add(&to->owner->stats->statements[id], 1);
    update_epoll(to);
    return status;
}

void db_conn_each_row(db_conn *to, query_on_rows on_rows)
{
    async_conn_each_row(to->async, on_rows);
}
