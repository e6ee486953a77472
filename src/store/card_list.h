/*
 * card_list.h: a page of cards as plain data in and out: its filter as parameters, and the cursor
 * that says where the next page begins. The SDK and the server list by it. Knows no connection.
 */
#ifndef STORE_CARD_LIST_H
#define STORE_CARD_LIST_H

#include "base/arena.h"
#include "cardbox/status.h"
#include "store/pg/params.h"

typedef struct card_match {
    view key;
    view value;
} card_match;

/* A place in a list that goes by time and then by id. */
typedef struct list_cursor {
    bool given;
    int64_t micros;
    view id;
} list_cursor;

/* What STATEMENT_cards_list takes. A view with ptr NULL: any. */
typedef struct card_list {
    view tenant;
    view step_id, type, trace_id, agent_turn_id, role;
    const view *call_ids;
    size_t call_count; /* 0: any card */
    const card_match *matches;
    size_t match_count;
    bool has_after, has_before;
    int64_t after_micros, before_micros;
    list_cursor from;
    int64_t limit; /* one more is asked for: it tells that there is a next page */
} card_list;

void cards_list_params(params *p, const card_list *list);

/* A cursor as text: the time in microseconds and the id in hexadecimal. NULL: out of memory. */
const char *list_cursor_text(arena *memory, int64_t micros, view id);

/* Reads a cursor that list_cursor_text made; the id gets memory in the arena. */
cardbox_status list_cursor_read(list_cursor *out, view text, arena *memory, cardbox_error *err);

/* The two parameters of a cursor: time and id, as text or, for boxes, as uuid. */
void list_cursor_params(params *p, const list_cursor *from);

#endif
