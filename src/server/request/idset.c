/*
 * idset.c: a hash set with open addressing in an arena. When the set grows, the old slots stay in
 * the arena. All old slots together are smaller than the present slots.
 */
#include "server/request/idset.h"
#include <sys/random.h>
#include <time.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum { FIRST_CAPACITY = 64 };

static uint64_t seed = UINT64_C(0x9E3779B97F4A7C15);

void idset_seed(void)
{
    struct timespec now;
    if (getrandom(&seed, sizeof(seed), 0) == (ssize_t)sizeof(seed))
        return;
    clock_gettime(CLOCK_MONOTONIC, &now);
    seed ^= (uint64_t)now.tv_nsec;
}

void idset_init(idset *set, arena *memory)
{
    *set = (idset){.memory = memory};
}

static idset_slot *find_slot(const idset *set, slice text, uint64_t hash)
{
    size_t at = (size_t)hash & (set->capacity - 1);
    for (;;) {
        idset_slot *slot = &set->slots[at];
        if (slot->text.ptr == NULL || (slot->hash == hash && slice_equal(slot->text, text)))
            return slot;
        at = (at + 1) & (set->capacity - 1);
    }
}

static bool grow(idset *set)
{
    idset larger = *set;
    larger.capacity = set->capacity == 0 ? FIRST_CAPACITY : set->capacity * 2;
    larger.slots = arena_zeros(set->memory, larger.capacity, sizeof(idset_slot));
    if (larger.slots == NULL)
        return false;
    for (size_t i = 0; i < set->capacity; i++)
        if (set->slots[i].text.ptr != NULL)
            *find_slot(&larger, set->slots[i].text, set->slots[i].hash) = set->slots[i];
    *set = larger;
    return true;
}

idset_found idset_add(idset *set, slice text)
{
    if (text.ptr == NULL)
        text.ptr = "";
    if (set->count * 2 >= set->capacity && !grow(set))
        return IDSET_NOMEM;
    uint64_t hash = XXH3_64bits_withSeed(text.ptr, text.len, seed);
    idset_slot *slot = find_slot(set, text, hash);
    if (slot->text.ptr != NULL)
        return IDSET_KNOWN;
    *slot = (idset_slot){text, hash};
    set->count++;
    return IDSET_NEW;
}
