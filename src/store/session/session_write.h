/*
 * session_write.h: what changes sessions, as plain data in and out, like write.h: build parameters,
 * take rows, put outcomes into words. Knows no connection.
 */
#ifndef STORE_SESSION_WRITE_H
#define STORE_SESSION_WRITE_H

#include "base/string_map.h"
#include "store/session/sessions.h"

/* --- create: STATEMENT_session_create --- */

typedef struct session_create {
    slice tenant, session;
    int dialect;      /* a session_dialect; negative: what its first entry says */
    slice header;     /* JSON without line feeds; {NULL, 0}: none. See session_header_take */
    bool may_exist;   /* then it stays as it is */
    bool any_dialect; /* of one that exists; else it must be of this one */
} session_create;

void session_create_params(params *p, const session_create *create);

/* Checks a header that a client gives: an object of type "session", not too long, and in one line,
 * for which it may become a copy in `memory`. Of {NULL, 0} it makes one of pi's version 3, with
 * `cwd`, which may be {NULL, 0}. */
cardbox_status session_header_take(slice *header, slice session, slice cwd, arena *memory,
                                   cardbox_error *err);

/* CARDBOX_OK; CARDBOX_CONFLICT: it exists, or is of the other dialect. `version` may be NULL. */
cardbox_status session_create_status(const store_rows *rows, const session_create *create,
                                     int64_t *version, bool *is_new, cardbox_error *err);

/* --- write lines: STATEMENT_session_append, STATEMENT_session_import --- */

/* A line that is to be written. Its views must live until the parameters are built. */
typedef struct pending_line {
    session_entry entry; /* if is_entry */
    bool is_entry, is_header;
    bool is_named_here;  /* the client has not seen the entry's id */
    bool has_index;      /* of a compaction: it names the first kept entry by an index */
    int64_t index;       /* number of that entry's line in the file, from 0; negative: not known */
    uint64_t line;       /* number in the file, from 1 */
    slice content;       /* JSON of an entry or a header; ptr NULL: the whole line is in `before` */
    slice before, after; /* ptr NULL: nothing before, a line feed behind */
    int32_t duplicate_of; /* place, from 1, of an earlier line with this id; 0: none */
    int32_t ref;          /* place of the parent, or as append_entries() documents it */
} pending_line;

typedef struct session_batch {
    slice tenant, session;
    bool import;
    bool restores;            /* an import of a project: the session stays invisible */
    int dialect;              /* negative: not known */
    int64_t expected_version; /* 0: any */
    slice key;                /* ptr NULL: none */
    slice file_id;            /* the id of the file's header, or empty; ptr NULL: any is accepted */
    int64_t start;            /* of an import: number of the first line, from 0 */
    int64_t made;             /* of the batch before: when the session was created; 0: none */
    int64_t diverged_at;      /* the same: the first line that differs; negative: none */
    pending_line *lines;
    size_t count, capacity;
    size_t bytes; /* of the lines */
    string_map ids;
    char before[SESSION_ID_MAX + 1]; /* id of the last entry, of an import also of the batches
                                        before; empty: none. A reset keeps it */
    bool has_new_ids;                /* an entry was given an id */
    const char *run_key;             /* ids that are given are made of it and `named`; or NULL */
    const char *run_time;            /* the time that is given; NULL: that of the call */
    uint64_t named;                  /* entries that were given an id */
    arena memory;
} session_batch;

/* An empty batch. False: out of memory. To be freed in any case. */
bool session_batch_init(session_batch *out, slice tenant, slice session);
void session_batch_free(session_batch *batch);

/* Makes it empty again. */
bool session_batch_reset(session_batch *batch);

/* Adds an entry, whose id and parent live as long as the batch. NULL: out of memory. */
pending_line *session_batch_add(session_batch *batch, const session_entry *entry);

/*
 * Adds an entry that a client appends: JSON, an object with a type. One without an id is given one,
 * and the time; one without a parentId continues the entry before, the first one the head. Line
 * feeds between tokens are removed. CARDBOX_INVALID: the session can't have it; CARDBOX_TOO_LARGE.
 */
cardbox_status session_batch_append(session_batch *batch, slice json, cardbox_error *err);

