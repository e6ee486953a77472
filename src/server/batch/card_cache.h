/*
 * card_cache.h: rendered cards by (tenant, card id), with the etag that each had when it was read.
 * An entry may be stale: readers send its etag with the read, and PostgreSQL decides whether it is
 * current (cards_get.sql). One cache for all loops. It never waits: a busy part counts as a miss.
 */
#ifndef SERVER_CARD_CACHE_H
#define SERVER_CARD_CACHE_H

#include "base/arena.h"
#include "store/card/card_read.h"

typedef struct card_cache card_cache;

/* Creates a cache for about `bytes` bytes of texts. Its memory is used as it fills. NULL: out of
 * memory. The functions below accept NULL, a cache that is always empty. */
card_cache *card_cache_new(size_t bytes);
void card_cache_free(card_cache *all);

/* Stores the text of a card with this etag. Overwrites the oldest entries. */
void card_cache_put(card_cache *all, const card_key *key, int64_t etag, slice text);

/* Copies the cached text of a card, if it has at most `most` bytes, into `memory` and returns its
 * etag; 0: there is none. */
int64_t card_cache_get(card_cache *all, slice *text, const card_key *key, size_t most,
                       arena *memory);

#endif
