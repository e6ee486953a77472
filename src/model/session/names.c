/*
 * names.c: a hash table with open addressing, at most half full. Nothing is ever removed.
 */
#include "model/session/names.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

struct session_names_slot {
    view name; /* ptr NULL: free */
    uint32_t number;
    uint32_t hash;
};

bool session_names_init(session_names *names, size_t expected, arena *memory)
{
    size_t size = 16;

    while (size < expected * 2 && size < SIZE_MAX / 4)
        size *= 2;
    *names =
        (session_names){arena_zeros(memory, size, sizeof(session_names_slot)), size, 0, memory};
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

static bool grow(session_names *names)
{
    session_names larger;

    if (!session_names_init(&larger, names->size, names->memory))
        return false;
    for (size_t i = 0; i < names->size; i++) {
        if (names->slots[i].name.ptr != NULL)
            *find(&larger, names->slots[i].name) = names->slots[i];
    }
    larger.used = names->used;
    *names = larger;
    return true;
}

bool session_names_set(session_names *names, view name, uint32_t number)
{
    if (names->used * 2 >= names->size && !grow(names))
        return false;
    session_names_slot *slot = find(names, name);
    names->used += slot->name.ptr == NULL;
    slot->name = name.ptr != NULL ? name : (view){"", 0};
    slot->number = number;
    return true;
}
