/*
 * session_rows.h: sessions and entries as rows for people and as objects for programs. Knows the
 * SDK's results and not where they come from.
 */
#ifndef CLI_SESSION_ROWS_H
#define CLI_SESSION_ROWS_H

#include "cardbox/session.h"
#include "cli/view/listing.h"
#include "model/session/preview.h"

/* Reads what `option` says, if it was given (not NULL). False: there is no such dialect; said. */
bool session_dialect_read(cardbox_dialect *out, const char *option, const char *name);

/* Appends the object of a session, without the brace that closes it. */
void session_object(buf *out, const cardbox_session *session);

/* What an entry's line says, as far as it was read. */
void session_entry_says(session_preview *out, const cardbox_entry *entry, arena *memory);

/* Entries as they are listed. */
typedef struct session_listed {
    const cardbox_entries *entries;
    const char *head;    /* the session's, marked as such, or NULL */
    bool sides;          /* on which of two ways they are is shown */
    bool lines;          /* objects have their lines, where these were read */
    const size_t *order; /* their places as they are shown; NULL: as they come */
} session_listed;

/* `of` is a session_listed. */
extern const listing session_listing;
cli_exit session_listing_print(const session_listed *of, bool json, const char *none);

/* How many entries a conversion has no counterpart for, on standard error; nothing of 0. */
void session_warn_not_in_context(size_t count);

#endif
