/*
 * not_in_context.h: finds the entries of an append that contexts show only in part or not at all.
 * Labels, settings and metadata are not listed.
 */
#ifndef STORE_SESSION_NOT_IN_CONTEXT_H
#define STORE_SESSION_NOT_IN_CONTEXT_H

#include "store/session/session_write.h"

/* An append looks up the calls of at most this number of results in the database. Further results
 * are not reported. */
enum { SESSION_LOOKUPS_MAX = 64 };

/* Sets line->reason of the entry that was just added to the batch. If the call of a result is not
 * in the batch, sets line->search_above and line->search_call. `line` is the entry's line in the
 * batch. False: out of memory. */
bool session_find_reason(session_batch *batch, pending_line *line, const session_entry *entry);

/* Appends [{"entry_id","reason"}, ...] for the entries of an append that contexts show only in part
 * or not at all, and returns their number. `rows` are those of session_append_statement(). */
size_t session_not_in_context_json(buf *out, const session_batch *batch, const store_rows *rows);

#endif
