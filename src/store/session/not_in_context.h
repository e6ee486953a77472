/*
 * not_in_context.h: finds the entries of an append that no context will show, although they look
 * like parts of a conversation.
 */
#ifndef STORE_SESSION_NOT_IN_CONTEXT_H
#define STORE_SESSION_NOT_IN_CONTEXT_H

#include "store/session/session_write.h"

/* An append looks up the calls of at most this number of results in the database. Further results
 * are not reported. */
enum { SESSION_LOOKUPS_MAX = 64 };

/* Finds the reason why no context will show an entry that was just added to the batch, or what the
 * database must look up to find it. `line` is the entry's line in the batch. False: out of memory.
 */
bool session_find_reason(session_batch *batch, pending_line *line, const session_entry *entry);

/* Appends [{"entry_id","reason"}, ...] for the entries of an append that no context will show.
 * `rows` are those of STATEMENT_session_append. */
void session_not_in_context_json(buf *out, const session_batch *batch, const store_rows *rows);

#endif
