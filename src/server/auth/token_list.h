/*
 * token_list.h: an immutable list of the tokens that were not expired and not revoked when the list
 * was read. When tokens change, a new list replaces the old list. Loops lock only to get a new
 * list.
 */
#ifndef SERVER_TOKEN_LIST_H
#define SERVER_TOKEN_LIST_H

#include <pthread.h>
#include <stdatomic.h>
#include "base/slice.h"
#include "store/admin/tokens.h"

typedef struct token {
    unsigned char hash[TOKEN_HASH_SIZE];
    int64_t id;
    unsigned scopes;    /* a sum of values of token_scope */
    int64_t expires_ms; /* a time of clock_ms(); INT64_MAX: never */
    bool all_tenants;
    const slice *tenants;
    size_t tenant_count;
} token;

typedef struct token_list token_list;

/* Builds a list from the rows of tokens_watch(), which was called at `asked_ms`. NULL: out of
 * memory. */
token_list *token_list_new(const store_rows *rows, int64_t asked_ms);

/* Returns the token with this secret, which may have expired; NULL: none. */
const token *token_list_find(const token_list *list, slice secret);

/* Returns the token with this id, by a search through the whole list; NULL: none. */
const token *token_list_find_id(const token_list *list, int64_t id);

bool token_is_for(const token *t, slice tenant);

/* The current list of tokens. The auth watcher replaces the list, and all loops read it. */
typedef struct token_store {
    pthread_mutex_t lock; /* held while `current` is read or changed */
    token_list *current;
    atomic_uint changes;
    atomic_llong confirmed_ms; /* when the database last confirmed that the list is current */
} token_store;

#define TOKEN_STORE_INIT ((token_store){.lock = PTHREAD_MUTEX_INITIALIZER})
void token_store_free(token_store *all); /* called when no token_reader has a list any more */

/* Makes `list` the current list. The caller's reference becomes the store's. */
void token_store_publish(token_store *all, token_list *list);

/* The reference of one thread to a list. A token_reader begins as zeros. */
typedef struct token_reader {
    token_list *held;
    unsigned changes;
} token_reader;

/* Returns the current list, valid until the next call with this reader; NULL: no list was read yet.
 */
const token_list *token_store_current(token_store *all, token_reader *reader);
void token_reader_close(token_reader *reader);

#endif
