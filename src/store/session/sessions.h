/*
 * sessions.h: the reads of sessions and of their trees as plain data in and out, like read.h: build
 * parameters, take rows. The SDK runs them one at a time, the server joins them. What changes
 * sessions is in session_write.h. Knows no connection.
 */
#ifndef STORE_SESSIONS_H
#define STORE_SESSIONS_H

#include "cardbox/status.h"
#include "store/list.h"
#include "db/rows.h"
#include "model/session/entry.h"

/* Bytes of the lines of one path that are read at once, and of a page of lines. */
#define SESSION_PATH_BYTES_MAX ((int64_t)256 * 1024 * 1024)
#define SESSION_PAGE_BYTES     ((int64_t)2 * 1024 * 1024)

/* --- sessions: STATEMENT_session_get (one row or none), STATEMENT_sessions_list --- */

typedef struct session_row {
    slice session_id;
    int dialect;       /* a session_dialect; -1: not known yet */
    slice header;      /* JSON, pi's; {NULL, 0}: none */
    slice name;        /* a JSON string; {NULL, 0}: none */
    slice forked_from; /* a session's id; {NULL, 0}: none */
    slice head;        /* an entry's id; {NULL, 0}: none, the session is empty */
    int64_t entries, version;
    int64_t created_micros, updated_micros;
} session_row;

void session_get_params(params *p, slice tenant, slice session);

/* Newest first; the cursor as list_cursor_text(created_micros, session_id) gives it. One more than
 * `limit` is asked for. */
void sessions_list_params(params *p, slice tenant, const list_cursor *from, int64_t limit);

void session_row_read(session_row *out, const store_rows *rows, int row);

/* Appends the object that services see: session_id, project_id, dialect ("plain", "pi" or null),
 * name, header, forked_from, head_entry_id, entries, version, created_at, updated_at. */
void session_row_json(buf *out, const session_row *row, slice tenant);

/* STATEMENT_session_counts: one row, or none if there is no such session. */
typedef struct session_counts {
    int64_t entries, roots, leaves, branch_points, max_depth, dangling;
} session_counts;

void session_counts_params(params *p, slice tenant, slice session);
void session_counts_read(session_counts *out, const store_rows *rows);

/* --- entries --- */

/* A row of any of the statements below. */
typedef struct session_node_row {
    int64_t line;
    slice entry_id;
    slice parent_id; /* {NULL, 0}: a root */
    int depth;       /* entries above it */
    slice type;      /* "message", ..., or "other" */
    slice role;      /* "user", "assistant", "tool", "system"; {NULL, 0}: none */
    slice missing; /* of an extra root: the parent that its line names; empty: parentId is no id */
    int64_t size;  /* bytes of its text */
    slice label;   /* a JSON string, the last label that it got; {NULL, 0}: none */
    slice text;    /* its JSON; {NULL, 0}: not requested, or longer than requested */
    int64_t extra; /* as each statement says */
} session_node_row;

void session_node_read(session_node_row *out, const store_rows *rows, int row);

/* Appends the object that services see: entry_id, parent_id, line, depth, type, role, label, size,
 * [missing_parent,] and, if there is a text, "entry": the text. */
void session_node_json(buf *out, const session_node_row *row);

/* STATEMENT_session_entries_get: the entries of the ids that exist, in any order, with their text.
 * No rows: none of them exists, or there is no such session. */
void session_entries_params(params *p, slice tenant, slice session, const slice *ids, size_t count);

/*
 * A page of a list of entries, in the order of their lines. Fewer rows than `limit`, which is the
 * exact number requested: it was the last page. An unknown session gives an empty list.
 */
typedef struct session_page {
    slice tenant, session;
    slice entry;   /* children: whose; empty: the roots */
    int64_t after; /* only after this line; -1: from the start */
    slice below;   /* labels: only below this entry id; ptr NULL: from the end */
    int64_t limit;
    int64_t text_max;    /* return texts up to this number of bytes; negative: none */
    int64_t preview_max; /* return previews of texts up to this number of bytes; 0: none */
} session_page;

#define SESSION_PAGE_INIT                                                                          \
    {                                                                                              \
        .after = -1, .limit = CARDBOX_PAGE_DEFAULT, .text_max = -1                                 \
    }

/* STATEMENT_session_tree; session_branch_points, whose `extra` is the number of children; and
 * session_leaves, in the order of branches: `after` is one, which is `extra` of the last row. */
