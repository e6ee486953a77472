/*
 * list.h: pages of cards, boxes and revisions as plain data in and out: filters as parameters, and
 * the cursor that says where the next page begins. The SDK and the server list by it. Knows no
 * connection.
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

/* A place in a list that goes by time and then by id. */
typedef struct list_cursor {
    bool given;
    int64_t micros;
    slice id;
} list_cursor;

/* What STATEMENT_cards_list takes. A slice with ptr NULL: any. */
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
    int64_t limit; /* one more is asked for: it tells that there is a next page */
} card_list;

void cards_list_params(params *p, const card_list *list);

/* The page that rows of cards_list are: the first `count`, and where the next one begins. */
typedef struct card_page {
    int count;
    list_cursor next; /* not given: this is the last one. The id is borrowed from the rows */
} card_page;

void card_page_read(card_page *out, const store_rows *rows, int64_t limit);

/* What STATEMENT_boxes_list and, with a card id, STATEMENT_boxes_with_card take. The cursor's id is
 * a UUID as text. */
typedef struct box_list {
    slice tenant;
    slice card_id;
    list_cursor from;
    int64_t limit; /* as in card_list */
} box_list;

void boxes_list_params(params *p, const box_list *list);
void boxes_with_card_params(params *p, const box_list *list);

/* Columns of both; before them what says whether the row is one of the page. */
enum {
    LIST_COL_BOX = 1,
    LIST_COL_VERSION,
    LIST_COL_LENGTH,
    LIST_COL_PARENTS,
    LIST_COL_CREATED,
    LIST_COL_UPDATED
};

/* How many of their rows are the page, the first ones, and the text of the cursor of the next page.
 * That is NULL where there is none, and where memory ran out, which the arena remembers. */
typedef struct box_page {
    int count;
    const char *next;
} box_page;

void box_page_read(box_page *out, const store_rows *rows, int64_t limit, arena *memory);

/* What STATEMENT_card_revisions and STATEMENT_box_log take: a history, newest first. */
typedef struct history {
    slice tenant;
    slice card_id;  /* of the card ... */
    uuid16 box;     /* ... or of the box */
    int64_t before; /* only what is below this number */
    int64_t limit;  /* as in card_list */
    /* Of a box: also the ids of changes that added at most so many; negative: none. */
    int64_t ids_max;
} history;

void card_revisions_params(params *p, const history *h);
void box_log_params(params *p, const history *h);

/* Columns of card_revisions; the number is NULL where there is nothing. */
enum { REVISION_COL_NUMBER, REVISION_COL_AT, REVISION_COL_CARD };

/* Columns of box_log; the version is NULL where there is nothing. */
enum {
    LOG_COL_VERSION,
    LOG_COL_OP,
    LOG_COL_LENGTH,
    LOG_COL_ADDED,
    LOG_COL_KEY,
    LOG_COL_AT,
    LOG_COL_IDS
};

/* A cursor as text: the time in microseconds and the id in hexadecimal. NULL: out of memory. */
const char *list_cursor_text(arena *memory, int64_t micros, slice id);

/* Reads a cursor that list_cursor_text made; the id is given memory in the arena. False: it is
 * none, or out of memory, which the arena remembers. */
bool list_cursor_read(list_cursor *out, slice text, arena *memory);

/* The same for a list of boxes, whose ids are UUIDs. */
bool list_cursor_read_box(list_cursor *out, slice text, arena *memory);

/* Reads a cursor that is a number above 0. */
bool list_number_read(int64_t *out, slice text);

#endif
