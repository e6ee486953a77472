/*
 * session_write.h: the statements that change sessions: builds their parameters, reads their rows,
 * and maps outcomes to statuses with messages. Uses no connection.
 */
#ifndef STORE_SESSION_WRITE_H
#define STORE_SESSION_WRITE_H

#include "base/string_map.h"
#include "db/statement.h"
#include "model/session/usage.h"
#include "store/session/sessions.h"

/* --- create: STATEMENT_session_create --- */

typedef struct session_create {
    slice tenant, session;
    int dialect;      /* a session_dialect; negative: not known, the first entry will decide */
    slice header;     /* JSON of one line, see session_create_set; {NULL, 0}: no header */
    bool may_exist;   /* true: an existing session of the same dialect is no conflict, and stays
                         unchanged */
    bool any_dialect; /* true: an existing session may also have the other dialect */
    bool restore;     /* true: the id may be that of a deleted session */
} session_create;

void session_create_params(params *p, const session_create *create);

/* Sets the dialect and the header of create->session. `dialect` is negative if it is not known. At
 * most one of `header` and `cwd` may be given ({NULL, 0}: not given), which makes the dialect pi. A
 * session of pi has the client's `header`, an object of type "session" of limited length, or a new
 * header of pi's version 3 with `cwd`. A header with line breaks is replaced by a copy without
 * them. Copies are stored in `memory`. */
cardbox_status session_create_set(session_create *create, int dialect, slice header, slice cwd,
                                  arena *memory, cardbox_error *err);

/* CARDBOX_OK; CARDBOX_CONFLICT: the session exists, and may_exist or any_dialect does not permit
 * that. `version` may be NULL. */
cardbox_status session_create_status(const store_rows *rows, const session_create *create,
                                     int64_t *version, bool *is_new, cardbox_error *err);

/* --- write lines: STATEMENT_session_append, _session_append_new, _session_import --- */

/* A line to be written. Its slices must stay valid until the parameters are built; ptr NULL is an
 * SQL NULL. */
typedef struct pending_line {
    uint64_t line; /* line number in the file, from 1 */
    session_kind kind;
    bool has_new_id; /* session_batch_append made the entry's id, so the client does not know it */
    slice id; /* ptr NULL: the line is not an entry; then of the members up to `label` only `type`
                 may be set */
    bool id_is_made; /* the JSON in a file has no id, so `id` was made for it */
    slice parent; /* the parent's id; ptr NULL: no parentId; empty: a parentId that is not an id */
    int32_t ref;  /* number of the parent's line in the batch, or 0 or -1: see REF_LOOKED_UP and
                     REF_HEAD */
    /* number, from 1, of an earlier line of the batch with this id; 0: none */
    int32_t duplicate_of;
    slice type;          /* type of the entry; of a header: "session"; ptr NULL: neither */
    slice role, sets;    /* see session_role_shown and session_entry_sets */
    slice target;        /* a label's target, or the first entry that a compaction keeps */
    bool has_index;      /* the entry is a compaction that names its first kept entry by an index */
    int64_t index;       /* line number of the first kept entry, from 0; negative: not known */
    slice label;         /* JSON: the label or name that the entry sets */
    bool has_time;       /* appends: the database adds time_ms as the timestamp of the entry */
    int64_t time_ms;     /* milliseconds since 1970 */
    slice given;         /* appends: JSON of the entry as the client sent it, on one line */
    slice content;       /* JSON of an entry or a header; ptr NULL: the whole line is in `before` */
    slice before, after; /* bytes around `content`; ptr NULL: nothing before, a line feed after */
    const entry_usage *usage; /* NULL: none */
} pending_line;

typedef struct session_batch {
    slice tenant, session;
    bool import;      /* true: lines of a file; false: entries of an append */
    bool restores;    /* true: a part of a project's import: the session is invisible until it is
                         complete */
    bool releases_id; /* imports: the id may be that of a deleted session */
    int dialect;      /* a session_dialect; negative: not known */
    int64_t expected_version;     /* 0: any */
    slice key;                    /* ptr NULL: none */
    const session_create *create; /* appends: creates the session if it does not exist; NULL: the
                                     session must exist */
    slice file_id;   /* the id in the file's header; empty: none; ptr NULL: any file is accepted */
    int64_t start;   /* imports: number of the batch's first line, from 0 */
    int64_t created; /* session_written.created of the previous batch; 0: none */
    int64_t diverged_at; /* session_written.diverged_at of the previous batch */
    usage_seen *seen; /* imports of files: what is known of the usage of earlier lines; else NULL */
    pending_line *lines;
    size_t count, capacity;
    size_t bytes; /* total bytes of the entries' JSON */
    string_map ids;
    /* id of the last entry added; empty: none. session_batch_reset keeps it */
    char previous_id[SESSION_ID_MAX + 1];
    bool has_new_ids;     /* true: an entry got a new id */
    const char *run_key;  /* new ids are derived from this key and `new_ids`; NULL: random */
    const char *run_time; /* timestamp of entries with new ids; NULL: the current time */
    int64_t run_ms;       /* run_time in milliseconds since 1970 */
    uint64_t new_ids;     /* the number of entries that got a new id */
    arena memory;
} session_batch;

/* Replaces JSON that contains line breaks by a compact copy. Malformed JSON stays unchanged. False:
 * out of memory. */
bool session_one_line(slice *json, arena *memory);

/* Makes an empty batch. The caller frees it, also on failure. False: out of memory. */
bool session_batch_init(session_batch *out, slice tenant, slice session);
void session_batch_free(session_batch *batch);

/* Removes all lines. False: out of memory. */
bool session_batch_reset(session_batch *batch);

