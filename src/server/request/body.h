/*
 * body.h: the bodies of the batch reads, {"card_ids":[...]} and {"box_ids":[...],"hydrate":bool,
 * "limit":int}: values of wrong types are faults, and unknown members are ignored. Knows no HTTP
 * and no database.
 */
#ifndef SERVER_BODY_H
#define SERVER_BODY_H

#include "server/request/fields.h"
#include "server/request/idset.h"
#include "server/request/validation.h"

/* The maximum number of different ids of a batch read, and the bounds and default of `limit`. */
#define BODY_IDS_MAX  100
#define LIMIT_LEAST   1
#define LIMIT_MOST    500
#define LIMIT_DEFAULT 200

/* An id of the list; a repeated id occurs once, at its first position. */
typedef struct body_id {
    slice token;  /* as the client sent it, with its quotes */
    slice text;   /* decoded; ptr NULL: it can't be decoded, and is no id */
    bool is_uuid; /* `text` is a UUID in canonical form */
} body_id;

typedef struct body_ids {
    body_id *ids;
    size_t count;
    bool hydrate;
    int64_t limit; /* LIMIT_LEAST to LIMIT_MOST */
} body_ids;

/* The form of a batch read. `ids`: the name of the list of ids. `boxes`: the ids are UUIDs, in
 * upper or lower case, and the members hydrate and limit are read. */
typedef struct body_rules {
    const char *ids;
    bool boxes;
} body_rules;

/* Reads the body of the validation `s`, and adds its faults to `s`. */
void body_read(body_ids *out, const body_rules *wanted, validation *s);

#endif
