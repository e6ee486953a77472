/*
 * search_find.h: the search of a project: the parameters of STATEMENT_search_find, its rows, and
 * the JSON of a page of hits.
 */
#ifndef STORE_SEARCH_FIND_H
#define STORE_SEARCH_FIND_H

#include "db/params.h"
#include "model/search/search.h"
#include "store/client/list.h"

/* The kinds of documents; NULL ends them. */
extern const char *const SEARCH_KINDS[];

/* A search. A filter with ptr NULL matches any document. */
typedef struct search_find {
    slice tenant;
    const search_query *query;
    slice kind; /* one of SEARCH_KINDS */
    slice type, role, session_id, task_id;
    bool has_after, has_before;
    int64_t after_micros, before_micros; /* limits of created_at, both exclusive */
    list_cursor from;                    /* read with search_cursor_read */
    int64_t limit; /* maximum number of hits of the page; the statement may return one row more */
} search_find;

/* Appends the parameters. `memory` is for the terms. If it fails, `p` has failed too. */
void search_find_params(params *p, const search_find *find, arena *memory);

/* Reads a cursor of a page of hits. Returns false if the text is malformed, or if the arena has
 * failed. */
bool search_cursor_read(list_cursor *out, slice text, arena *memory);

/* A document that was read from a row. Its slices point into the rows; a NULL column is {NULL, 0}.
 * `type` and `role` are texts, not JSON. */
typedef struct search_row {
    slice kind; /* "card", "entry" or "message" */
    slice id;
    slice session_id; /* the session of an entry */
    slice task_id;    /* the task of a message */
    slice type, role;
    int64_t created_micros;
    slice content;    /* the first SEARCH_TEXT_CHARS characters of the JSON */
    slice tool_calls; /* likewise */
} search_row;

/* Adds a hit to `out`. */
typedef void search_add_hit(void *out, const search_row *row, const search_snippet *snippet);

/* Calls `add` for each of the first `count` rows whose text matches the query. The snippets are
 * allocated in `memory`. Ends early if `memory` has failed. */
void search_rows_match(const store_rows *rows, int count, const search_query *query,
                       search_add_hit *add, void *out, arena *memory);

/* A page: the first `count` rows, and the cursor of the next page, allocated in `memory`. The
 * cursor is NULL if there is no next page, or if `memory` has failed. A page ends after `limit`
 * rows or 2 MiB of texts, which limits its memory and time. */
typedef struct search_page {
    int count;
    const char *next;
} search_page;

void search_page_read(search_page *out, const store_rows *rows, int64_t limit, arena *memory);

/* Appends {"hits":[...],"cursor":...} of a page. A hit has the members kind, id, session_id or
 * task_id, type, role, created_at, snippet, offsets. A row whose text does not match the query is
 * left out, so a page may have fewer hits, or none, before the last page. Tokenises the texts of
 * all rows, which needs up to a second: not for an event loop. If memory runs out,
 * `memory` and `out` have failed. */
void search_page_json(buf *out, const store_rows *rows, const search_find *find, arena *memory);

#endif
