/*
 * session_write.h: what changes sessions, as plain data in and out, like write.h: build parameters,
 * take rows, say in words what an outcome means. Knows no connection.
 */
#ifndef STORE_SESSION_WRITE_H
#define STORE_SESSION_WRITE_H

#include "model/session/names.h"
#include "store/session/sessions.h"

/* What the functions of sessions in sql/functions answer of a whole call. */
typedef enum session_outcome {
    SESSION_DONE = 1,
    SESSION_DONE_BEFORE = 2, /* nothing was written */
    SESSION_NONE_SUCH = 3,
    SESSION_WRONG_VERSION = 4,
    SESSION_KEY_REUSED = 5, /* of a write */
    SESSION_REFUSED = 6,    /* lines were: nothing was written */
    SESSION_OTHER_DIALECT = 7
} session_outcome;

/* --- create: STATEMENT_session_create --- */

typedef struct session_create {
    view tenant, session;
    int dialect;      /* a session_dialect; negative: what its first entry says */
    view header;      /* JSON without line feeds; {NULL, 0}: none. See session_header_take */
    bool may_exist;   /* then it stays as it is: SESSION_DONE_BEFORE */
    bool any_dialect; /* of one that exists; else it must be of this one */
} session_create;

void session_create_params(params *p, const session_create *create);

/* Checks a header that a client gives: an object of type "session", not too long, and in one line,
 * for which it may become a copy in `memory`. Of {NULL, 0} it makes one of pi's version 3, with
 * `cwd`, which may be {NULL, 0}. */
cardbox_status session_header_take(view *header, view session, view cwd, arena *memory,
                                   cardbox_error *err);

/* CARDBOX_OK; CARDBOX_CONFLICT: it exists, or is of the other dialect. `version` may be NULL. */
cardbox_status session_create_status(const store_rows *rows, const session_create *create,
                                     int64_t *version, bool *is_new, cardbox_error *err);

/* --- write lines: STATEMENT_session_write --- */

/* A line on its way. Its views must live until the parameters are built. */
typedef struct session_put {
    session_entry entry; /* of an entry */
    int kind;            /* as in the table (SESSION_KIND_CODES); -1 no entry, -2 a header */
    int64_t seq;         /* of an import: where the file has it */
    int32_t ord;
    uint64_t line;        /* its number */
    bool is_named_here;   /* of a client's entry: its id is one that the client has not seen */
    view raw;             /* JSON of an entry or a header; else {NULL, 0} */
    view before, after;   /* ptr NULL: nothing before, a line feed behind */
    int32_t twin;         /* place, from 1, of an earlier line with this id; 0: none */
    int32_t parent_place; /* as write_session wants it */
} session_put;

typedef struct session_batch {
    view tenant, session;
    bool import;
    int dialect;              /* negative: not known */
    int64_t expected_version; /* 0: any */
    view key;                 /* ptr NULL: none */
    int64_t since;            /* of an import: `made` of the batch before; 0: none was written */
    view file_id;             /* the id of the file's header, or empty; ptr NULL: any will do */
    session_put *puts;
    size_t count, capacity;
    size_t bytes; /* of the lines */
    session_names ids;
    char before[SESSION_ID_MAX + 1]; /* the entry before, of an import that of the batches before;
                                        empty: none so far. A reset keeps it */
    bool has_new_ids;                /* an entry was given an id */
    const char *run_key;             /* ids that are given are made of it and `named`; or NULL */
    const char *run_time;            /* the time that is given; NULL: that of the call */
    uint64_t named;                  /* entries that were given an id */
    arena memory;
} session_batch;

/* An empty batch. False: out of memory. To be freed in any case. */
bool session_batch_init(session_batch *out, view tenant, view session);
void session_batch_free(session_batch *batch);

/* Makes it empty again. */
bool session_batch_reset(session_batch *batch);

/* A new line at the end, or the batch's last one with those before it: NULL, or false: out of
 * memory. For those who add lines. */
session_put *session_batch_put(session_batch *batch);
bool session_batch_link(session_batch *batch, session_put *put);

/* Which entry the next one goes on from, if it names no parent; of an import the next batch. */
void session_batch_follow(session_batch *batch, view id);

/*
 * Adds an entry that a client appends: JSON, an object with a type. One without an id is given one,
 * and the time; one without a parentId goes on from the entry before, the first one from the head,
 * or where it is there already from what it went on from. Line feeds between tokens are taken out.
 * CARDBOX_INVALID: it can be no entry here; CARDBOX_TOO_LARGE.
 */
cardbox_status session_batch_append(session_batch *batch, view json, cardbox_error *err);

/* Adds a line of a file, with its entry, or NULL if it is none; of these views only the entry's id
 * is lent after the parameters are built. False: out of memory. */
bool session_batch_import(session_batch *batch, const session_line *line,
                          const session_entry *entry, int64_t seq, int32_t ord);

void session_write_params(params *p, const session_batch *batch);

