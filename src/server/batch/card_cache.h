/*
 * card_cache.h: rendered cards by (tenant, card id), with the etag that each had when it was read.
 * An entry may be stale: readers send its etag with the read, and PostgreSQL decides whether it is
 * current (cards_get.sql). All loops share one cache. No function waits for a lock: if another
 * thread uses the same part of the cache, a get finds nothing, and a put stores nothing.
 */
#ifndef SERVER_CARD_CACHE_H
#define SERVER_CARD_CACHE_H

#include "base/arena.h"
#include "store/card/card_read.h"

typedef struct card_cache card_cache;

/* Creates a cache for about `bytes` bytes of cards. The kernel allocates its pages when they are
 * first written. NULL: out of memory. The functions below accept NULL as a cache that is always
 * empty. */
card_cache *card_cache_new(size_t bytes);
void card_cache_free(card_cache *all);

/* Stores the text and the etag of a card, and overwrites the oldest entries. Does nothing if the
 * text is empty or the entry is too large. */
void card_cache_put(card_cache *all, const card_key *key, int64_t etag, slice text);

/* Copies the cached text of a card to `memory` and returns the card's etag. Returns 0 if the card
 * is not in the cache, its text has more than `most` bytes, or memory runs out. */
int64_t card_cache_get(card_cache *all, slice *text, const card_key *key, size_t most,
                       arena *memory);

#endif
