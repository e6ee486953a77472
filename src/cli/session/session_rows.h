/*
 * session_rows.h: sessions and entries as rows for people and as objects for programs.
 */
#ifndef CLI_SESSION_ROWS_H
#define CLI_SESSION_ROWS_H

#include "cardbox/session.h"
#include "cli/view/listing.h"
#include "model/session/preview.h"

/* The names of dialects, as an option has them. */
#define SESSION_DIALECTS "pi|plain"

/* The dialect of such a name. False: `name` is NULL. */
bool session_dialect_of(cardbox_dialect *out, const char *name);

/* Appends the object of a session, without the brace that closes it. */
void session_object(buf *out, const cardbox_session *session);

/* The text of an entry's line, or a note if the line was too long to be read. */
void session_entry_preview(session_preview *out, const cardbox_entry *entry, arena *memory);

/* The entries that a command lists, and how. */
typedef struct session_listed {
    const cardbox_entries *entries;
    const char *head;    /* id of the session's head, which gets a mark; NULL: no mark */
    bool sides;          /* show whether an entry is on path a, b or both */
    bool lines;          /* with --json, add the entries' lines, if they were read */
    const size_t *order; /* indexes of `entries` in the order of the rows; NULL: 0, 1, 2, ... */
} session_listed;

/* `of` is a session_listed. */
extern const listing session_listing;
cli_exit session_listing_print(const session_listed *of, bool json, const char *none);

/* Warns of entries that have no counterpart in the other dialect, if `count` is not 0. */
void session_warn_not_in_context(size_t count);

#endif
