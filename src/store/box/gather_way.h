/*
 * gather_way.h: which of two ways to send appends does more: as many statements at once as may be,
 * or one by one. It is found by trying. Knows no clock, no threads and no database: it is told the
 * time.
 */
#ifndef STORE_GATHER_WAY_H
#define STORE_GATHER_WAY_H

#include <stdbool.h>
#include <stdint.h>

/* All zero at first. */
typedef struct gather_way {
    bool one_by_one; /* statements: each carries all who ask */
    bool on_trial;   /* the way, after it has settled */
    int64_t trial_began_us;
    unsigned appends;   /* that were sent since then */
    unsigned trials;    /* before it */
    int64_t cost_ns[2]; /* of an append, by one_by_one; 0: not tried yet */
} gather_way;

/* A statement with so many appends has ended. */
void gather_way_learn(gather_way *way, int64_t now_us, unsigned appends);

#endif
