/*
 * stats.c: counts requests, and durations in the buckets of histograms.
 */
#include "server/stats.h"

static const int64_t BOUNDS[] = {STATS_BOUNDS};
static const int64_t TURN_BOUNDS[] = {STATS_TURN_BOUNDS};

enum { TURN_BOUND_COUNT = sizeof(TURN_BOUNDS) / sizeof(TURN_BOUNDS[0]) };

_Static_assert(sizeof(BOUNDS) / sizeof(BOUNDS[0]) == STATS_BUCKETS - 1, "a bucket has no bound");
_Static_assert((int)TURN_BOUND_COUNT == STATS_TURN_BUCKETS - 1, "a bucket has no bound");

void stats_turn(stats *s, int64_t us)
{
    size_t bucket = 0;
    while (bucket < TURN_BOUND_COUNT && us > TURN_BOUNDS[bucket])
        bucket++;
    tally_add(&s->turns[bucket], 1);
    tally_add(&s->turn_us, us > 0 ? (uint64_t)us : 0);
}

void stats_request(stats *s, size_t route, route_class class, unsigned status, int64_t us)
{
    size_t bucket = 0, digit = status / 100;
    while (bucket < STATS_BUCKETS - 1 && us > BOUNDS[bucket])
        bucket++;
    tally_add(&s->requests[route][digit < STATS_STATUSES ? digit : 0], 1);
    tally_add(&s->durations[class][bucket], 1);
    tally_add(&s->duration_us[class], us > 0 ? (uint64_t)us : 0);
}

bool stats_serves(const stats *loop)
{
    for (int group = 0; group < DB_STANDBY; group++)
        if (tally_get(&loop->db_conns[group][DB_CONN_USABLE]) == 0)
            return false;
    return true;
}
