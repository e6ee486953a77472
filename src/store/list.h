/*
 * list.h: the statements that list cards, boxes, revisions and changes: builds their parameters,
 * reads their pages, and converts cursors. The SDK and the server share it. Uses no connection.
 */
#ifndef STORE_LIST_H
#define STORE_LIST_H

#include "base/arena.h"
#include "db/params.h"
#include "db/rows.h"

typedef struct card_match {
    slice key;
    slice value;
} card_match;

/* A position in a list that is ordered by time and then by id. */
typedef struct list_cursor {
    bool given;
    int64_t micros;
    slice id;
} list_cursor;

/* Parameters of STATEMENT_cards_list. A slice with ptr NULL: any. */
typedef struct card_list {
    slice tenant;
    slice step_id, type, trace_id, agent_turn_id, role;
    const slice *call_ids;
    size_t call_count; /* 0: any card */
    const card_match *matches;
    size_t match_count;
    bool has_after, has_before;
    int64_t after_micros, before_micros;
    list_cursor from;
    int64_t limit; /* the statement returns one more row if there is a next page */
} card_list;

void cards_list_params(params *p, const card_list *list);

/* A page of cards_list: its cards are the first `count` rows. */
typedef struct card_page {
    int count;
    list_cursor next; /* given: there is a next page. Its id points into the rows */
} card_page;

void card_page_read(card_page *out, const store_rows *rows, int64_t limit);

/* Parameters of STATEMENT_boxes_list and, with a card id, of STATEMENT_boxes_with_card. The
 * cursor's id is a UUID as text. */
typedef struct box_list {
    slice tenant;
    slice card_id;
    list_cursor from;
    int64_t limit; /* as in card_list */
} box_list;

void boxes_list_params(params *p, const box_list *list);
void boxes_with_card_params(params *p, const box_list *list);

/* Columns of both. Column 0 has the bits that box_page_read evaluates. */
enum {
    LIST_COL_BOX = 1,
    LIST_COL_VERSION,
    LIST_COL_LENGTH,
    LIST_COL_PARENTS,
    LIST_COL_CREATED,
    LIST_COL_UPDATED
};

/* A page of boxes: the first `count` rows, and the cursor of the next page. The cursor is NULL if
 * there is no next page, or if memory ran out: then the arena has failed. */
typedef struct box_page {
    int count;
    const char *next;
} box_page;

void box_page_read(box_page *out, const store_rows *rows, int64_t limit, arena *memory);

/* Parameters of STATEMENT_card_revisions and STATEMENT_box_log. The newest rows come first. */
typedef struct history {
    slice tenant;
    slice card_id;   /* card_revisions: the card */
    uuid16 box;      /* box_log: the box */
    int64_t before;  /* only revisions or versions below this number */
    int64_t limit;   /* as in card_list */
    int64_t ids_max; /* box_log: a change that added at most this number of ids is returned with
                        them; negative: no ids are returned */
} history;

void card_revisions_params(params *p, const history *h);
void box_log_params(params *p, const history *h);

/* Columns of card_revisions. The number is NULL if the card exists without such revisions. */
enum { REVISION_COL_NUMBER, REVISION_COL_AT, REVISION_COL_CARD };

/* Columns of box_log. The version is NULL if the box exists without such changes. */
enum {
    LOG_COL_VERSION,
    LOG_COL_OP,
    LOG_COL_LENGTH,
    LOG_COL_ADDED,
    LOG_COL_KEY,
    LOG_COL_AT,
    LOG_COL_IDS
};

/* Returns a cursor as text: the time in microseconds and the id in hexadecimal. NULL: out of
 * memory. */
const char *list_cursor_text(arena *memory, int64_t micros, slice id);

/* Reads the text of list_cursor_text; the id is allocated in the arena. Returns false if the text
 * is malformed, or if the arena has failed. */
bool list_cursor_read(list_cursor *out, slice text, arena *memory);

/* The same for a list of boxes, whose ids are UUIDs. */
bool list_cursor_read_box(list_cursor *out, slice text, arena *memory);

/* Reads a cursor that is a number above 0. */
bool list_number_read(int64_t *out, slice text);

#endif
