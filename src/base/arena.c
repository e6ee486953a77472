/*
 * arena.c: a list of blocks, each twice the size of the one before up to a limit. What is bigger
 * than a block gets one of its own.
 */
#include "base/arena.h"

#include <stdalign.h>
#include <stdint.h>
#include <stdlib.h>

enum { FIRST_BLOCK = 1024, LARGEST_BLOCK = 64 * 1024 };

struct arena_block {
    arena_block *next;
    size_t size;
    size_t used;
    alignas(max_align_t) char bytes[];
};

static size_t aligned(size_t size)
{
    size_t unit = alignof(max_align_t);
    return (size + unit - 1) / unit * unit;
}

static bool add_block(arena *a, size_t size)
{
    size_t room = a->blocks == NULL ? FIRST_BLOCK : a->blocks->size * 2;
    room = room > LARGEST_BLOCK ? LARGEST_BLOCK : room;
    room = room < size ? size : room;
    arena_block *block = calloc(1, sizeof(*block) + room);
    if (block == NULL)
        return false;
    block->size = room;
    block->next = a->blocks;
    a->blocks = block;
    a->left = room;
    return true;
}

void *arena_alloc(arena *a, size_t size)
{
    size_t wanted = aligned(size == 0 ? 1 : size);
    if (a->failed || size > SIZE_MAX / 2 || (a->left < wanted && !add_block(a, wanted))) {
        a->failed = true;
        return NULL;
    }
    void *memory = a->blocks->bytes + a->blocks->used;
    a->blocks->used += wanted;
    a->left -= wanted;
    return memory;
}

void *arena_array(arena *a, size_t count, size_t size)
{
    if (size != 0 && count > SIZE_MAX / 2 / size) {
        a->failed = true;
        return NULL;
    }
    return arena_alloc(a, count * size);
}

char *arena_copy(arena *a, view text)
{
    char *copy = arena_alloc(a, text.len + 1);
    if (copy != NULL && text.len > 0)
        memcpy(copy, text.ptr, text.len);
    return copy;
}

void arena_free(arena *a)
{
    while (a->blocks != NULL) {
        arena_block *next = a->blocks->next;
        free(a->blocks);
        a->blocks = next;
    }
    *a = ARENA_INIT;
}
