/*
 * arena.h: memory that is allocated in small amounts and freed all at once, such as that of a
 * result object or a request. Allocations never move. After its first failure an arena stays
 * failed, as buffers do. An arena may have a budget.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "base/buf.h"
#include "base/memory.h"

typedef struct arena_block arena_block;

/* Limits the memory of one request or call, for all of its arenas. */
typedef struct arena_budget {
    memory_budget
        *process;       /* one arena may use a quarter of it; counted and checked once per MiB */
    size_t answer_most; /* bytes of the response that is built from it; not checked here */
    const atomic_bool *given_up; /* set: nobody waits for the result */
} arena_budget;

/* Why an arena is out of memory. */
typedef enum arena_end {
    ARENA_NOMEM,
    ARENA_ALONE,   /* it would use too much of the process's budget, */
    ARENA_OTHERS,  /* or other users have the rest */
    ARENA_GIVEN_UP /* `given_up` of the budget is set */
} arena_end;

typedef struct arena {
    arena_block *blocks; /* allocated ones */
    char *at;            /* free from here */
    char *end;
    char *first; /* memory of the owner, used before any is allocated; may be NULL */
    size_t first_size;
    bool failed;
    arena_end why;
    const arena_budget *budget; /* NULL: none */
    size_t taken;               /* bytes of all blocks */
    size_t unchecked;           /* bytes allocated or counted since the last check of the budget */
    memory_budget *holds;       /* the budget in which `held` bytes are counted; NULL: none are */
    size_t held;
} arena;

/* An arena without a budget. It allocates its first block when it is first used. */
#define ARENA_INIT ((arena){.failed = false})

/* A new arena with the budget of another. */
#define ARENA_BESIDE(other) ((arena){.budget = (other)->budget})

/* The maximum bytes of one arena. The arena must have a budget. */
size_t arena_max(const arena *a);

/* Counts bytes that were allocated elsewhere for the same work. False: over the budget. */
bool arena_count(arena *a, size_t bytes);

/* Initializes an arena whose first `size` bytes belong to its owner. They are aligned for any
 * type. */
void arena_init(arena *a, void *first, size_t size);

/* `size` bytes, aligned for anything, not cleared. NULL: out of memory. */
void *arena_take(arena *a, size_t size);

/* `count` times `size` bytes, all zero. NULL: out of memory, or more than can be. */
void *arena_zeros(arena *a, size_t count, size_t size);

/* An array that can hold one more than `count` elements: the same one, or a larger one with the
 * elements copied. NULL: out of memory. */
void *arena_more(arena *a, void *array, size_t count, size_t *capacity, size_t size);

/* A copy with a NUL behind it. NULL: out of memory. */
char *arena_copy(arena *a, slice text);

/* Moves the text of a buffer into the arena, with a NUL behind it, and frees the buffer. ptr NULL:
 * the buffer had failed, or memory is out. The arena has failed then. */
slice arena_keep(arena *a, buf *text);

/* Frees all allocations. The arena can be used again and keeps its budget. */
void arena_reset(arena *a);

#endif
