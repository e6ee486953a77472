/*
 * arena.c: a bump allocator over blocks. A large piece has a block of its own, and the next one
 * goes on in the block before it, so that nothing is wasted.
 */
#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

enum { BLOCK_SIZE = 16 * 1024, ALIGNMENT = _Alignof(max_align_t) };

struct arena_block {
    arena_block *next;
    _Alignas(max_align_t) char bytes[];
};

void arena_init(arena *a, void *first, size_t size)
{
    char *from = first;
    *a = (arena){NULL, from, from == NULL ? NULL : from + size, from, size, false};
}

static size_t rounded(size_t size)
{
    return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

static char *add_block(arena *a, size_t size)
{
    arena_block *block = malloc(sizeof(*block) + size);
    if (block == NULL)
        return NULL;
    block->next = a->blocks;
    a->blocks = block;
    return block->bytes;
}

static void *take(arena *a, size_t size)
{
    if (size > (size_t)(a->end - a->at)) {
        if (size > BLOCK_SIZE / 4)
            return add_block(a, size);
        char *bytes = add_block(a, BLOCK_SIZE);
        if (bytes == NULL)
            return NULL;
        a->at = bytes;
        a->end = bytes + BLOCK_SIZE;
    }
    char *taken = a->at;
    a->at += size;
    return taken;
}

void *arena_take(arena *a, size_t size)
{
    void *taken = size > SIZE_MAX / 2 ? NULL : take(a, rounded(size == 0 ? 1 : size));
    a->failed = a->failed || taken == NULL;
    return taken;
}

void *arena_zeros(arena *a, size_t count, size_t size)
{
    if (size != 0 && count > SIZE_MAX / 2 / size) {
        a->failed = true;
        return NULL;
    }
    void *taken = arena_take(a, count * size);
    if (taken != NULL)
        memset(taken, 0, count * size);
    return taken;
}

void *arena_more(arena *a, void *array, size_t count, size_t *capacity, size_t size)
{
    size_t larger = *capacity < 8 ? 8 : *capacity * 2;
    if (count < *capacity)
        return array;
    void *more = arena_zeros(a, larger, size);
    if (more == NULL)
        return NULL;
    if (array != NULL)
        memcpy(more, array, count * size);
    *capacity = larger;
    return more;
}

char *arena_copy(arena *a, view text)
{
    char *copy = arena_take(a, text.len + 1);
    if (copy == NULL)
        return NULL;
    if (text.len > 0)
        memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    return copy;
}

view arena_keep(arena *a, buf *text)
{
    char *copy = buf_ok(text) ? arena_copy(a, buf_as_view(text)) : NULL;
    view kept = {copy, copy == NULL ? 0 : text->len};
    a->failed = a->failed || copy == NULL;
    buf_free(text);
    return kept;
}

void arena_reset(arena *a)
{
    while (a->blocks != NULL) {
        arena_block *next = a->blocks->next;
        free(a->blocks);
        a->blocks = next;
    }
    arena_init(a, a->first, a->first_size);
}
