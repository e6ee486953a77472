/*
 * card_read.h: the statements that read cards, by id or as lists: builds their parameters and reads
 * their rows.
 */
#ifndef STORE_CARD_READ_H
#define STORE_CARD_READ_H

#include "db/params.h"
#include "store/client/list.h"

/* --- cards by id: STATEMENT_cards_get --- */

typedef struct card_key {
    slice tenant;
    slice card_id;
    int64_t etag; /* etag of the card that the caller has cached; 0: none */
    /* not sent to the database: the caller may store the JSON of its cached card in it */
    slice text;
} card_key;

void cards_get_params(params *p, const card_key *keys, size_t count);

/* A card that was read from a row. Its slices point into the rows; a NULL column is {NULL, 0}. */
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

/* Columns of cards_get and cards_list. In boxes_read the columns of a card begin at BOX_COL_CARD.
 */
enum { CARD_ORD = 0, CARD_FIRST = 1 };

/* Columns of a card, counted from its card_id. */
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

/* Column of cards_get with the card's etag, an int8. If it equals the etag of the key, the columns
 * of the card are NULL. */
enum { CARD_ETAG = CARD_FIRST + CARD_COL_COUNT };

/* Reads the card whose card_id is in column `first`. */
void card_row_read(card_row *out, const store_rows *rows, int row, int first);

/* --- lists --- */

typedef struct card_match {
    slice key;
    slice value;
} card_match;

/* Parameters of STATEMENT_cards_list. A filter with ptr NULL matches any card. */
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
    int64_t limit; /* maximum number of cards of the page; the statement may return one row more */
} card_list;

void cards_list_params(params *p, const card_list *list);

/* A page of cards_list: its cards are the first `count` rows. */
typedef struct card_page {
    int count;
    list_cursor next; /* next.given: there is a next page; next.id points into the rows */
} card_page;

void card_page_read(card_page *out, const store_rows *rows, int64_t limit);

/* STATEMENT_card_revisions. */
void card_revisions_params(params *p, const history *h);

/* Columns of card_revisions. If the card exists, but no revision matches, there is one row, whose
 * number is NULL. */
enum { REVISION_COL_NUMBER, REVISION_COL_AT, REVISION_COL_CARD };

#endif
