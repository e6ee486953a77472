/*
 * session_rows.h: sessions and entries as rows for people and as objects for programs. Knows the
 * SDK's results and not where they come from.
 */
#ifndef CLI_SESSION_ROWS_H
#define CLI_SESSION_ROWS_H

#include "cardbox/session.h"
#include "cli/session_view.h"
#include "cli/table.h"

/* Bytes of lines that are read to say something of them; of longer ones there is no preview. */
#define SESSION_PREVIEW_MAX ((size_t)256 * 1024)

/* "pi", "plain"; NULL: nothing told so far. */
const char *session_dialect_name(cardbox_dialect dialect);

/* Appends the object of a session, without the brace that closes it. */
void session_object(buf *out, const cardbox_session *session);

/* What an entry's line says, as far as it was read. */
void session_entry_says(session_words *out, const cardbox_entry *entry, arena *memory);

/* Appends the object of an entry; of its line only if it was read and `with_line`. */
void session_entry_object(buf *out, const cardbox_entry *entry, bool with_line);

/* Prints objects, one a line. False: out of memory. */
bool session_entries_json(const cardbox_entries *entries, bool with_line);

/* Prints a table; `head` is the session's, marked as such, or NULL. False: out of memory. */
bool session_entries_table(const cardbox_entries *entries, const char *head);

#endif
