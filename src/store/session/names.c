/*
 * names.c: a hash table with open addressing, made large enough at once. Nothing is ever removed.
 */
#include "store/session/names.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

struct session_names_slot {
    view name; /* ptr NULL: free */
    uint32_t number;
    uint32_t hash;
};

bool session_names_init(session_names *names, size_t most, arena *memory)
{
    size_t size = 16;

    while (size < most * 2 && size < SIZE_MAX / 4)
        size *= 2;
    *names = (session_names){arena_zeros(memory, size, sizeof(session_names_slot)), size, memory};
    return names->slots != NULL;
}

static session_names_slot *find(const session_names *names, view name)
{
    uint32_t hash = (uint32_t)XXH3_64bits(name.ptr, name.len);
    size_t at = hash & (names->size - 1);

    while (names->slots[at].name.ptr != NULL &&
           (names->slots[at].hash != hash || !view_equal(names->slots[at].name, name)))
        at = (at + 1) & (names->size - 1);
    names->slots[at].hash = hash;
    return &names->slots[at];
}

uint32_t session_names_get(const session_names *names, view name)
{
    const session_names_slot *slot = find(names, name);

    return slot->name.ptr != NULL ? slot->number : SESSION_NONE;
}

void session_names_set(session_names *names, view name, uint32_t number)
{
    session_names_slot *slot = find(names, name);

    slot->name = name.ptr != NULL ? name : (view){"", 0};
    slot->number = number;
}
