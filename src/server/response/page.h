/*
 * page.h: limit and cursor in the query of a list.
 */
#ifndef SERVER_PAGE_H
#define SERVER_PAGE_H

#include "server/api/handlers.h"
#include "store/client/list.h"

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

/* Answers that the cursor is invalid, or that memory is exhausted. Returns false. */
bool page_bad_cursor(request *r);

/* The plan of an ability that reads a history, with the limit and cursor of the query. NULL:
 * answered. */
history *page_history(request *r, const char *ability_id);

#endif
