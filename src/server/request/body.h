/*
 * body.h: the bodies of the batch reads, {"card_ids":[...]} and {"box_ids":[...],"hydrate":bool,
 * "limit":int}: checked strictly, and every fault is reported. Knows no HTTP and no database.
 */
#ifndef SERVER_BODY_H
#define SERVER_BODY_H

#include "server/request/fields.h"
#include "server/request/idset.h"
#include "server/request/validation.h"

/* Ids of one batch, and the bounds of a limit. */
#define BODY_IDS_MAX  100
#define LIMIT_LEAST   1
#define LIMIT_MOST    500
#define LIMIT_DEFAULT 200

/* One id of a list, at its first position. */
typedef struct body_id {
    slice token;  /* as the client sent it, quotes and all */
    slice text;   /* decoded; ptr NULL: it can't be an id */
    bool is_uuid; /* and then text is in canonical form */
} body_id;

typedef struct body_ids {
    body_id *ids;
    size_t count;
    bool hydrate;
    int64_t limit; /* clamped */
} body_ids;

/* The form of a batch: the name of its list; true if the ids are UUIDs, which have several
 * spellings; true if hydrate and limit are read. */
typedef struct body_rules {
    const char *ids;
    bool boxes;
} body_rules;

/* Reads the body of `s`, which is given the faults. */
void body_read(body_ids *out, const body_rules *wanted, validation *s);

#endif
