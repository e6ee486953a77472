/*
 * session_pages.h: lists of sessions and of entries, paths and differences, as the JSON that
 * services see. The server and the bus show the same. Knows no requests.
 */
#ifndef STORE_SESSION_PAGES_H
#define STORE_SESSION_PAGES_H

#include "db/statement.h"
#include "store/session/sessions.h"

/* Bytes of a line that a list may give: people look at these. */
enum { SESSION_LINES_MOST = 1024 * 1024 };

/* {"sessions":[...],"next_cursor":...} of up to `limit` rows. Memory that runs out is remembered by
 * the arena, also below. */
void session_list_json(buf *out, const store_rows *rows, int64_t limit, slice tenant,
                       arena *memory);

/* A list of entries: its statement, and what its cursor is. */
typedef struct session_pages {
    statement_id statement;
    void (*params)(params *p, const session_page *page);
    bool by_extra;   /* the cursor is the last row's `extra`, else its line */
    bool by_id;      /* or its id */
    bool of_entry;   /* it is the list of an entry */
    const char *sum; /* the member that shows `extra`; NULL: none */
} session_pages;

extern const session_pages SESSION_TREE, SESSION_CHILDREN, SESSION_LEAVES, SESSION_BRANCH_POINTS,
    SESSION_LABELS;

/* Reads a cursor of such a list. False: it is none, or the arena failed. */
bool session_pages_cursor(session_page *page, const session_pages *of, slice cursor, arena *memory);

/* The cursor of the page behind the one that ends with this row. NULL: out of memory. */
const char *session_pages_next(const session_pages *of, const session_node_row *last,
                               arena *memory);

/* {"entries":[...],"next_cursor":...}. The page asked for one row more than is shown. */
void session_pages_json(buf *out, const store_rows *rows, const session_page *page,
                        const session_pages *of, arena *memory);

/* What is shown of entries, as in session_page; previews need memory. */
typedef struct session_shown {
    int64_t text_max, preview_max;
    arena *memory;
} session_shown;

/* {"entry_id","length","path","next_cursor"}. */
void session_path_json(buf *out, const store_rows *rows, const session_path *path,
                       const session_path_read *read, const session_shown *shown);

/* {"common","a","b","complete"}. The statement asked for one row of a side more than `limit`. */
void session_diff_json(buf *out, const store_rows *rows, int64_t limit, const session_shown *shown);

#endif
