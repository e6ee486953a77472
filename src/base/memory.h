/*
 * memory.h: a budget of bytes that threads share. The budget counts the memory of large request
 * bodies, rows, answers and arenas. Small amounts need not be counted, because the number of
 * connections limits them.
 */
#ifndef BASE_MEMORY_H
#define BASE_MEMORY_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* Amounts below this number of bytes need not be counted. */
#define MEMORY_SMALL ((size_t)64 * 1024)

typedef struct memory_budget {
    size_t most;          /* maximum of `used` */
    size_t resident_most; /* maximum bytes of the process's resident set; 0: no limit */
    atomic_size_t used;   /* bytes that are counted now */
    atomic_size_t added;  /* total of all bytes that were ever counted; wraps around */
} memory_budget;

static inline size_t memory_used(const memory_budget *b)
{
    return atomic_load_explicit(&b->used, memory_order_relaxed);
}

static inline bool memory_has(const memory_budget *b, size_t more)
{
    size_t used = memory_used(b);
    return used <= b->most && more <= b->most - used;
}

/* Returns whether an answer of at least `own` bytes that does not fit into the budget now may fit
 * later. False: the answer is a quarter of the budget or more, and the `others` bytes that other
 * users hold are a quarter or less. */
static inline bool memory_may_fit_later(const memory_budget *b, size_t own, size_t others)
{
    return own < b->most / 4 || others > b->most / 4;
}

/* Counts `now` bytes for a user of memory, instead of the *held bytes that the budget counted for
 * the same user before. Sets *held to `now`. */
static inline void memory_hold(memory_budget *b, size_t *held, size_t now)
{
    if (now > *held) {
        atomic_fetch_add_explicit(&b->used, now - *held, memory_order_relaxed);
        atomic_fetch_add_explicit(&b->added, now - *held, memory_order_relaxed);
    } else if (now < *held) {
        atomic_fetch_sub_explicit(&b->used, *held - now, memory_order_relaxed);
    }
    *held = now;
}

/* Returns the bytes of the process's resident set; 0: /proc can't be read. Costs about 10 us. */
size_t memory_resident(void);

/* Returns whether the budget is used up. While libpq receives a response, the counted size is an
 * estimate, which may be too low. So if at least a quarter of the budget is used, the resident set
 * is compared with resident_most too. */
bool memory_is_used_up(const memory_budget *b);

/* Returns freed memory to the system, except 4 MiB at the end of the heap. Threads that allocate
 * memory may have to wait meanwhile. */
void memory_give_back(void);

#endif
