/*
 * list.h: functions for the lists of all resources: positions and their cursors, and the ends of
 * pages. Uses no connection.
 */
#ifndef STORE_LIST_H
#define STORE_LIST_H

#include "base/arena.h"
#include "base/buf.h"
#include "db/rows.h"

/* A position in a list that is ordered by time and then by id, or by id alone. */
typedef struct list_cursor {
    bool given;
    int64_t micros; /* microseconds since 1970 */
    slice id;
} list_cursor;

/* Parameters of STATEMENT_card_revisions and STATEMENT_box_log. The newest rows come first. */
typedef struct history {
    slice tenant;
    slice card_id;   /* card_revisions: the card */
    uuid16 box;      /* box_log: the box */
    int64_t before;  /* only revisions or versions below this number */
    int64_t limit;   /* maximum number of rows of the page; the statement may return one row more */
    int64_t ids_max; /* box_log: a change that added at most this number of ids is returned with
                        them; negative: no ids are returned */
} history;

/* Returns a cursor as text: the time in microseconds and the id in hexadecimal. NULL: out of
 * memory. */
const char *list_cursor_text(arena *memory, int64_t micros, slice id);

/* Reads the text of list_cursor_text; the id is allocated in the arena. Returns false if the text
 * is malformed, or if the arena has failed. */
bool list_cursor_read(list_cursor *out, slice text, arena *memory);

/* Like list_cursor_read, for a list of boxes, whose ids are UUIDs. */
bool list_cursor_read_box(list_cursor *out, slice text, arena *memory);

/* Reads a cursor that is a number above 0. */
bool list_number_read(int64_t *out, slice text);

/* Returns how many rows belong to the page. Column 0 of the last row has flags. FITS: the row
 * matches the filters. ENDS_WALK: the statement stopped at this row, because it had examined the
 * maximum number of rows. `last`: the row after which the next page begins; negative: this is the
 * last page. */
int list_page_count(int *last, const store_rows *rows, int64_t limit);

/* Ends a list and its object with the cursor of the next page; NULL: this is the last page. If
 * `memory`, the arena of the cursor, has failed, marks `out` as failed. */
void list_json_end(buf *out, const char *next, const arena *memory);

/* Like list_json_end, for a cursor that is a number. `more`: there is a next page. */
void list_json_end_at(buf *out, bool more, int64_t next);

#endif
