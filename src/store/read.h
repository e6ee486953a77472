/*
 * read.h: the statements that read cards by id and boxes: builds their parameters and reads their
 * rows. The SDK runs one for each call; the server batches many requests.
 */
#ifndef STORE_READ_H
#define STORE_READ_H

#include "cardbox/status.h"
#include "db/params.h"
#include "db/rows.h"

/* --- cards by id: STATEMENT_cards_get --- */

typedef struct card_key {
    slice tenant;
    slice card_id;
    int64_t etag; /* etag of the card that the caller has cached; 0: none */
    slice text;   /* the cached card, for the caller's own use */
} card_key;

void cards_get_params(params *p, const card_key *keys, size_t count);

/* The card of a row. Slices point into the rows; a NULL column is {NULL, 0}. */
typedef struct card_row {
    slice card_id;
    slice content; /* exactly as it was written */
    slice tool_calls;
    slice tool_call_id;
    slice metadata;
    bool has_ttl;
    int32_t ttl_seconds;
    bool has_expiry;
    int64_t expires_micros;
    int64_t created_micros;
    bool sealed;
} card_row;

/* Columns of cards_get, cards_list and, from BOX_COL_CARD on, of boxes_read. */
enum { CARD_ORD = 0, CARD_FIRST = 1 };

/* Columns of a card, from its card_id on. */
enum card_column {
    CARD_COL_ID,
    CARD_COL_CONTENT,
    CARD_COL_TOOL_CALLS,
    CARD_COL_TOOL_CALL_ID,
    CARD_COL_TTL,
    CARD_COL_EXPIRES,
    CARD_COL_METADATA,
    CARD_COL_CREATED,
    CARD_COL_SEALED,
    CARD_COL_COUNT
};

/* Column of cards_get: an int8. If it is the key's etag, the columns of the card are NULL. */
enum { CARD_ETAG = CARD_FIRST + CARD_COL_COUNT };

/* Reads the card whose card_id is in column `first`. */
void card_row_read(card_row *out, const store_rows *rows, int row, int first);

/* --- boxes: STATEMENT_boxes_read --- */

enum { BOX_WANT_IDS = 1, BOX_WANT_CARDS = 2, BOX_WANT_ALL_IDS = 4 };

typedef struct box_read {
    slice tenant;
    uuid16 box_id;
    int want;
    int64_t tail;                  /* the last n ids; negative: `skip` and `most` apply */
    int64_t skip;                  /* the number of ids to skip */
    int64_t most;                  /* limit for the ids; negative: to the end */
    int64_t at_version, at_length; /* negative: the current version */
    bool at_time;                  /* the version at at_micros */
    int64_t at_micros;
} box_read;

#define BOX_READ_INIT                                                                              \
    {                                                                                              \
        .want = BOX_WANT_IDS, .tail = -1, .most = -1, .at_version = -1, .at_length = -1            \
    }

void boxes_read_params(params *p, const box_read *reads, size_t count);

/* Kinds of rows of boxes_read, in the column BOX_COL_KIND. The rows come in any order. */
enum { BOX_HEAD = 0, BOX_IDS = 1, BOX_CARD = 2 };

/* Limit for the ids of a run: the length of a segment in the database. */
enum { BOX_RUN_MAX = 64 };

enum box_column {
    BOX_COL_ORD = 0, /* int8: index of the request + 1 */
    BOX_COL_KIND,    /* int4 */
    BOX_COL_POS,     /* int8: BOX_IDS: position of the first id; BOX_CARD: of the card */
    BOX_COL_LENGTH,  /* int8, and the next two only in BOX_HEAD */
    BOX_COL_FIRST,   /* int8: the first position of the requested range, clamped */
    BOX_COL_BEFORE,  /* int8: the position after the range, clamped */
    BOX_COL_CARD,    /* BOX_CARD: the columns of card_row_read; this one is the id at pos */
    BOX_COL_CONTENT, /* NULL: the card is missing, and only its id is set */
    BOX_COLUMNS = BOX_COL_CARD + CARD_COL_COUNT,
    /* BOX_HEAD and BOX_IDS reuse columns: */
    BOX_COL_VERSION = BOX_COL_POS,                     /* int8: BOX_HEAD */
    BOX_COL_UPDATED = BOX_COL_CARD + CARD_COL_EXPIRES, /* timestamptz: BOX_HEAD */
    BOX_COL_IDS = BOX_COL_CARD + CARD_COL_METADATA,    /* jsonb: its parent_ids; BOX_IDS: the run */
    BOX_COL_CREATED = BOX_COL_CARD + CARD_COL_CREATED  /* timestamptz: BOX_HEAD */
};

/* A row of the kind BOX_HEAD. */
typedef struct box_head {
    slice parent_ids; /* JSON array */
    int64_t version, length, first, before;
    int64_t created_micros, updated_micros;
} box_head;

/* Returns the JSON array of ids of a run; an empty array if the column is not an array. */
slice box_run_ids(const store_rows *rows, int row);

/* Returns the position of a run or a card, clamped so that adding BOX_RUN_MAX can't overflow. */
int64_t box_position(const store_rows *rows, int row);

void box_head_read(box_head *out, const store_rows *rows, int row);

/* Returns CARDBOX_NOT_FOUND for a version, length or time that the box never had. The message
 * contains the version, length and creation time of `now`; created_micros is 0 if it is not known.
 */
cardbox_status box_no_such_version(const box_head *now, cardbox_error *err);

#endif
