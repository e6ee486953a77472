/*
 * sessions.h: the statements that read sessions and their trees: builds their parameters and reads
 * their rows. session_write.h has the statements that change sessions. Uses no connection.
 */
#ifndef STORE_SESSIONS_H
#define STORE_SESSIONS_H

#include "cardbox/status.h"
#include "db/params.h"
#include "store/client/list.h"
#include "db/rows.h"
#include "model/session/position.h"
#include "store/usage/usage.h"

/* Maximum bytes of the entries of one path; approximate bytes of a page of lines. */
#define SESSION_PATH_BYTES_MAX ((int64_t)256 * 1024 * 1024)
#define SESSION_PAGE_BYTES     ((int64_t)2 * 1024 * 1024)

/* --- sessions: STATEMENT_session_get (one row or none), STATEMENT_sessions_list --- */

typedef struct session_row {
    slice session_id;
    int dialect;       /* a session_dialect; -1: not known yet */
    slice header;      /* JSON of pi's header; {NULL, 0}: none */
    slice name;        /* a JSON string; {NULL, 0}: none */
    slice forked_from; /* a session's id; {NULL, 0}: none */
    slice head;        /* an entry's id; {NULL, 0}: none */
    int64_t entries, version;
    int64_t created_micros, updated_micros;
    usage_sums usage;
} session_row;

/* Maximum bytes of the JSON of an entry from which a list of sessions makes a preview. */
enum { SESSION_LIST_PREVIEW_MAX = 64 * 1024 };

/* The parameters of session_get and session_counts, and the first two of other statements. The row
 * of session_counts has the members of cardbox_session_counts. */
void session_params(params *p, slice tenant, slice session);

/* The parameters of sessions_list, which returns the newest sessions first. The cursor is
 * list_cursor_text(created_micros, session_id). The statement returns up to `limit` + 1 rows. If it
 * returns more than `limit` rows, there is a next page. `preview`: the rows also have the JSON of
 * the first message of a user and of the last message. */
void sessions_list_params(params *p, slice tenant, const list_cursor *from, int64_t limit,
                          bool preview);

/* Reads the JSON of the first message of a user and of the last message; {NULL, 0}: none, or too
 * long. */
void session_row_previews(slice *first, slice *last, const store_rows *rows, int row);

void session_row_read(session_row *out, const store_rows *rows, int row);

/* Appends a session as a JSON object: session_id, project_id, dialect ("plain", "pi" or null),
 * name, header, forked_from, head_entry_id, entries, version, created_at, updated_at, usage. */
void session_row_json(buf *out, const session_row *row, slice tenant);

/* --- entries --- */

/* A row of a statement that reads entries. */
typedef struct session_node_row {
    int64_t line;
    slice entry_id;
    slice parent_id; /* {NULL, 0}: a root */
    int depth;       /* number of ancestors */
    slice type;      /* "message", ..., or "other" */
    slice role;      /* "user", "assistant", "tool", "system"; {NULL, 0}: none */
    slice missing; /* id of the missing parent of a dangling entry; empty: parentId is not an id */
    int64_t size;  /* bytes of the entry's JSON */
    slice label;   /* a JSON string, the current label; {NULL, 0}: none */
    slice text;    /* the entry's JSON; {NULL, 0}: not requested, or longer than requested */
    int64_t extra; /* a number whose meaning depends on the statement */
    bool has_time; /* false: the entry was stored by a release that kept no time */
    int64_t appended_micros; /* when the entry was stored, in microseconds since 1970 */
} session_node_row;

void session_node_read(session_node_row *out, const store_rows *rows, int row);

/* Appends an entry as a JSON object: entry_id, parent_id, line, depth, type, role, label, size,
 * appended_at, [missing_parent,] and, if there is a text, "entry": the text. */
void session_node_json(buf *out, const session_node_row *row);

/* STATEMENT_session_entries_get: the entries of the ids that exist, in any order, with their text.
 * No rows: none of them exists, or there is no such session. */
void session_entries_params(params *p, slice tenant, slice session, const slice *ids, size_t count);

/*
 * The parameters for a page of a list of entries. Entries are in the order of their lines, but
 * branch points in the order of their first children, and labelled entries in the descending order
 * of their ids. The statement returns up to `limit` rows. A page with fewer rows is the last one.
 * The list of an unknown session is empty.
 */
typedef struct session_page {
    slice tenant, session;
    slice entry;   /* session_children: the parent; empty: lists the roots */
    int64_t after; /* only entries after the entry in this line; -1: all */
    slice below;   /* session_labels: only entries with ids below this one; ptr NULL: all */
    int64_t limit;
    int64_t text_max; /* maximum bytes of a text; a longer text is left out, not cut; negative: all
                         texts are left out */
    int64_t preview_max; /* maximum bytes of a text that gets a preview; longer texts get none; 0:
                            no previews */
} session_page;

#define SESSION_PAGE_INIT                                                                          \
    {                                                                                              \
        .after = -1, .limit = CARDBOX_PAGE_DEFAULT, .text_max = -1                                 \
    }