/* The same in two steps: all but `since`, `file_id` and an import's `before`, and these. */
void session_write_params_begin(params *p, const session_batch *batch);
void session_write_params_end(params *p, const session_batch *batch);

/* What became of a line. */
typedef enum session_line_outcome {
    SESSION_LINE_APPENDED = 1,
    SESSION_LINE_UNCHANGED = 2,  /* it is there already */
    SESSION_LINE_CONFLICT = 3,   /* its id is there with other content */
    SESSION_LINE_EXTRA_ROOT = 4, /* appended, although its parent is not there */
    SESSION_LINE_NO_PARENT = 5,
    SESSION_LINE_OWN_PARENT = 6,
    SESSION_LINE_KEPT = 7,    /* no entry, but kept for the export */
    SESSION_LINE_DROPPED = 8, /* no entry, and not kept: the session is no longer like the file */
    SESSION_LINE_TWIN = 9,    /* an earlier line of the file is the same entry */
    SESSION_LINE_NO_TARGET = 10,
    SESSION_LINE_STILL_ROOT = 11 /* it is there already, and its parent is not */
} session_line_outcome;

/* Rows: place 0 first, which is of the whole, then one of each line in the order of the batch (none
 * if the whole failed otherwise than by SESSION_REFUSED). */
typedef struct session_written {
    session_outcome outcome;
    int64_t version;   /* after the change; of one that failed, as the session is */
    int64_t first_seq; /* of the first entry that was appended; negative: none was */
    int64_t made;      /* of an import: when the session was, for the batches that follow */
} session_written;

void session_written_read(session_written *out, const store_rows *rows);

/* Of the line at index `i` of the batch; *seq may be NULL. */
session_line_outcome session_written_line(const store_rows *rows, size_t i, int64_t *seq);

/* Whether a line that is no entry of the tree stood at its place of the session before it. */
typedef enum session_line_place {
    SESSION_PLACE_BEHIND, /* the session ended before it */
    SESSION_PLACE_THERE,
    SESSION_PLACE_OTHER /* another one stood there */
} session_line_place;

/* Of an import, and SESSION_LINE_CONFLICT, _OWN_PARENT, _TWIN, or a header. */
session_line_place session_written_place(const store_rows *rows, size_t i);

/* CARDBOX_OK, or why nothing was written: CARDBOX_NOT_FOUND (no session, or a parent or an entry to
 * be labelled that is not there), CARDBOX_CONFLICT (version, key, dialect, an id with other
 * content; err->current_version), CARDBOX_INVALID (an entry that is its own parent). */
cardbox_status session_write_status(const store_rows *rows, const session_batch *batch,
                                    cardbox_error *err);

/* --- after an import: STATEMENT_session_settle: rows of entry_id, outcome and seq --- */

void session_settle_params(params *p, view tenant, view session);

/* SESSION_LINE_APPENDED: its parent came later, and they are linked. SESSION_LINE_OWN_PARENT: its
 * parents led back to itself, and it was taken out of the tree; its line is kept.
 * SESSION_LINE_EXTRA_ROOT: its parent was. */
session_line_outcome session_settled_read(view *entry_id, int64_t *seq, const store_rows *rows,
                                          int row);

/* --- the head: STATEMENT_session_head --- */

typedef struct session_move {
    view tenant, session, entry;
    view expected;            /* the entry that it must be at; empty: none; ptr NULL: any */
    int64_t expected_version; /* 0: any */
} session_move;

void session_head_params(params *p, const session_move *move);

/* CARDBOX_OK (also if it is there already); CARDBOX_NOT_FOUND: no such session or entry;
 * CARDBOX_CONFLICT: the head or the version is another one. `version` may be NULL. */
cardbox_status session_head_status(const store_rows *rows, const session_move *move,
                                   int64_t *version, cardbox_error *err);

/* --- fork: STATEMENT_session_fork --- */

typedef struct session_fork {
    view tenant, session, entry; /* entry empty: the head */
    view new_session;
} session_fork;

void session_fork_params(params *p, const session_fork *fork);

/* CARDBOX_OK; CARDBOX_NOT_FOUND: no such session or entry; CARDBOX_CONFLICT: the new session
 * exists. `entries` may be NULL: how many it begins with. */
cardbox_status session_fork_status(const store_rows *rows, const session_fork *fork,
                                   int64_t *entries, cardbox_error *err);

/* --- delete: STATEMENT_session_delete --- */

/* Entries that one statement removes: a fraction of a second's work. */
enum { SESSION_DELETE_PART = 10000 };

typedef struct session_deletion {
    view tenant, session;
    bool begun;
    int64_t entries; /* that went so far */
    int64_t cards;   /* and with them, since no other session has them */
} session_deletion;

void session_delete_params(params *p, const session_deletion *deletion);

/* Adds what went. *more: ask again, until all has. CARDBOX_OK, CARDBOX_NOT_FOUND. */
cardbox_status session_delete_status(session_deletion *deletion, bool *more, const store_rows *rows,
                                     cardbox_error *err);

#endif
