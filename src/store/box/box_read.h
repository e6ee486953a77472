/*
 * box_read.h: the statements that read boxes, by id or as lists: builds their parameters and reads
 * their rows.
 */
#ifndef STORE_BOX_READ_H
#define STORE_BOX_READ_H

#include "store/card/card_read.h"

/* --- boxes: STATEMENT_boxes_read --- */

enum { BOX_WANT_IDS = 1, BOX_WANT_CARDS = 2, BOX_WANT_ALL_IDS = 4 };

typedef struct box_read {
    slice tenant;
    uuid16 box_id;
    int want;
    int64_t tail; /* number of ids to read from the end of the list; negative: not set */
    int64_t skip; /* number of ids to skip at the start; ignored if `tail` is set */
    int64_t most; /* maximum number of ids; negative: to the end; ignored if `tail` is set */
    int64_t at_version, at_length; /* read this version, or the first at_length ids of the current
                                      one; negative: not set */
    bool at_time;                  /* read the version that the box had at at_micros */
    int64_t at_micros;
} box_read;

#define BOX_READ_INIT                                                                              \
    {                                                                                              \
        .want = BOX_WANT_IDS, .tail = -1, .most = -1, .at_version = -1, .at_length = -1            \
    }

void boxes_read_params(params *p, const box_read *reads, size_t count);

/* Kinds of rows of boxes_read, in the column BOX_COL_KIND. The rows come in any order. */
enum { BOX_HEAD = 0, BOX_IDS = 1, BOX_CARD = 2 };

/* Maximum number of ids of a run: the length of a segment in the database. */
enum { BOX_RUN_MAX = 64 };

enum box_column {
    BOX_COL_ORD = 0, /* int8: index of the read + 1 */
    BOX_COL_KIND,    /* int4 */
    BOX_COL_POS,     /* int8: BOX_IDS: position of the first id; BOX_CARD: position of the card */
    BOX_COL_LENGTH,  /* int8: BOX_HEAD: the length of the box */
    BOX_COL_FIRST,   /* int8: BOX_HEAD: first position of the requested range, at most the length */
    BOX_COL_BEFORE, /* int8: BOX_HEAD: the position after the requested range, at most the length */
    BOX_COL_CARD,   /* BOX_CARD: the columns of card_row_read begin here, with the id at pos */
    BOX_COL_CONTENT, /* BOX_CARD: NULL if the card is missing; then only the id is set */
    BOX_COLUMNS = BOX_COL_CARD + CARD_COL_COUNT,
    /* in rows BOX_HEAD and BOX_IDS these columns have other contents than in BOX_CARD: */
    BOX_COL_VERSION = BOX_COL_POS,                     /* int8: BOX_HEAD */
    BOX_COL_UPDATED = BOX_COL_CARD + CARD_COL_EXPIRES, /* timestamptz: BOX_HEAD */
    BOX_COL_IDS = BOX_COL_CARD + CARD_COL_METADATA, /* jsonb: BOX_HEAD: parent_ids; BOX_IDS: ids */
    BOX_COL_CREATED = BOX_COL_CARD + CARD_COL_CREATED, /* timestamptz: BOX_HEAD */
    BOX_COL_SEALED = BOX_COL_CARD + CARD_COL_SEALED    /* bool: BOX_HEAD */
};

/* A row of the kind BOX_HEAD. */
typedef struct box_head {
    slice parent_ids; /* JSON array */
    int64_t version, length, first, before;
    int64_t created_micros, updated_micros;
    bool sealed; /* the box is sealed, and was at this version */
} box_head;

/* Returns the JSON array of ids of a run; an empty array if the column is not an array. */
slice box_run_ids(const store_rows *rows, int row);

/* Returns the position of a run or a card, clamped so that adding BOX_RUN_MAX can't overflow. */
int64_t box_position(const store_rows *rows, int row);

void box_head_read(box_head *out, const store_rows *rows, int row);

/* Returns CARDBOX_NOT_FOUND for a version or time that the box never had, or a length over its
 * present one. The message contains the version, length and creation time of `now`; created_micros
 * is 0 if it is not known. */
cardbox_status box_no_such_version(const box_head *now, cardbox_error *err);

/* --- lists --- */

/* Parameters of STATEMENT_boxes_list and, with a card id, of STATEMENT_boxes_with_card. The
 * cursor's id is a UUID as text. */
typedef struct box_list {
    slice tenant;
    slice card_id;
    list_cursor from;
    int64_t limit; /* as in card_list */
    bool preview;  /* each box also has its preview */
} box_list;

void boxes_list_params(params *p, const box_list *list);
void boxes_with_card_params(params *p, const box_list *list);

/* The preview of a row of a list: a JSON object, or {NULL, 0} if the box has no text. */
slice box_list_preview(const store_rows *rows, int row);

/* Reads a row of a list: fills `out`, without a range of ids, and returns the box id. */
uuid16 box_list_read(box_head *out, const store_rows *rows, int row);

/* A page of boxes: the first `count` rows, and the cursor of the next page. The cursor is NULL if
 * there is no next page, or if memory ran out: then the arena has failed. */
typedef struct box_page {
    int count;
    const char *next;
} box_page;

void box_page_read(box_page *out, const store_rows *rows, int64_t limit, arena *memory);

/* STATEMENT_box_log. */
void box_log_params(params *p, const history *h);

/* Columns of box_log. If the box exists, but no change matches, there is one row, whose version is
 * NULL. */
enum {
    LOG_COL_VERSION,
    LOG_COL_OP,
    LOG_COL_LENGTH,
    LOG_COL_ADDED,
    LOG_COL_KEY,
    LOG_COL_AT,
    LOG_COL_IDS
};

#endif
