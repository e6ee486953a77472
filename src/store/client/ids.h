/*
 * ids.h: finds repeated ids in the list of a call.
 */
#ifndef STORE_IDS_H
#define STORE_IDS_H

#include "base/arena.h"

/* Returns for each id the index of its first occurrence, as an array of `count` numbers in the
 * arena. NULL: out of memory. */
size_t *ids_first(arena *memory, const char *const *ids, size_t count);

#endif