void session_tree_params(params *p, const session_page *page);
void session_children_params(params *p, const session_page *page);
/* STATEMENT_session_labels; below: entry_id of the last row; in the order of ids downwards */
void session_labels_params(params *p, const session_page *page);

/* --- the path from a root to an entry: STATEMENT_session_path --- */

typedef struct session_path_read {
    slice tenant, session;
    slice entry;   /* empty: the head */
    int64_t from;  /* only entries of this depth and deeper */
    int64_t limit; /* so many; negative: all */
    bool with_text;
} session_path_read;

void session_path_params(params *p, const session_path_read *read);

typedef struct session_path {
    slice entry_id; /* the path's end; {NULL, 0}: an empty session whose head was asked for */
    int64_t length; /* of the whole path, in entries */
    slice header;   /* JSON; {NULL, 0}: none */
    int *rows;      /* those of the part that was asked for, from the root downwards */
    size_t count;
} session_path;

/* CARDBOX_NOT_FOUND, in the words of all that want a session. */
cardbox_status session_none_such(slice session, cardbox_error *err);

/* The same of an entry; empty: the head. */
cardbox_status session_no_entry(slice session, slice entry, cardbox_error *err);

/* CARDBOX_NOT_FOUND: no such session, or no such entry; CARDBOX_TOO_LARGE: its lines have more than
 * SESSION_PATH_BYTES_MAX; CARDBOX_NOMEM. */
cardbox_status session_path_take(session_path *out, const store_rows *rows,
                                 const session_path_read *read, arena *memory, cardbox_error *err);

/* What an export needs of a row of a path. */
enum { SESSION_ID_IS_MADE = 1, SESSION_TARGET_IS_MADE = 2 }; /* bits of `extra` */
slice session_path_target(const store_rows *rows, int row);

/* --- the same for a context: STATEMENT_session_context --- */

typedef struct session_context_read {
    slice tenant, session;
    slice entry;       /* empty: the head */
    int64_t bytes_max; /* of lines: with more none is read */
} session_context_read;

void session_context_params(params *p, const session_context_read *read);

typedef struct session_lines_read {
    slice entry_id; /* the path's end; {NULL, 0}: an empty session */
    bool has_header;
    session_header header;
    int64_t length;             /* of the whole path, in entries */
    const session_entry **path; /* downwards, what a context is made of; in `memory` */
    size_t count;
} session_lines_read;

/* Reads the lines again: what context_of_path takes. Statuses as of session_path_take, but that
 * read->bytes_max decides what is CARDBOX_TOO_LARGE. The views point into the rows and into
 * `memory`. */
cardbox_status session_context_take(session_lines_read *out, const store_rows *rows,
                                    const session_context_read *read, arena *memory,
                                    cardbox_error *err);

/* --- the last common entry of two, and what follows it: STATEMENT_session_diff --- */

enum { SESSION_DIFF_COMMON = 0, SESSION_DIFF_A = 1, SESSION_DIFF_B = 2, SESSION_DIFF_FOUND = 3 };

/* `limit` entries of each side, `text_max` as in session_page. Rows: `extra` is the side; first the
 * last entry on the way to both, if there is one, then what is on either side, downwards; the row
 * of SESSION_DIFF_FOUND is none of them. */
void session_diff_params(params *p, slice tenant, slice session, slice a, slice b, int64_t limit,
                         int64_t text_max);

/* CARDBOX_NOT_FOUND: no such session, or one of the entries is not there. */
cardbox_status session_diff_status(const store_rows *rows, slice session, slice a, slice b,
                                   cardbox_error *err);

/* --- export: STATEMENT_session_export --- */

/* A page of up to `limit` lines and about `bytes`, but at least one line. No rows: it is over. */
void session_export_params(params *p, slice tenant, slice session, int64_t after, int64_t limit,
                           int64_t bytes);

typedef struct session_export_row {
    int64_t line;
    bool is_entry;
    slice bytes; /* of a line that is no entry: all of it */
    slice before, text, after;
    slice entry_id;
    slice parent_id; /* also one that is missing; {NULL, 0}: none. Only if id_is_made */
    slice target;
    bool id_is_made, target_is_made;
} session_export_row;

void session_export_read(session_export_row *out, const store_rows *rows, int row);

#endif
