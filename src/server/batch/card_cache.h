/*
 * card_cache.h: what cards that are read often said, as they are answered. PostgreSQL is asked each
 * time all the same, though only which version of a card there is now: so nobody is given what was
 * true a moment ago, and nothing here must be kept up with what changes. One for all loops; where
 * two meet, one goes without rather than wait.
 */
#ifndef SERVER_CARD_CACHE_H
#define SERVER_CARD_CACHE_H

#include "base/buf.h"
#include "store/read.h"

typedef struct card_cache card_cache;

/* Holds about so many bytes of texts; they are taken as it fills. NULL: no memory. All functions
 * take a NULL for a cache that holds nothing. */
card_cache *card_cache_new(size_t bytes);
void card_cache_free(card_cache *all);

/* Keeps the text of a version of a card, in the room of what was kept longest. */
void card_cache_keep(card_cache *all, const card_key *key, const card_version *version, view text,
                     int64_t now_ms);

/* Whether to ask only for the version of a card which lies, by all that is known, at key->place. */
bool card_cache_has(card_cache *all, const card_key *key, int64_t now_ms);

/* Appends the text of this version. False: it is not here, or not any more. */
bool card_cache_add(card_cache *all, buf *out, const card_key *key, const card_version *version);

#endif
