/*
 * tokens.h: tokens of the HTTP API as the database keeps them: made, listed and revoked by
 * operators, watched by servers. The database has only the SHA-256 of the secret of a token. Not a
 * part of the public API.
 */
#ifndef STORE_TOKENS_H
#define STORE_TOKENS_H

#include "cardbox/client.h"
#include "db/rows.h"

/* A secret is TOKEN_PREFIX and then TOKEN_RANDOM random bytes in hexadecimal, two digits for each
 * byte. */
#define TOKEN_PREFIX    "cbx_"
#define TOKEN_RANDOM    32
#define TOKEN_TEXT_SIZE (sizeof(TOKEN_PREFIX) - 1 + 2 * TOKEN_RANDOM)
#define TOKEN_HASH_SIZE 32
#define TOKEN_NAME_MAX  255

/* Operations that a token allows. No scope includes another one. */
typedef enum token_scope {
    TOKEN_READ = 1,
    TOKEN_WRITE = 2,
    TOKEN_TASKS = 4,
    TOKEN_ADMIN = 8
} token_scope;

/* Parses a list such as "read,write" to a sum of scopes. False: the list is empty or has an unknown
 * scope. */
bool token_scopes_parse(unsigned *out, slice list);

typedef struct token_input {
    const char *name;
    const unsigned char *hash;  /* TOKEN_HASH_SIZE bytes */
    const char *const *tenants; /* NULL: all */
    size_t tenant_count;
    unsigned scopes;
    int64_t lifetime_s; /* seconds until the token expires, used if expires_micros is 0; 0: it never
                           expires */
    int64_t expires_micros; /* microseconds since 1970; 0: lifetime_s decides */
} token_input;

typedef struct token_made {
    int64_t id;
    int64_t expires_micros; /* 0: never */
} token_made;

/* CARDBOX_CONFLICT: a token with this name exists and is not revoked. */
cardbox_status tokens_create(token_made *out, cardbox *db, const token_input *input,
                             cardbox_error *err);

/* Columns of tokens_list, which returns one row for each token, oldest first. */
enum {
    TOKEN_ID,
    TOKEN_NAME,
    TOKEN_TENANTS, /* a JSON array of tenants; NULL: all */
    TOKEN_SCOPES,  /* a JSON array */
    TOKEN_CREATED,
    TOKEN_EXPIRES,
    TOKEN_REVOKED,
    TOKEN_IS_EXPIRED,
    TOKEN_TENANTS_TEXT, /* the tenants as text, separated by commas */
    TOKEN_SCOPES_TEXT
};

cardbox_status tokens_list(store_rows **out, cardbox *db, cardbox_error *err);

/* Revokes a token by its id, if the text is a number, or by its name. *out receives the id.
 * CARDBOX_NOT_FOUND: no token has this id, or no unrevoked token has this name. */
cardbox_status tokens_revoke(int64_t *out, cardbox *db, const char *id_or_name, cardbox_error *err);

/* Columns of tokens_watch: see tokens_changed.sql. */
enum {
    WATCH_VERSION,
    WATCH_EVER,
    WATCH_ID, /* NULL: no token in this row */
    WATCH_HASH,
    WATCH_SCOPES,
    WATCH_MS_LEFT,
    WATCH_ALL_TENANTS,
    WATCH_TENANT,
    WATCH_SEARCH
};

/* Reads the valid tokens, and whether the queue of the search may have rows: the auth watcher asks
 * for both in one statement, so that an idle server rarely wakes. Returns one row without a token
 * if no token is valid, or if the version of the list is still `known`. */
cardbox_status tokens_watch(store_rows **out, cardbox *db, int64_t known, cardbox_error *err);

#endif
