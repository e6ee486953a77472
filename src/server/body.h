/*
 * body.h: the bodies of the batch reads, {"card_ids":[...]} and {"box_ids":[...],"hydrate":bool,
 * "limit":int}: checked strictly, every fault reported. Knows no HTTP and no database.
 */
#ifndef SERVER_BODY_H
#define SERVER_BODY_H

#include "base/scan.h"
#include "server/idset.h"

/* Ids of one batch, and the bounds of a limit. */
#define BODY_IDS_MAX  100
#define LIMIT_LEAST   1
#define LIMIT_MOST    500
#define LIMIT_DEFAULT 200

/* One id of a list, at its first place. */
typedef struct body_id {
    view token;   /* as the client sent it, quotes and all */
    view text;    /* decoded; ptr NULL: it says something that no id can */
    bool is_uuid; /* and then text is in canonical form */
} body_id;

typedef struct body_batch {
    body_id *ids;
    size_t count;
    bool hydrate;
    int64_t limit; /* clamped */
} body_batch;

typedef enum body_result {
    BODY_OK,
    BODY_MALFORMED, /* not JSON, or a member twice: `error` says where and what */
    BODY_FAULTS,    /* JSON of the wrong shape: `items` has the faults */
    BODY_TOO_MANY,  /* more than BODY_IDS_MAX different ids */
    BODY_NOMEM
} body_result;

typedef struct body_error {
    size_t position;
    const char *message;
    buf items; /* JSON objects with commas between; buf_free it */
} body_error;

/* What a batch may hold: the name of its list, and whether the ids are UUIDs, of which two
 * spellings are one, and whether hydrate and limit are read. */
typedef struct body_shape {
    const char *ids;
    bool boxes;
} body_shape;

body_result body_read(body_batch *out, view text, const body_shape *shape, arena *memory,
                      body_error *error);

/* Brings a limit into its bounds. */
int64_t limit_clamp(int64_t limit);

#endif
