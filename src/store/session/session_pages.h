/*
 * session_pages.h: lists of sessions and of entries, paths and differences as JSON.
 */
#ifndef STORE_SESSION_PAGES_H
#define STORE_SESSION_PAGES_H

#include "db/statement.h"
#include "store/session/sessions.h"

/* Greatest limit that a client can set for the bytes of the JSON of each entry in a list. */
enum { SESSION_LIST_TEXT_MAX = 1024 * 1024 };

/* Appends {"sessions":[...],"next_cursor":...} of up to `limit` rows. With `preview`, each session
 * has the members `first` and `last`: previews or null. If memory runs out, `memory` and `out` have
 * failed. */
void session_list_json(buf *out, const store_rows *rows, int64_t limit, bool preview, slice tenant,
                       arena *memory);

/* A kind of list of entries: its statement, and the column of the last row that its cursor
 * contains: the line or the entry id. */
typedef struct session_pages {
    statement_id statement;
    bool cursor_is_id;        /* the cursor is the last row's entry id */
    bool has_entry;           /* the list has the parameter session_page.entry */
    const char *extra_member; /* name of the JSON member for `extra`; NULL: none */
} session_pages;

extern const session_pages SESSION_TREE, SESSION_CHILDREN, SESSION_LEAVES, SESSION_BRANCH_POINTS,
    SESSION_LABELS;

void session_pages_params(params *p, const session_pages *of, const session_page *page);

/* Reads a cursor of a list of the kind `of`. Returns false if the cursor is malformed or the arena
 * failed. */
bool session_pages_cursor(session_page *page, const session_pages *of, slice cursor, arena *memory);

/* Returns the cursor of the page after the one that ends with row `last`. NULL: out of memory. */
const char *session_pages_next(const session_pages *of, const session_node_row *last,
                               arena *memory);

/* Appends {"entries":[...],"next_cursor":...}. The statement was run with page->limit, which is one
 * more than the maximum number of entries to show. */
void session_pages_json(buf *out, const store_rows *rows, const session_page *page,
                        const session_pages *of, arena *memory);

/* The size limits of texts and previews, as in session_page. `memory` is for previews. */
typedef struct session_text_limits {
    int64_t text_max, preview_max;
    arena *memory;
} session_text_limits;

/* Appends {"entry_id","length","path","next_cursor"}. */
void session_path_json(buf *out, const store_rows *rows, const session_path *path,
                       const session_path_read *read, const session_text_limits *limits);

/* Appends {"common","a","b","complete"}. The rows are of session_diff, which was run with the limit
 * `limit` + 1. */
void session_diff_json(buf *out, const store_rows *rows, int64_t limit,
                       const session_text_limits *limits);

#endif