/* Adds the parameter for the maximum bytes of each text; negative: no texts are returned. */
void session_text_max_param(params *p, int64_t most);

/* --- the path from a root to an entry: STATEMENT_session_path --- */

typedef struct session_path_read {
    slice tenant, session;
    slice entry;   /* empty: the head */
    int64_t from;  /* only entries with at least this number of ancestors */
    int64_t limit; /* maximum number of entries; negative: all */
    bool with_text;
} session_path_read;

void session_path_params(params *p, const session_path_read *read);

typedef struct session_path {
    slice entry_id; /* the path's end; {NULL, 0}: the head of an empty session was requested */
    int64_t length; /* number of entries of the whole path */
    int *rows;      /* row numbers of the requested part, from the root downwards */
    size_t count;
} session_path;

/* Returns CARDBOX_NOT_FOUND with the message for an unknown session. */
cardbox_status session_not_found(slice session, cardbox_error *err);

/* Returns CARDBOX_NOT_FOUND with the message for an unknown entry; `entry` empty: the session has
 * no head. */
cardbox_status session_entry_not_found(slice session, slice entry, cardbox_error *err);

/* Reads the rows of session_path. CARDBOX_NOT_FOUND: no such session or entry; CARDBOX_TOO_LARGE:
 * the texts have more than SESSION_PATH_BYTES_MAX bytes; CARDBOX_INTERNAL: the stored tree is
 * corrupt; CARDBOX_NOMEM. */
cardbox_status session_path_from_rows(session_path *out, const store_rows *rows,
                                      const session_path_read *read, arena *memory,
                                      cardbox_error *err);

/* --- the path for a context: STATEMENT_session_context --- */

typedef struct session_context_read {
    slice tenant, session;
    slice entry;       /* empty: the head */
    int64_t bytes_max; /* if the entries' JSON has more bytes in all, the statement returns no JSON
                          of entries */
    /* A bounded context is read from its end upwards until it has `entries` entries of messages, or
     * until these have more than `bytes` bytes. 0: not bounded. */
    int64_t entries, bytes;
} session_context_read;

void session_context_params(params *p, const session_context_read *read);

typedef struct session_lines_read {
    slice entry_id; /* the path's end; {NULL, 0}: an empty session */
    bool has_header;
    session_header header;
    int64_t version;            /* version of the session */
    slice missing_parent;       /* parentId of the path's root; empty: the root names no parent */
    int64_t length;             /* number of entries of the whole path */
    int64_t unread;             /* number of entries that the context would have without bounds, and
                                   that were not read */
    const session_entry **path; /* the entries that the context needs, from the root downwards, and
                                   after an entry its results of other branches */
    size_t count;
    size_t beside; /* number of results of other branches */
} session_lines_read;

/* Reads the rows of session_context into the parameters of context_of_path. Fails like
 * session_path_from_rows, but CARDBOX_TOO_LARGE means more than read->bytes_max bytes. The slices
 * point into the rows and `memory`. */
cardbox_status session_context_from_rows(session_lines_read *out, const store_rows *rows,
                                         const session_context_read *read, arena *memory,
                                         cardbox_error *err);

/* --- the last common entry of two paths, and the entries after it: STATEMENT_session_diff --- */

enum { SESSION_DIFF_COMMON = 0, SESSION_DIFF_A = 1, SESSION_DIFF_B = 2, SESSION_DIFF_FOUND = 3 };

/* `limit` is the maximum number of entries of each of the two sides; `text_max` as in session_page.
 * The column `extra` of a row has one of the SESSION_DIFF values. The last common entry comes
 * first, if there is one. The entries of each side follow, from the root downwards. The row of
 * SESSION_DIFF_FOUND is not an entry: session_diff_status reads it. */
void session_diff_params(params *p, slice tenant, slice session, slice a, slice b, int64_t limit,
                         int64_t text_max);

/* CARDBOX_NOT_FOUND: the session or one of the two entries does not exist. */
cardbox_status session_diff_status(const store_rows *rows, slice session, slice a, slice b,
                                   cardbox_error *err);

/* --- export: STATEMENT_session_export --- */

/* The parameters for a page of up to `limit` lines and about `bytes` bytes, but at least one line.
 * If the statement returns no rows, there are no more lines. */
void session_export_params(params *p, slice tenant, slice session, int64_t after, int64_t limit,
                           int64_t bytes);

/* A line of a session, with the bytes around an entry's JSON. */
typedef struct session_export_row {
    int64_t line;
    slice bytes; /* the whole line, if it is not an entry */
    slice before, after;
    session_entry_links entry; /* id.ptr NULL: the line is not an entry */
    bool needs_links; /* links may have to be written into the line: its JSON has no id, or (only in
                         rows of session_path) names the target by an index */
} session_export_row;

void session_export_read(session_export_row *out, const store_rows *rows, int row);

/* Like session_export_read, for a row of session_path. */
void session_export_read_path(session_export_row *out, const store_rows *rows, int row);

#endif
