/*
 * card_cache.h: rendered cards by (tenant, card id), with the etag that each card had when it was
 * read. An entry may be stale: a read sends the etag of the entry, and PostgreSQL decides whether
 * the entry is current (cards_get.sql). All loops share one cache. No function waits for a lock: if
 * another thread uses the same part of the cache, a get finds nothing, and a put stores nothing.
 */
#ifndef SERVER_CARD_CACHE_H
#define SERVER_CARD_CACHE_H

#include "base/arena.h"
#include "store/card/card_read.h"

typedef struct card_cache card_cache;

/* Creates a cache for about `bytes` bytes of cards. The kernel allocates the cache's pages when
 * they are first written. NULL: out of memory. All functions accept NULL as a cache that is empty
 * and stores nothing. */
card_cache *card_cache_new(size_t bytes);
void card_cache_free(card_cache *all);

/* Stores the text and the etag of a card, over the oldest entries if necessary. A text that is
 * empty or too large is not stored. */
void card_cache_put(card_cache *all, const card_key *key, int64_t etag, slice text);

/* Copies the cached text of a card to `memory`, and returns the card's etag. Returns 0 if no text
 * is copied, for example because it has more than `most` bytes, or memory runs out. */
int64_t card_cache_get(card_cache *all, slice *text, const card_key *key, size_t most,
                       arena *memory);

#endif
