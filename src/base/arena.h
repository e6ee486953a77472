/*
 * arena.h: memory that is taken piece by piece and given back all at once: of a result object, or
 * of a request. Pieces never move. Latches its first failure, as buffers do. May have a budget.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "base/buf.h"
#include "base/memory.h"

typedef struct arena_block arena_block;

/* What bounds the memory that work may take, for all arenas of that work. */
typedef struct arena_budget {
    memory_budget *process; /* one arena may have a quarter of it; counted and checked each MiB */
    size_t answer_most;     /* bytes of the answer that is made of it; not checked here */
    const atomic_bool *given_up; /* set: nobody waits for what is made of it */
} arena_budget;

/* Why an arena is out of memory. */
typedef enum arena_end {
    ARENA_NOMEM,
    ARENA_ALONE,   /* it would have too much of the process's budget, */
    ARENA_OTHERS,  /* or others have the rest */
    ARENA_GIVEN_UP /* as the budget says */
} arena_end;

typedef struct arena {
    arena_block *blocks; /* allocated ones */
    char *at;            /* free from here */
    char *end;
    char *first; /* the owner's own bytes, taken before any are allocated; may be NULL */
    size_t first_size;
    bool failed;
    arena_end why;
    const arena_budget *budget; /* NULL: none */
    size_t taken;               /* bytes in blocks, */
    size_t unchecked;     /* bytes that were taken or counted since the last check of the budget */
    memory_budget *holds; /* where `held` bytes are counted; NULL: none are */
    size_t held;
} arena;

/* One that allocates from its first piece on. */
#define ARENA_INIT ((arena){.failed = false})

/* The same, of the budget of another. */
#define ARENA_BESIDE(other) ((arena){.budget = (other)->budget})

/* The bytes that one arena of its budget may have. Only of an arena that has one. */
size_t arena_max(const arena *a);

/* Counts bytes that were taken elsewhere for the same work. False: over the budget. */
bool arena_count(arena *a, size_t bytes);

/* One that begins with `size` bytes of its owner's, aligned for anything. */
void arena_init(arena *a, void *first, size_t size);

/* `size` bytes, aligned for anything, not cleared. NULL: out of memory. */
void *arena_take(arena *a, size_t size);

/* `count` times `size` bytes, all zero. NULL: out of memory, or more than can be. */
void *arena_zeros(arena *a, size_t count, size_t size);

/* An array with room for one more than `count` elements: the same one, or a larger one with the
 * elements copied. NULL: out of memory. */
void *arena_more(arena *a, void *array, size_t count, size_t *capacity, size_t size);

/* A copy with a NUL behind it. NULL: out of memory. */
char *arena_copy(arena *a, slice text);

/* Moves the text of a buffer here, with a NUL behind it, and frees the buffer. ptr NULL: the buffer
 * had failed, or memory is out; the arena has failed then. */
slice arena_keep(arena *a, buf *text);

/* Gives everything back. The arena is as new, its budget the same. */
void arena_reset(arena *a);

#endif