/* Adds an entry. The id and the parent of the entry must stay valid as long as the batch. NULL: out
 * of memory. */
pending_line *session_batch_add(session_batch *batch, const session_entry *entry);

/*
 * Adds an entry that a client sent: a JSON object with a type. An entry without an id gets an id,
 * and a timestamp if it has none. Without a parentId, an entry becomes a child of the entry that
 * was added before, the first entry a child of the session's head; with `is_root`, it becomes a
 * root. JSON with line breaks is replaced by a copy without white space. Fails with
 * CARDBOX_INVALID, CARDBOX_TOO_LARGE and CARDBOX_NOMEM.
 */
cardbox_status session_batch_append(session_batch *batch, slice json, bool is_root,
                                    cardbox_error *err);

/* Makes the entry with this id the parent of the first entry, whose JSON has no parentId. */
void session_batch_set_parent(session_batch *batch, slice parent);

/* Adds a line of a file. `entry` is NULL if the line is not an entry. The slices must stay valid
 * until the parameters are built. Returns NULL if memory ran out. */
pending_line *session_batch_import(session_batch *batch, const session_line *line,
                                   const session_entry *entry);

/* Adds each element of a JSON array, or one object, to the batch. On failure, *bad is the index of
 * the entry that caused it. */
cardbox_status session_append_list(session_batch *batch, scan_value entries, size_t *bad,
                                   cardbox_error *err);

/* Makes the append create the session if it does not exist. Called before entries are added.
 * `create` must stay valid as long as the batch. */
void session_batch_create(session_batch *batch, const session_create *create);

/* Returns the statement that appends the batch. */
statement_id session_append_statement(const session_batch *batch);

/* Returns true if sending the append twice has the same effect as sending it once: the append
 * expects no version, or it has a key. */
bool session_append_is_repeatable(const session_batch *batch);

/* Appends {"session_id","version","entries"} and perhaps usage_ignored, made from the statement's
 * rows. */
void session_append_json(buf *out, const session_batch *batch, const store_rows *rows);

/* If usage was not counted, appends the member usage_ignored: a list of {"entry","what"}. */
void session_put_ignored(buf *out, const session_batch *batch);

void session_append_params(params *p, const session_batch *batch);

void session_import_params(params *p, const session_batch *batch);

/* The first row of the result: the outcome of the whole batch, as the SQL function returned it. A
 * row for each line follows in the batch's order, unless an append was rejected as a whole. */
typedef struct session_written {
    slice outcome;
    int64_t version;     /* the session's current version, also if nothing was written */
    int64_t created;     /* imports: creation time of the session, in microseconds since 1970 */
    int64_t diverged_at; /* imports: number of the first line that differs from the stored one;
                            negative: none */
} session_written;

void session_append_read(session_written *out, const store_rows *rows);
void session_import_read(session_written *out, const store_rows *rows);

/* Returns the outcome of the line at index `i` of the batch. */
slice session_line_outcome(const store_rows *rows, size_t i);

/* Returns the line number of the entry at index `i` of an append; -1: none. */
int64_t session_line_number(const store_rows *rows, size_t i);

/* Returns the issue of the line at index `i` of an import; ptr NULL: none. */
slice session_line_issue(const store_rows *rows, size_t i);

/* CARDBOX_OK, or the reason why nothing was appended. CARDBOX_NOT_FOUND: the session, a parent, or
 * an entry to be labelled does not exist. CARDBOX_CONFLICT, with err->current_version: the version,
 * the key or the dialect differs, or an id exists with other content. */
cardbox_status session_append_status(const store_rows *rows, const session_batch *batch,
                                     cardbox_error *err);

/* Returns true if a change failed because the session does not exist or has another version than
 * expected. `outcome` is that of the SQL function. */
bool session_precondition_failed(slice outcome);

/* --- the head: STATEMENT_session_head --- */

typedef struct session_move {
    slice tenant, session, entry;
    slice expected; /* the entry that must be the head before; empty: there must be no head; ptr
                       NULL: any head */
    int64_t expected_version; /* 0: any */
} session_move;

void session_head_params(params *p, const session_move *move);

/* CARDBOX_OK (also if the head is already at the entry); CARDBOX_NOT_FOUND: no such session or
 * entry; CARDBOX_CONFLICT: the head or the version differs. `version` may be NULL. */
cardbox_status session_head_status(const store_rows *rows, const session_move *move,
                                   int64_t *version, cardbox_error *err);

/* --- fork: STATEMENT_session_fork --- */

typedef struct session_fork {
    slice tenant, session, entry; /* entry empty: the head */
    slice new_session;
} session_fork;

void session_fork_params(params *p, const session_fork *fork);

/* CARDBOX_OK; CARDBOX_NOT_FOUND: no such session or entry; CARDBOX_CONFLICT: the new session
 * exists. `entries` receives the number of copied entries, and may be NULL. */
cardbox_status session_fork_status(const store_rows *rows, const session_fork *fork,
                                   int64_t *entries, cardbox_error *err);

/* --- delete: STATEMENT_session_delete --- */

/* Maximum number of lines that one statement removes, so that no statement lasts long. */
enum { SESSION_DELETE_PART = 10000 };

typedef struct session_deletion {
    slice tenant, session;
    bool found;      /* true: a statement has found the session */
    int64_t entries; /* number of entries that were removed so far */
} session_deletion;

void session_delete_params(params *p, const session_deletion *deletion);

/* Adds the number of removed entries to deletion->entries. If *more is set, the statement must be
 * run again. Returns CARDBOX_OK or CARDBOX_NOT_FOUND. */
cardbox_status session_delete_status(session_deletion *deletion, bool *more, const store_rows *rows,
                                     cardbox_error *err);

#endif
