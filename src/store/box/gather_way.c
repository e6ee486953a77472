/*
 * gather_way.c: two statements at once use two processors, and one is at work while the other
 * commits; but each commit is for half of what there is. One by one they do more for less, and
 * leave a processor idle. Which of the two is more depends on the disk, the processors and what
 * else they have to do, so it is tried: by turns, then mostly the one that did more.
 */
#include "store/box/gather_way.h"

enum {
    SETTLE = 32,         /* appends, after which those before no longer count */
    TRIAL = 64,          /* appends, whose time says what a way of sending costs */
    TRIAL_MAX_MS = 4000, /* one that took longer says how few appends there were to send */
    TRIALS_FIRST = 8,    /* by turns */
    TRIALS_OTHER = 32,   /* then one in so many is of the way that does less */
    COST_RISE = 4,       /* a trial moves the cost up by a part, and down by all */
    GAIN_LEAST = 8       /* a part of the cost, by which one by one has to be better */
};

/* What a trial says of its way. A new connection, another's load, a disk that pauses make it look
 * worse, nothing makes it look better: the least counts, and is forgotten slowly. */
static void add_trial(int64_t *cost_ns, int64_t ns)
{
    if (*cost_ns == 0 || ns < *cost_ns)
        *cost_ns = ns;
    else
        *cost_ns += (ns - *cost_ns) / COST_RISE;
}

static bool better_one_by_one(const gather_way *way)
{
    return way->cost_ns[true] < way->cost_ns[false] - way->cost_ns[false] / GAIN_LEAST;
}

static void end_trial(gather_way *way, int64_t took_us)
{
    add_trial(&way->cost_ns[way->one_by_one], 1000 * took_us / way->appends);
    way->trials++;
    way->one_by_one = way->trials < TRIALS_FIRST
                          ? !way->one_by_one
                          : better_one_by_one(way) != (way->trials % TRIALS_OTHER == 0);
}

void gather_way_learn(gather_way *way, int64_t now_us, unsigned appends)
{
    int64_t took_us = now_us - way->trial_began_us;
    way->appends += appends;
    if (way->appends < (way->on_trial ? TRIAL : SETTLE))
        return;
    if (way->on_trial && took_us < TRIAL_MAX_MS * 1000)
        end_trial(way, took_us);
    way->trial_began_us = now_us;
    way->on_trial = !way->on_trial;
    way->appends = 0;
}
