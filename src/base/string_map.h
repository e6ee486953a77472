/*
 * string_map.h: a map from strings to numbers, in an arena. The strings are not copied, so they
 * must live as long as the map.
 */
#ifndef BASE_STRING_MAP_H
#define BASE_STRING_MAP_H

#include <stdint.h>
#include "base/arena.h"

/* Returned by string_map_get for a string that is not in the map. */
#define STRING_MAP_NONE UINT32_MAX

typedef struct string_map_slot string_map_slot;

typedef struct string_map {
    string_map_slot *slots;
    size_t size; /* number of slots, a power of two */
    size_t used;
    arena *memory;
} string_map;

/* Initializes a map for about `expected` strings. With more strings the map grows. False: the arena
 * has failed. */
bool string_map_init(string_map *map, size_t expected, arena *memory);

uint32_t string_map_get(const string_map *map, slice string);

/* Stores a string with its number, or changes the number of a stored string. False: the arena has
 * failed. */
bool string_map_set(string_map *map, slice string, uint32_t number);

#endif
