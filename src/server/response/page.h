/*
 * page.h: what the endpoints that list have in common: limit and cursor of the query, and the page
 * as JSON with the cursor of the next one.
 */
#ifndef SERVER_PAGE_H
#define SERVER_PAGE_H

#include "server/api/handlers.h"
#include "store/list.h"

/* The two fields that every list has. */
#define PAGE_LIMIT_FIELD                                                                           \
    .name = "limit", .kind = FIELD_LIMIT, .least = LIMIT_LEAST, .most = LIMIT_MOST
#define PAGE_CURSOR_FIELD .name = "cursor", .kind = FIELD_TEXT, .most = 4096

int64_t page_limit(const field_value *limit);

/* Reads a cursor by one of list.h's functions. False: answered. */
bool page_cursor(request *r, list_cursor *out, const field_value *cursor,
                 bool (*read)(list_cursor *out, slice text, arena *memory));

/* Reads a query of limit and cursor and nothing else. False: answered. */
bool page_read(request *r, int64_t *limit, list_cursor *from,
               bool (*read)(list_cursor *out, slice text, arena *memory));

/* Reads a cursor that is a number above 0; one that is not given leaves it. False: answered. */
bool page_number(request *r, int64_t *out, const field_value *cursor);

/* Answers that the cursor is invalid, or that memory is exhausted. Returns false. */
bool page_bad_cursor(request *r);

/* A query of limit and cursor, in the request's arena, with the tenant filled in. NULL: answered.
 */
history *page_history(request *r);
box_list *page_of_boxes(request *r);

/* True if all rows fit the response budget. Otherwise the request is answered. */
bool page_check_budget(request *r, const store_rows *rows);

/* Answers a page of boxes, which the request's ticket read with box_list. */
void page_render_boxes(request *r, const batch_rows *found);

#endif
