/*
 * token_list.c: a hash table of tokens by the SHA-256 of their secrets. The first bytes of the
 * SHA-256 determine the slot, because clients can't choose these bytes. Secrets are random, so the
 * time of a comparison reveals nothing about other secrets.
 */
#include "server/auth/token_list.h"
#include <gnutls/crypto.h>
#include <stdlib.h>
#include "base/arena.h"

struct token_list {
    atomic_int holders;
    size_t capacity; /* a power of two */
    const token **slots;
    arena memory;
};

static size_t slot_of(const token_list *list, const unsigned char *hash)
{
    size_t number;
    memcpy(&number, hash, sizeof(number));
    return number & (list->capacity - 1);
}

/* --- making --- */

static int rows_of_token(const store_rows *rows, int row)
{
    int end = row;
    while (end < rows_count(rows) &&
           rows_int8(rows, end, WATCH_ID) == rows_int8(rows, row, WATCH_ID))
        end++;
    return end - row;
}

static void add_token(token_list *list, const store_rows *rows, int row, int count,
                      int64_t asked_ms)
{
    token *t = arena_zeros(&list->memory, 1, sizeof(*t));
    slice *tenants = arena_zeros(&list->memory, (size_t)count, sizeof(*tenants));
    slice hash = rows_text(rows, row, WATCH_HASH);
    if (t == NULL || tenants == NULL || hash.len != sizeof(t->hash))
        return;
    memcpy(t->hash, hash.ptr, sizeof(t->hash));
    t->id = rows_int8(rows, row, WATCH_ID);
    t->expires_ms = rows_null(rows, row, WATCH_MS_LEFT)
                        ? INT64_MAX
                        : asked_ms + rows_int8(rows, row, WATCH_MS_LEFT);
    t->all_tenants = rows_bool(rows, row, WATCH_ALL_TENANTS);
    /* If the text has an unknown scope, of a later release, that scope and all scopes after it in
     * the text are ignored. */
    token_scopes_parse(&t->scopes, rows_text(rows, row, WATCH_SCOPES));
    for (int i = 0; i < count && !t->all_tenants; i++) {
        slice tenant = rows_text(rows, row + i, WATCH_TENANT);
        tenants[t->tenant_count++] = (slice){arena_copy(&list->memory, tenant), tenant.len};
    }
    t->tenants = tenants;
    size_t at = slot_of(list, t->hash);
    while (list->slots[at] != NULL)
        at = (at + 1) & (list->capacity - 1);
    list->slots[at] = t;
}

static void list_release(token_list *list)
{
    if (list == NULL || atomic_fetch_sub(&list->holders, 1) > 1)
        return;
    arena_reset(&list->memory);
    free(list);
}

token_list *token_list_new(const store_rows *rows, int64_t asked_ms)
{
    token_list *list = calloc(1, sizeof(*list));
    if (list == NULL)
        return NULL;
    atomic_init(&list->holders, 1);
    list->capacity = 16;
    while (list->capacity < 2 * (size_t)rows_count(rows))
        list->capacity *= 2;
    list->slots = arena_zeros(&list->memory, list->capacity, sizeof(token *));
    for (int row = 0; list->slots != NULL && row < rows_count(rows);) {
        int count = rows_of_token(rows, row);
        if (!rows_null(rows, row, WATCH_ID))
            add_token(list, rows, row, count, asked_ms);
        row += count;
    }
    if (list->memory.failed) {
        list_release(list);
        return NULL;
    }
    return list;
}

/* --- asking --- */

const token *token_list_find(const token_list *list, slice secret)
{
    unsigned char hash[TOKEN_HASH_SIZE];
    if (gnutls_hash_fast(GNUTLS_DIG_SHA256, secret.ptr, secret.len, hash) != 0)
        return NULL;
    for (size_t at = slot_of(list, hash);; at = (at + 1) & (list->capacity - 1)) {
        const token *t = list->slots[at];
        if (t == NULL || memcmp(t->hash, hash, sizeof(hash)) == 0)
            return t;
    }
}

const token *token_list_find_id(const token_list *list, int64_t id)
{
    for (size_t at = 0; at < list->capacity; at++)
        if (list->slots[at] != NULL && list->slots[at]->id == id)
            return list->slots[at];
    return NULL;
}

bool token_is_for(const token *t, slice tenant)
{
    for (size_t i = 0; i < t->tenant_count; i++)
        if (slice_equal(t->tenants[i], tenant))
            return true;
    return t->all_tenants;
}

/* --- the store --- */

void token_store_free(token_store *all)
{
    list_release(all->current);
    pthread_mutex_destroy(&all->lock);
}

void token_store_publish(token_store *all, token_list *list)
{
    pthread_mutex_lock(&all->lock);
    token_list *old = all->current;
    all->current = list;
    atomic_fetch_add(&all->changes, 1);
    pthread_mutex_unlock(&all->lock);
    list_release(old);
}

const token_list *token_store_current(token_store *all, token_reader *reader)
{
    if (atomic_load(&all->changes) == reader->changes)
        return reader->held;
    token_list *old = reader->held;
    pthread_mutex_lock(&all->lock);
    reader->held = all->current;
    reader->changes = atomic_load(&all->changes);
    atomic_fetch_add(&reader->held->holders, 1);
    pthread_mutex_unlock(&all->lock);
    list_release(old);
    return reader->held;
}

void token_reader_close(token_reader *reader)
{
    list_release(reader->held);
    *reader = (token_reader){.held = NULL};
}
