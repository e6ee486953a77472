/*
 * token_list.h: the valid tokens, as an immutable list. When tokens change it is replaced by a new
 * list. Loops look tokens up without waiting.
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
    unsigned scopes;    /* a sum of token_scope */
    int64_t expires_ms; /* clock_ms(); INT64_MAX: never */
    bool all_tenants;
    const slice *tenants;
    size_t tenant_count;
} token;

typedef struct token_list token_list;

/* Builds a list from the rows of tokens_watch. The statement was sent at `asked_ms`. NULL: out of
 * memory. */
token_list *token_list_new(const store_rows *rows, int64_t asked_ms);

/* The token with this secret, expired or not; NULL: none. */
const token *token_list_find(const token_list *list, slice secret);

/* The token with this id; the list is searched. NULL: none. */
const token *token_list_find_id(const token_list *list, int64_t id);

bool token_is_for(const token *t, slice tenant);

/* The token list that is in use. One thread replaces it. */
typedef struct token_store {
    pthread_mutex_t lock; /* held while `current` is read or changed */
    token_list *current;
    atomic_uint changes;
    atomic_llong confirmed_ms; /* when the database last confirmed the list */
} token_store;

#define TOKEN_STORE_INIT ((token_store){.lock = PTHREAD_MUTEX_INITIALIZER})
void token_store_free(token_store *all); /* no reader may be left */

/* Makes `list` the current one, and owns it from then on. */
void token_store_publish(token_store *all, token_list *list);

/* One thread's reference to a list. Starts as zeros. */
typedef struct token_reader {
    token_list *held;
    unsigned changes;
} token_reader;

/* The newest list, valid until the next call; NULL: there has been none. */
const token_list *token_store_current(token_store *all, token_reader *reader);
void token_reader_close(token_reader *reader);

#endif
