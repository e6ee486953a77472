/*
 * card_cache.c: the cache is split into parts, each with a lock. The hash of a key chooses the
 * part. A part has a ring of bytes, in which new entries overwrite the oldest, and a table with the
 * positions of the entries. A position counts all bytes of the ring that were used before the
 * entry, so it shows whether the entry was overwritten.
 */
#include "server/batch/card_cache.h"
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#define XXH_INLINE_ALL
#include <xxhash.h>

enum {
    PARTS = 16,
    /* number of slots in a set. The hash of a key chooses a set; a card is in one of the set's
     * slots */
    WAYS = 8,
    SLOT_BYTES = 512, /* the table has about one slot for each 512 bytes of the ring */
    ENTRY_SHARE = 32, /* an entry that is larger than 1/32 of a ring is not stored */
    UNIT = 8,         /* positions are multiples of 8 bytes */
    /* The upper 16 bits of a slot are the mark, which is a part of the key's hash. The lower 48
     * bits are the entry's position divided by UNIT, plus 1. */
    MARK_SHIFT = 48
};

#define POSITION_MASK ((UINT64_C(1) << MARK_SHIFT) - 1)

typedef struct entry {
    int64_t etag;
    size_t tenant_len, card_id_len, text_len; /* lengths of the texts in `bytes` */
    char bytes[];
} entry;

typedef struct part {
    pthread_mutex_t lock;
    uint64_t end;            /* position of the next entry, which only grows */
    uint64_t (*slots)[WAYS]; /* a slot of value 0 is empty */
    char *ring;
} part;

struct card_cache {
    size_t ring_bytes; /* bytes of each part's ring */
    size_t sets;       /* number of sets in each part */
    uint64_t (*slots)[WAYS];
    void *rings; /* not on the heap, because such large blocks would keep the heap from shrinking */
    part parts[PARTS];
};

static size_t mapped_bytes(const card_cache *all)
{
    return all->ring_bytes * PARTS + UNIT; /* mmap rejects the length 0 */
}

