/*
 * arena.h: the memory of one request: taken piece by piece, given back at once. The first pieces
 * need no allocation. Knows nothing of requests.
 */
#ifndef SERVER_ARENA_H
#define SERVER_ARENA_H

#include "base/view.h"

/* Bytes that an arena has from the start: paths, headers and one key fit. */
#define ARENA_FIRST 2048

typedef struct arena_block arena_block;

typedef struct arena {
    arena_block *blocks; /* allocated ones, the current one first */
    char *at;            /* free from here */
    char *end;
    _Alignas(max_align_t) char first[ARENA_FIRST];
} arena;

void arena_init(arena *a);

/* `size` bytes, aligned for anything, not cleared. NULL: out of memory. */
void *arena_take(arena *a, size_t size);

/* `count` times `size` bytes, all zero. NULL: out of memory. */
void *arena_zeros(arena *a, size_t count, size_t size);

/* A copy with a NUL behind it. NULL: out of memory. */
char *arena_copy(arena *a, view text);

/* Gives everything back. The arena is as new. */
void arena_reset(arena *a);

#endif
