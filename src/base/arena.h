/*
 * arena.h: memory that is given back all at once: of a result object, or of a request. Blocks grow,
 * pointers never move. Latches its first failure, as buffers do.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "base/view.h"

typedef struct arena_block arena_block;

typedef struct arena {
    arena_block *blocks;
    size_t left; /* free bytes in the newest block */
    bool failed;
} arena;

#define ARENA_INIT ((arena){NULL, 0, false})

/* Zeroed memory, aligned for anything. NULL: out of memory, now and from now on. */
void *arena_alloc(arena *a, size_t size);

/* An array of `count` things; NULL also if its size overflows. */
void *arena_array(arena *a, size_t count, size_t size);

/* A copy with a NUL after it. */
char *arena_copy(arena *a, view text);

void arena_free(arena *a);

#endif
