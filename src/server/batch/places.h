/*
 * places.h: where in its table PostgreSQL last had each of many cards, for the next read to find it
 * without the index. Only a guess, which the statement checks, so nothing here must be kept up with
 * what changes: an entry may be old or another card's. One for all loops, without locks.
 */
#ifndef SERVER_PLACES_H
#define SERVER_PLACES_H

#include "store/read.h"

typedef struct places places;

places *places_new(void); /* NULL: no memory */
void places_free(places *all);

/* The key with the place that is known of it, or none. */
card_key places_key(const places *all, view tenant, view card_id);

/* The card was found at `found`. */
void places_note(places *all, const card_key *key, uint64_t found);

#endif
