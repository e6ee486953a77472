/*
 * arena.h: memory that is allocated in small amounts and freed all at once, such as that of a
 * result object or a request. Allocations do not move. After a failed allocation or a failed
 * arena_count, the arena has the state failed until it is reset. An arena may have a budget.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "base/buf.h"
#include "base/memory.h"

typedef struct arena_block arena_block;

/* The memory limits of one request or call, which all of its arenas share. */
typedef struct arena_budget {
    memory_budget *process;      /* the process's budget; one arena may use a quarter of it */
    size_t answer_most;          /* maximum bytes of the response; arena.c does not check this */
    const atomic_bool *given_up; /* true: nobody waits for the result any more; may be NULL */
} arena_budget;

/* Why an arena has failed. */
typedef enum arena_end {
    ARENA_NOMEM,   /* the system has no memory, or the requested size is too large */
    ARENA_ALONE,   /* the arena would use more than a quarter of the process's budget */
    ARENA_OTHERS,  /* other users of the process's budget have left too little */
    ARENA_GIVEN_UP /* `given_up` of the budget is true */
} arena_end;

typedef struct arena {
    arena_block *blocks; /* allocated blocks */
    char *at;            /* start of the free bytes of the current block, which end at `end` */
    char *end;
    char *first; /* the owner's memory, which the arena uses before it allocates blocks, or NULL */
    size_t first_size;
    bool failed;
    arena_end why;
    const arena_budget *budget; /* NULL: no limits */
    size_t taken;               /* bytes of all blocks */
    size_t unchecked;           /* bytes allocated or counted since the last check of the budget */
    memory_budget *holds;       /* the budget in which `held` bytes are counted, or NULL */
    size_t held;
} arena;

/* An empty arena without a budget. No block is allocated before the first allocation. */
#define ARENA_INIT ((arena){.failed = false})

/* An empty arena with the budget of another arena. */
#define ARENA_BESIDE(other) ((arena){.budget = (other)->budget})

/* Returns the maximum number of bytes of an arena that has a budget. */
size_t arena_max(const arena *a);

/* Counts bytes that were allocated outside of the arena for the same request. False: the arena has
 * failed, because the budget is exceeded or `given_up` is true. */
bool arena_count(arena *a, size_t bytes);

/* Initializes an arena that first uses the `size` bytes at `first`, which the caller owns and which
 * must be aligned for any type. */
void arena_init(arena *a, void *first, size_t size);

/* Allocates `size` bytes, aligned for any type, not cleared. NULL: the arena has failed. */
void *arena_take(arena *a, size_t size);

/* Allocates `count` times `size` bytes, all zero. NULL: the arena has failed. */
void *arena_zeros(arena *a, size_t count, size_t size);

/* Returns an array with space for more than `count` elements: the same array, or a larger one to
 * which the elements are copied. `count` may exceed `*capacity`. NULL: the arena has failed. */
void *arena_more(arena *a, void *array, size_t count, size_t *capacity, size_t size);

/* Returns a copy of a text, followed by a NUL. NULL: the arena has failed. */
char *arena_copy(arena *a, slice text);

/* Copies the text of a buffer, followed by a NUL, into the arena, and frees the buffer. If the
 * buffer has failed or the copy fails, the result's ptr is NULL, and the arena has failed. */
slice arena_keep(arena *a, buf *text);

/* Frees all allocations. The arena can be used again and keeps its budget. */
void arena_reset(arena *a);

#endif
