/*
 * page.h: reads the parameters limit and cursor of a list.
 */
#ifndef SERVER_PAGE_H
#define SERVER_PAGE_H

#include "server/api/handlers.h"
#include "store/client/list.h"

/* The fields of the parameters limit and cursor of a list. */
#define PAGE_LIMIT_FIELD                                                                           \
    .name = "limit", .kind = FIELD_LIMIT, .least = LIMIT_LEAST, .most = LIMIT_MOST
#define PAGE_CURSOR_FIELD .name = "cursor", .kind = FIELD_TEXT, .most = 4096

int64_t page_limit(const field_value *limit);

/* Reads a cursor with `read`, a function of list.h. False: the request was answered with an error.
 */
bool page_cursor(request *r, list_cursor *out, const field_value *cursor,
                 bool (*read)(list_cursor *out, slice text, arena *memory));

/* Reads a query that may have only limit and cursor. False: the request was answered with an error.
 */
bool page_read(request *r, int64_t *limit, list_cursor *from,
               bool (*read)(list_cursor *out, slice text, arena *memory));

/* As page_read; the query may also have `preview`. */
bool page_read_with_preview(request *r, int64_t *limit, list_cursor *from, bool *preview,
                            bool (*read)(list_cursor *out, slice text, arena *memory));

/* Answers that the cursor is invalid, or that memory ran out. Returns false. */
bool page_bad_cursor(request *r);

/* Returns the plan of an ability that reads a history, with the limit and cursor of the query.
 * NULL: the request was answered with an error. */
history *page_history(request *r, const char *ability_id);

#endif