/* Adds a line of a file, with its entry, or NULL if it is none; of these views only the entry's id
 * and parent need not live until the parameters are built. Returns NULL: out of memory. */
pending_line *session_batch_import(session_batch *batch, const session_line *line,
                                   const session_entry *entry);

void session_append_params(params *p, const session_batch *batch);

/* In two steps: all but `made` and `diverged_at`, and these. */
void session_import_params_begin(params *p, const session_batch *batch);
void session_import_params_end(params *p, const session_batch *batch);

/* Rows: place 0, which is for the whole, then one for each line in the order of the batch (none if
 * the append failed otherwise than because of an entry). Outcomes are the functions' words. */
typedef struct session_written {
    slice outcome;
    int64_t version;     /* after the change; of one that failed, as the session is */
    int64_t made;        /* of an import: for the batches that follow */
    int64_t diverged_at; /* the same */
} session_written;

void session_append_read(session_written *out, const store_rows *rows);
void session_import_read(session_written *out, const store_rows *rows);

/* Of the line at index `i` of the batch. */
slice session_line_outcome(const store_rows *rows, size_t i);

/* Of an append: the number of the entry's line. */
int64_t session_line_number(const store_rows *rows, size_t i);

/* Of an import: what is wrong with the line; ptr NULL: nothing. */
slice session_line_issue(const store_rows *rows, size_t i);

/* CARDBOX_OK, or why nothing was appended: CARDBOX_NOT_FOUND (no session, or a parent or an entry
 * to be labelled that is not there), CARDBOX_CONFLICT (version, key, dialect, an id with other
 * content; err->current_version). */
cardbox_status session_append_status(const store_rows *rows, const session_batch *batch,
                                     cardbox_error *err);

/* --- after an import: STATEMENT_session_link --- */

void session_link_params(params *p, slice tenant, slice session, const slice *ids, size_t count);

typedef struct session_linked {
    bool is_there;   /* there is such a session */
    int64_t version; /* after it */
    int64_t links;
    int64_t cycles; /* links that were not made, since an entry would be its own ancestor */
} session_linked;

void session_link_read(session_linked *out, const store_rows *rows);

/* Of the id at index `i`: "dangling", "cycle"; ptr NULL: it is linked. */
slice session_link_issue(const store_rows *rows, size_t i);

/* --- the head: STATEMENT_session_head --- */

typedef struct session_move {
    slice tenant, session, entry;
    slice expected;           /* the entry that it must be at; empty: none; ptr NULL: any */
    int64_t expected_version; /* 0: any */
} session_move;

void session_head_params(params *p, const session_move *move);

/* CARDBOX_OK (also if it is there already); CARDBOX_NOT_FOUND: no such session or entry;
 * CARDBOX_CONFLICT: the head or the version is another one. `version` may be NULL. */
cardbox_status session_head_status(const store_rows *rows, const session_move *move,
                                   int64_t *version, cardbox_error *err);

/* --- fork: STATEMENT_session_fork --- */

typedef struct session_fork {
    slice tenant, session, entry; /* entry empty: the head */
    slice new_session;
} session_fork;

void session_fork_params(params *p, const session_fork *fork);

/* CARDBOX_OK; CARDBOX_NOT_FOUND: no such session or entry; CARDBOX_CONFLICT: the new session
 * exists. `entries` may be NULL: how many it begins with. */
cardbox_status session_fork_status(const store_rows *rows, const session_fork *fork,
                                   int64_t *entries, cardbox_error *err);

/* --- delete: STATEMENT_session_delete --- */

/* Lines that one statement removes: a fraction of a second's work. */
enum { SESSION_DELETE_PART = 10000 };

typedef struct session_deletion {
    slice tenant, session;
    bool begun;
    int64_t entries; /* removed so far */
} session_deletion;

void session_delete_params(params *p, const session_deletion *deletion);

/* Adds what was removed. *more: there is more to remove. CARDBOX_OK, CARDBOX_NOT_FOUND. */
cardbox_status session_delete_status(session_deletion *deletion, bool *more, const store_rows *rows,
                                     cardbox_error *err);

#endif
