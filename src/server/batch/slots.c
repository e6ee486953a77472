/*
 * slots.c: the connectors, the ranks of connections, and the number of connections that may be
 * open. The numbers are atomic, because all threads use them; each loop opens and closes its own
 * connections.
 */
#include "server/batch/slots.h"
#include <stdlib.h>
#include <string.h>
#include "base/clock.h"
#include "app/log.h"

enum {
    GROUPS = DB_STANDBY, /* number of groups of connections to the primary */
    /* number of the first connections of loop 0, which slots.c closes only for the auth watcher */
    OPEN_LEAST = GROUPS,
    SPARED = 2,            /* slots that are left to other programs, such as the command line */
    PLENTY = 5,            /* every 4 free slots above 5 raise open_max by 1 more */
    GROW_AFTER_MS = 20000, /* time from lowering open_max to raising it */
    FULL_MS = 5000, /* how long after a rejection with 53300 slots count as the cause of 503 */
    /* time between two log lines about rejected connections with the same SQLSTATE */
    LOG_MS = 60000
};

#define STATES_STARTING "57P" /* class of the SQLSTATEs while PostgreSQL starts or stops */

void slots_init(server_state *server)
{
    const settings *set = server->set;
    database_side *primary = &server->database.primary, *standby = &server->database.standby;
    primary->first_ranks = (int)(set->loops * GROUPS);
    primary->ranks =
        (int)((set->read_connections + set->list_connections + set->write_connections) *
              set->loops);
    standby->ranks = (int)(set->standby_connections * set->loops);
    atomic_store(&primary->open_max, primary->ranks);
    atomic_store(&standby->open_max, standby->ranks);
}

bool database_open(database *d, const settings *set)
{
    d->primary.connector = connector_new(&d->primary.open_count);
    if (set->standby_dsn != NULL)
        d->standby.connector = connector_new(&d->standby.open_count);
    return d->primary.connector != NULL &&
           (set->standby_dsn == NULL || d->standby.connector != NULL);
}

bool database_close(database *d)
{
    bool ended = connector_free(d->primary.connector);
    return connector_free(d->standby.connector) && ended;
}

/* The rank of a connection is the number of connections with lower ranks. */
int slots_rank(const server_state *server, size_t loop, db_group group, size_t index)
{
    const settings *set = server->set;
    size_t loops = (size_t)set->loops, before = 0;
    const size_t counts[GROUPS] = {[DB_READS] = (size_t)set->read_connections,
                                   [DB_LISTS] = (size_t)set->list_connections,
                                   [DB_WRITES] = (size_t)set->write_connections};
    if (group == DB_STANDBY)
        return (int)(index * loops + loop);
    for (int other = 0; other < GROUPS; other++) {
        bool has_one = counts[other] > index;
        before += (has_one ? index : counts[other]) * loops;
        before += has_one ? loop + (other < (int)group) : 0;
    }
    return (int)before;
}

bool slots_allow(const database_side *side, int rank)
{
    int open_max = atomic_load(&side->open_max);
    if (rank >= side->first_ranks || rank < GROUPS)
        return rank < open_max;
    return (rank / GROUPS + 1) * GROUPS <= open_max;
}

bool slots_loop_has_none(const server_state *server, size_t loop)
{
    return loop > 0 && !slots_allow(&server->database.primary, (int)loop * GROUPS);
}

bool slots_any_loop_serves(const server_state *server)
{
    for (long i = 0; i < server->set->loops; i++)
        if (stats_serves(&server->stats[i]))
            return true;
    return false;
}

bool slots_all_loops_serve(const server_state *server)
{
    for (size_t i = 0; i < (size_t)server->set->loops; i++)
        if (!slots_loop_has_none(server, i) && !stats_serves(&server->stats[i]))
            return false;
    return true;
}

bool slots_are_scarce(const database_side *side)
{
    return atomic_load(&side->open_max) < side->ranks;
}

bool slots_cause_503(const database_side *side)
{
    int64_t full_ms = atomic_load(&side->full_ms);
    bool full = full_ms > 0 && clock_ms() < full_ms + FULL_MS;
    return full || (slots_are_scarce(side) && !database_is_away(side));
}

/* --- fewer and more --- */

static void lower_open_max(database_side *side, int to, int least)
{
    int open_max = atomic_load(&side->open_max);
    if (to < least)
        to = least;
    while (to < open_max && !atomic_compare_exchange_weak(&side->open_max, &open_max, to))
        continue;
    atomic_store(&side->last_lowered_ms, clock_ms());
}

static void raise_open_max(database_side *side, int to)
{
    int open_max = atomic_load(&side->open_max);
    if (to > side->ranks)
        to = side->ranks;
    while (to > open_max && !atomic_compare_exchange_weak(&side->open_max, &open_max, to))
        continue;
    if (open_max < side->ranks && to == side->ranks &&
        atomic_exchange(&side->refusal_state, 0) != 0)
        log_info("connections_allowed", "connections=%d", side->ranks);
}

/* Logs a rejected connection. If the last rejection had the same SQLSTATE, logs it only LOG_MS
 * after the last log line. */
static void log_refusal(database_side *side, const char *sqlstate, const char *reason)
{
    long long now_ms = clock_ms(), logged_ms = atomic_load(&side->refusal_ms);
    bool full = strcmp(sqlstate, SLOTS_NONE) == 0;
    unsigned state = (unsigned)strtoul(sqlstate, NULL, 36);
    bool is_new = atomic_exchange(&side->refusal_state, state) != state;
    if ((!is_new && now_ms < logged_ms + LOG_MS) ||
        !atomic_compare_exchange_strong(&side->refusal_ms, &logged_ms, now_ms))
        return;
    log_warn(
        "connection_refused", "sqlstate=%s reason=%s connections=%d%s", sqlstate,
        log_quoted(slice_of(reason)), atomic_load(&side->open_count),
        full ? " hint=\"raise max_connections, or the CONNECTION LIMIT of the role or database, "
               "or lower --database-connections of the servers\""
             : "");
}

void slots_refused(database_side *side, slots_user user, const char *sqlstate, const char *reason)
{
    int open_count = atomic_load(&side->open_count);
    if (sqlstate[0] == '\0' || strncmp(sqlstate, STATES_STARTING, strlen(STATES_STARTING)) == 0)
        return;
    log_refusal(side, sqlstate, reason);
    if (strcmp(sqlstate, SLOTS_NONE) != 0)
        return;
    atomic_store(&side->full_ms, clock_ms());
    lower_open_max(side, user == SLOTS_LOOP ? open_count : open_count - 1,
                   user == SLOTS_AUTH_WATCHER ? 0 : OPEN_LEAST);
}

void slots_auth_watcher_connected(server_state *server, int64_t asked_ms)
{
    raise_open_max(&server->database.primary, OPEN_LEAST);
    atomic_store(&server->database.auth_watcher_ok_ms, asked_ms);
}

void slots_adjust(database_side *side, int free, int64_t now_ms)
{
    if (free < SPARED)
        lower_open_max(side, atomic_load(&side->open_count) - (SPARED - free), OPEN_LEAST);
    else if (free > SPARED + 1 && now_ms > atomic_load(&side->last_lowered_ms) + GROW_AFTER_MS)
        raise_open_max(side, atomic_load(&side->open_max) + 1 +
                                 (free > PLENTY ? (free - PLENTY) / 4 : 0));
}
