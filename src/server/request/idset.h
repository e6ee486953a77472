/*
 * idset.h: a set of texts for finding duplicates. The set borrows the texts. The hash of a text has
 * a random seed, so that clients can't choose ids that collide.
 */
#ifndef SERVER_IDSET_H
#define SERVER_IDSET_H

#include <stdint.h>
#include "base/arena.h"

typedef struct idset_slot {
    slice text; /* ptr NULL: empty */
    uint64_t hash;
} idset_slot;

typedef struct idset {
    arena *memory;
    idset_slot *slots;
    size_t capacity; /* a power of two, or 0 */
    size_t count;
} idset;

/* Chooses the seed of the hash. Called once, before threads start. */
void idset_seed(void);

void idset_init(idset *set, arena *memory);

typedef enum idset_found { IDSET_NEW, IDSET_KNOWN, IDSET_NOMEM } idset_found;

/* Adds a text to the set, by reference, unless the set contains it. */
idset_found idset_add(idset *set, slice text);

#endif
