/*
 * string_map.c: a hash table with open addressing, at most half full. No string is ever removed.
 */
#include "base/string_map.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

struct string_map_slot {
    slice string; /* ptr NULL: free */
    uint32_t number;
    uint32_t hash;
};

bool string_map_init(string_map *map, size_t expected, arena *memory)
{
    size_t size = 16;

    while (size < expected * 2 && size < SIZE_MAX / 4)
        size *= 2;
    *map = (string_map){arena_zeros(memory, size, sizeof(string_map_slot)), size, 0, memory};
    return map->slots != NULL;
}

static uint32_t hash_of(slice string)
{
    return (uint32_t)XXH3_64bits(string.ptr, string.len);
}

/* Returns the slot of a string, or the free slot for it. */
static string_map_slot *find_slot(const string_map *map, slice string, uint32_t hash)
{
    size_t at = hash & (map->size - 1);

    while (map->slots[at].string.ptr != NULL &&
           (map->slots[at].hash != hash || !slice_equal(map->slots[at].string, string)))
        at = (at + 1) & (map->size - 1);
    return &map->slots[at];
}

uint32_t string_map_get(const string_map *map, slice string)
{
    const string_map_slot *slot = find_slot(map, string, hash_of(string));

    return slot->string.ptr != NULL ? slot->number : STRING_MAP_NONE;
}

static bool grow(string_map *map)
{
    string_map larger;

    if (!string_map_init(&larger, map->size, map->memory))
        return false;
    for (size_t i = 0; i < map->size; i++) {
        if (map->slots[i].string.ptr != NULL)
            *find_slot(&larger, map->slots[i].string, map->slots[i].hash) = map->slots[i];
    }
    larger.used = map->used;
    *map = larger;
    return true;
}

bool string_map_set(string_map *map, slice string, uint32_t number)
{
    if (map->used * 2 >= map->size && !grow(map))
        return false;
    uint32_t hash = hash_of(string);
    string_map_slot *slot = find_slot(map, string, hash);
    map->used += slot->string.ptr == NULL;
    *slot = (string_map_slot){string.ptr != NULL ? string : (slice){"", 0}, number, hash};
    return true;
}
