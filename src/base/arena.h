/*
 * arena.h: memory that is taken piece by piece and given back all at once: of a result object, or
 * of a request. Pieces never move. Latches its first failure, as buffers do.
 */
#ifndef BASE_ARENA_H
#define BASE_ARENA_H

#include "base/buf.h"

typedef struct arena_block arena_block;

typedef struct arena {
    arena_block *blocks; /* allocated ones */
    char *at;            /* free from here */
    char *end;
    char *first; /* the owner's own bytes, taken before any are allocated; may be NULL */
    size_t first_size;
    bool failed;
} arena;

/* One that allocates from its first piece on. */
#define ARENA_INIT ((arena){NULL, NULL, NULL, NULL, 0, false})

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
char *arena_copy(arena *a, view text);

/* Moves the text of a buffer here, with a NUL behind it, and frees the buffer. ptr NULL: the buffer
 * had failed, or memory is out; the arena has failed then. */
view arena_keep(arena *a, buf *text);

/* Gives everything back. The arena is as new. */
void arena_reset(arena *a);

#endif
