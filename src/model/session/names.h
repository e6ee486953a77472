/*
 * names.h: a map from names (ids of entries, of calls) to numbers, in an arena. The names are
 * borrowed and must live as long as the map.
 */
#ifndef MODEL_NAMES_H
#define MODEL_NAMES_H

#include <stdint.h>
#include "base/arena.h"

/* No number: what is looked up and not there. */
#define SESSION_NONE UINT32_MAX

typedef struct session_names_slot session_names_slot;

typedef struct session_names {
    session_names_slot *slots;
    size_t size; /* a power of two */
    size_t used;
    arena *memory;
} session_names;

/* A map for about so many names; it grows where there are more. False: out of memory. */
bool session_names_init(session_names *names, size_t expected, arena *memory);

uint32_t session_names_get(const session_names *names, view name);

/* Gives a name its number, or another one. False: out of memory. */
bool session_names_set(session_names *names, view name, uint32_t number);

#endif