card_cache *card_cache_new(size_t bytes)
{
    card_cache *all = calloc(1, sizeof(*all));
    if (all == NULL)
        return NULL;
    all->ring_bytes = bytes / PARTS / UNIT * UNIT;
    all->sets = all->ring_bytes / SLOT_BYTES / WAYS + 1;
    all->slots = calloc(PARTS * all->sets, sizeof(*all->slots));
    all->rings =
        mmap(NULL, mapped_bytes(all), PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (all->slots == NULL || all->rings == MAP_FAILED) {
        card_cache_free(all);
        return NULL;
    }
    for (size_t i = 0; i < PARTS; i++) {
        part *p = &all->parts[i];
        pthread_mutex_init(&p->lock, NULL);
        p->slots = all->slots + i * all->sets;
        p->ring = (char *)all->rings + i * all->ring_bytes;
    }
    return all;
}

void card_cache_free(card_cache *all)
{
    if (all == NULL)
        return;
    for (size_t i = 0; i < PARTS; i++)
        pthread_mutex_destroy(&all->parts[i].lock);
    if (all->rings != MAP_FAILED)
        munmap(all->rings, mapped_bytes(all));
    free(all->slots);
    free(all);
}

/* --- finding a card --- */

/* The part and the set of a card. Slots and entries may be read and written while the part is
 * locked. */
typedef struct location {
    part *part;
    uint64_t *set;
    uint64_t mark; /* shifted by MARK_SHIFT */
} location;

/* Locks the part of a card and finds the card's set. Returns false if another thread has locked the
 * part. */
static bool lock_part(card_cache *all, const card_key *key, location *out)
{
    uint64_t hash = XXH3_64bits_withSeed(key->card_id.ptr, key->card_id.len,
                                         XXH3_64bits(key->tenant.ptr, key->tenant.len));
    part *p = &all->parts[hash % PARTS];
    *out = (location){p, p->slots[hash / PARTS % all->sets], hash & ~POSITION_MASK};
    return pthread_mutex_trylock(&p->lock) == 0;
}

static entry *entry_in(const card_cache *all, const part *p, uint64_t slot)
{
    uint64_t position = ((slot & POSITION_MASK) - 1) * UNIT;
    return slot == 0 || p->end > position + all->ring_bytes
               ? NULL
               : (entry *)(void *)(p->ring + position % all->ring_bytes);
}

static bool is_of(const entry *e, const card_key *key)
{
    return slice_equal((slice){e->bytes, e->tenant_len}, key->tenant) &&
           slice_equal((slice){e->bytes + e->tenant_len, e->card_id_len}, key->card_id);
}

static uint64_t *find_slot(const card_cache *all, const location *at, const card_key *key,
                           entry **found)
{
    for (size_t i = 0; i < WAYS; i++) {
        uint64_t slot = at->set[i];
        if ((slot & ~POSITION_MASK) != at->mark)
            continue;
        *found = entry_in(all, at->part, slot);
        if (*found != NULL && is_of(*found, key))
            return &at->set[i];
    }
    return NULL;
}

/* --- entries --- */

/* Returns an empty slot of the set, or else the slot of the oldest entry. */
static uint64_t *choose_slot(const location *at)
{
    uint64_t *oldest = &at->set[0];
    for (size_t i = 1; i < WAYS; i++)
        if ((at->set[i] & POSITION_MASK) < (*oldest & POSITION_MASK))
            oldest = &at->set[i];
    return oldest;
}

/* Writes an entry behind the newest one, or at the start of the ring if the entry does not fit
 * before the end. */
static void write_entry(const card_cache *all, const location *at, uint64_t *slot,
                        const entry *head, const card_key *key, const char *text)
{
    part *p = at->part;
    size_t size = sizeof(*head) + head->tenant_len + head->card_id_len + head->text_len;
    size_t left = all->ring_bytes - p->end % all->ring_bytes;
    if (size > left)
        p->end += left;
    entry *e = (entry *)(void *)(p->ring + p->end % all->ring_bytes);
    *e = *head;
    memcpy(e->bytes, key->tenant.ptr, head->tenant_len);
    memcpy(e->bytes + head->tenant_len, key->card_id.ptr, head->card_id_len);
    memcpy(e->bytes + head->tenant_len + head->card_id_len, text, head->text_len);
    *slot = at->mark | (p->end / UNIT + 1);
    p->end += (size + UNIT - 1) / UNIT * UNIT;
}

void card_cache_put(card_cache *all, const card_key *key, int64_t etag, slice text)
{
    entry head = {.etag = etag,
                  .tenant_len = key->tenant.len,
                  .card_id_len = key->card_id.len,
                  .text_len = text.len};
    entry *old = NULL;
    location at;
    if (all == NULL || text.len == 0 ||
        sizeof(head) + head.tenant_len + head.card_id_len + head.text_len >
            all->ring_bytes / ENTRY_SHARE ||
        !lock_part(all, key, &at))
        return;
    uint64_t *slot = find_slot(all, &at, key, &old);
    if (slot == NULL || old->etag != etag)
        write_entry(all, &at, slot == NULL ? choose_slot(&at) : slot, &head, key, text.ptr);
    pthread_mutex_unlock(&at.part->lock);
}

int64_t card_cache_get(card_cache *all, slice *text, const card_key *key, size_t most,
                       arena *memory)
{
    entry *e = NULL;
    int64_t etag = 0;
    location at;
    if (all == NULL || !lock_part(all, key, &at))
        return 0;
    if (find_slot(all, &at, key, &e) != NULL && e->text_len <= most) {
        slice cached = {e->bytes + e->tenant_len + e->card_id_len, e->text_len};
        *text = (slice){arena_copy(memory, cached), cached.len};
        etag = text->ptr == NULL ? 0 : e->etag;
    }
    pthread_mutex_unlock(&at.part->lock);
    return etag;
}
