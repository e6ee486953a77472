/*
 * slots.c: the ranks, and how many of them may be open. Any thread may call; the numbers are
 * atomic, and each loop finds out by itself what it is to close or may open.
 */
#include "server/batch/slots.h"
#include <string.h>
#include "base/clock.h"
#include "app/log.h"

enum {
    GROUPS = LINK_REPLICA, /* of the primary */
    LEAST = GROUPS,        /* connections that are never given back: those of the first loop */
    SPARED = 2,            /* slots that are left to others, such as the command line */
    PLENTY = 5,            /* with more free slots than these some more are taken */
    GROW_AFTER_MS = 20000, /* without trouble */
    FULL_MS = 5000,        /* time after a 53300 in which PostgreSQL counts as full */
    LOG_MS = 1000          /* between two lines about connections that were refused */
};

#define NOT_NOW "57P" /* it starts or stops: the log is told that it is away */

static long most_of(const settings *set)
{
    long most = set->read_connections;
    if (set->write_connections > most)
        most = set->write_connections;
    return set->list_connections > most ? set->list_connections : most;
}

void slots_init(server_state *server)
{
    const settings *set = server->set;
    database_state *primary = &server->primary, *replica = &server->replica;
    primary->firsts = (int)(set->loops * GROUPS);
    primary->ranks = (int)(most_of(set) * set->loops * GROUPS);
    replica->ranks = (int)(set->standby_connections * set->loops);
    atomic_store(&primary->room, primary->ranks);
    atomic_store(&replica->room, replica->ranks);
}

int slots_rank(const server_state *server, size_t loop, link_group group, size_t index)
{
    size_t place = index * (size_t)server->set->loops + loop;
    return (int)(group == LINK_REPLICA ? place : place * GROUPS + (size_t)group);
}

bool slots_allow(const database_state *of, int rank)
{
    int room = atomic_load(&of->room);
    if (rank >= of->firsts || rank < GROUPS)
        return rank < room;
    return (rank / GROUPS + 1) * GROUPS <= room;
}

bool slots_loop_is_closed(const server_state *server, size_t loop)
{
    return loop > 0 && !slots_allow(&server->primary, (int)loop * GROUPS);
}

bool slots_serve(const server_state *server)
{
    for (long i = 0; i < server->set->loops; i++)
        if (stats_serves(&server->stats[i]))
            return true;
    return false;
}

bool slots_all_serve(const server_state *server)
{
    for (size_t i = 0; i < (size_t)server->set->loops; i++)
        if (!slots_loop_is_closed(server, i) && !stats_serves(&server->stats[i]))
            return false;
    return true;
}

bool slots_are_scarce(const database_state *of)
{
    return atomic_load(&of->room) < of->ranks;
}

bool slots_are_missing(const database_state *of)
{
    int64_t full_ms = atomic_load(&of->full_ms);
    bool full = full_ms > 0 && clock_ms() < full_ms + FULL_MS;
    return full || (slots_are_scarce(of) && !database_is_away(of));
}

/* --- fewer and more --- */

static void lower(database_state *of, int to, int least)
{
    int room = atomic_load(&of->room);
    if (to < least)
        to = least;
    while (to < room && !atomic_compare_exchange_weak(&of->room, &room, to))
        continue;
    atomic_store(&of->lowered_ms, clock_ms());
}

static void raise(database_state *of, int to)
{
    int room = atomic_load(&of->room);
    if (to > of->ranks)
        to = of->ranks;
    while (to > room && !atomic_compare_exchange_weak(&of->room, &room, to))
        continue;
}

static void tell(database_state *of, const char *sqlstate, const char *reason)
{
    char why[LOG_QUOTE_SIZE];
    long long now_ms = clock_ms(), told_ms = atomic_load(&of->refusal_told_ms);
    bool full = strcmp(sqlstate, SLOTS_NONE) == 0;
    if ((told_ms != 0 && now_ms < told_ms + LOG_MS) ||
        !atomic_compare_exchange_strong(&of->refusal_told_ms, &told_ms, now_ms))
        return;
    log_quote(why, reason, strlen(reason));
    log_warn(
        "connection_refused", "sqlstate=%s reason=%s connections=%d%s", sqlstate, why,
        atomic_load(&of->held),
        full ? " hint=\"raise max_connections, or the CONNECTION LIMIT of the role or database, "
               "or lower --database-connections of the servers\""
             : "");
}

void slots_refused(database_state *of, slots_asker asker, const char *sqlstate, const char *reason)
{
    int held = atomic_load(&of->held);
    if (sqlstate[0] == '\0' || strncmp(sqlstate, NOT_NOW, strlen(NOT_NOW)) == 0)
        return;
    tell(of, sqlstate, reason);
    if (strcmp(sqlstate, SLOTS_NONE) != 0)
        return;
    atomic_store(&of->full_ms, clock_ms());
    lower(of, asker == SLOTS_LOOP ? held : held - 1, asker == SLOTS_KEEPER ? 0 : LEAST);
}

void slots_keeper_is_in(server_state *server, int64_t asked_ms)
{
    raise(&server->primary, LEAST);
    atomic_store(&server->keeper_ms, asked_ms);
}

void slots_adjust(database_state *of, int free, int64_t now_ms)
{
    if (free < SPARED)
        lower(of, atomic_load(&of->held) - (SPARED - free), LEAST);
    else if (free > SPARED + 1 && now_ms > atomic_load(&of->lowered_ms) + GROW_AFTER_MS)
        raise(of, atomic_load(&of->room) + 1 + (free > PLENTY ? (free - PLENTY) / 4 : 0));
}
