/*
 * places.c: a table of sets of eight entries, which are looked at together. An entry is one number,
 * so that loops may write at any time: a part of the key's hash, and the place. Keys are not kept.
 */
#include "server/batch/places.h"
#include <stdatomic.h>
#include <stdlib.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum {
    SETS = 32 * 1024, /* a power of two; 2 MiB in all, for 262,144 cards */
    WAYS = 8,
    MARK_SHIFT = 48 /* below it is the place */
};

#define PLACE_BITS ((UINT64_C(1) << MARK_SHIFT) - 1)

struct places {
    _Atomic uint64_t entry[SETS][WAYS]; /* 0: empty */
};

places *places_new(void)
{
    return calloc(1, sizeof(places));
}

void places_free(places *all)
{
    free(all);
}

static uint64_t hash_of(view tenant, view card_id)
{
    return XXH3_64bits_withSeed(card_id.ptr, card_id.len, XXH3_64bits(tenant.ptr, tenant.len));
}

/* The low bits of a hash choose its set, the high ones tell entries of a set apart. */
static size_t set_of(uint64_t hash)
{
    return hash & (SETS - 1);
}

static bool is_of(uint64_t entry, uint64_t hash)
{
    return entry != 0 && entry >> MARK_SHIFT == hash >> MARK_SHIFT;
}

card_key places_key(const places *all, view tenant, view card_id)
{
    uint64_t hash = hash_of(tenant, card_id);
    card_key key = {tenant, card_id, 0};
    for (size_t i = 0; i < WAYS; i++) {
        uint64_t entry = atomic_load_explicit(&all->entry[set_of(hash)][i], memory_order_relaxed);
        if (is_of(entry, hash))
            key.place = entry & PLACE_BITS;
    }
    return key;
}

/* Its own entry, else an empty one, else one that is given up for it. */
void places_note(places *all, const card_key *key, uint64_t found)
{
    if (found == key->place)
        return;
    uint64_t hash = hash_of(key->tenant, key->card_id);
    _Atomic uint64_t *set = all->entry[set_of(hash)];
    size_t to = (hash >> MARK_SHIFT) % WAYS;
    for (size_t i = WAYS; i > 0; i--) {
        uint64_t entry = atomic_load_explicit(&set[i - 1], memory_order_relaxed);
        if (entry == 0)
            to = i - 1;
        if (is_of(entry, hash)) {
            to = i - 1;
            break;
        }
    }
    atomic_store_explicit(&set[to], (hash & ~PLACE_BITS) | found, memory_order_relaxed);
}
