/*
 * arena.c: a bump allocator over blocks. A large allocation that does not fit into the current
 * block gets a block of its own. The current block remains the same, so that later small
 * allocations use the current block's free bytes.
 */
#include "base/arena.h"

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

/* Blocks grow with the arena, up to a size for which the C library returns freed memory to the
 * system. */
enum {
    BLOCK_SIZE = 16 * 1024,
    BLOCK_MOST = 1024 * 1024,
    BLOCK_SHARE = 8, /* a new block has an eighth of the size of all blocks, within these limits */
    LARGE_ALLOCATION = 4 * 1024, /* larger allocations do not begin a shared block */
    CHECK_BYTES = 1024 * 1024,   /* bytes that are allocated between two checks of the budget */
    ALONE_SHARE = 4 /* the limit of one arena is this fraction (a quarter) of the budget */
};

#define ALIGNMENT _Alignof(max_align_t)

struct arena_block {
    arena_block *next;
    _Alignas(max_align_t) char bytes[];
};

void arena_init(arena *a, void *first, size_t size)
{
    char *from = first;
    *a = (arena){
        .at = from, .end = from == NULL ? NULL : from + size, .first = from, .first_size = size};
}

static size_t rounded(size_t size)
{
    return (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT;
}

/* Makes the arena fail for a reason, unless it has already failed for another. Returns false. */
static bool set_failed(arena *a, arena_end why)
{
    if (!a->failed)
        a->why = why;
    a->failed = true;
    return false;
}

size_t arena_max(const arena *a)
{
    return a->budget->process->most / ALONE_SHARE;
}

bool arena_count(arena *a, size_t bytes)
{
    const arena_budget *budget = a->budget;
    a->unchecked += bytes;
    if (budget == NULL || (a->unchecked < CHECK_BYTES && !a->failed))
        return true;
    if (budget->given_up != NULL && atomic_load(budget->given_up))
        return set_failed(a, ARENA_GIVEN_UP);
    if (a->failed && a->why != ARENA_NOMEM) /* lasts until arena_reset */
        return false;
    if (a->taken + a->unchecked > arena_max(a))
        return set_failed(a, ARENA_ALONE);
    if (!memory_has(budget->process, a->unchecked))
        return set_failed(a, ARENA_OTHERS);
    a->holds = budget->process;
    memory_hold(a->holds, &a->held, a->held + a->unchecked);
    a->unchecked = 0;
    return true;
}

static char *add_block(arena *a, size_t size)
{
    arena_block *block = arena_count(a, size) ? malloc(sizeof(*block) + size) : NULL;
    if (block == NULL)
        return NULL;
    block->next = a->blocks;
    a->blocks = block;
    a->taken += size;
    return block->bytes;
}

static size_t next_block(const arena *a)
{
    size_t size = a->taken / BLOCK_SHARE;
    if (size < BLOCK_SIZE)
        return BLOCK_SIZE;
    return size < BLOCK_MOST ? size : BLOCK_MOST;
}

static void *allocate(arena *a, size_t size)
{
    if (size > (size_t)(a->end - a->at)) {
        size_t block = next_block(a);
        if (size > LARGE_ALLOCATION)
            return add_block(a, size);
        char *bytes = add_block(a, block);
        if (bytes == NULL)
            return NULL;
        a->at = bytes;
        a->end = bytes + block;
    }
    char *taken = a->at;
    a->at += size;
    return taken;
}

void *arena_take(arena *a, size_t size)
{
    void *taken = size > SIZE_MAX / 2 ? NULL : allocate(a, rounded(size == 0 ? 1 : size));
    if (taken == NULL)
        set_failed(a, ARENA_NOMEM);
    return taken;
}

void *arena_zeros(arena *a, size_t count, size_t size)
{
    if (size != 0 && count > SIZE_MAX / 2 / size) {
        set_failed(a, ARENA_NOMEM);
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
    if (larger <= count)
        larger = count + 1;
    void *more = arena_zeros(a, larger, size);
    if (more == NULL)
        return NULL;
    if (array != NULL)
        memcpy(more, array, (count < *capacity ? count : *capacity) * size);
    *capacity = larger;
    return more;
}

char *arena_copy(arena *a, slice text)
{
    char *copy = arena_take(a, text.len + 1);
    if (copy == NULL)
        return NULL;
    if (text.len > 0)
        memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    return copy;
}

slice arena_keep(arena *a, buf *text)
{
    char *copy = buf_ok(text) ? arena_copy(a, buf_as_slice(text)) : NULL;
    slice kept = {copy, copy == NULL ? 0 : text->len};
    if (copy == NULL)
        set_failed(a, ARENA_NOMEM);
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
    const arena_budget *budget = a->budget;
    if (a->holds != NULL)
        memory_hold(a->holds, &a->held, 0);
    arena_init(a, a->first, a->first_size);
    a->budget = budget;
}
