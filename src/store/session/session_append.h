/*
 * session_append.h: adds a client's list of entries to a batch, and renders the outcome of the
 * append as JSON. Uses no requests.
 */
#ifndef STORE_SESSION_APPEND_H
#define STORE_SESSION_APPEND_H

#include "store/session/session_write.h"

/* Adds each element of a JSON array, or one object, to the batch. On failure, *bad is the index of
 * the entry that caused it. */
cardbox_status session_append_list(session_batch *batch, scan_value entries, size_t *bad,
                                   cardbox_error *err);

/* Returns true if sending the append twice has the same effect as sending it once: it expects no
 * version, or it has a key. */
bool session_append_is_repeatable(const session_batch *batch);

/* Appends {"session_id","version","entries"}, made from the rows of STATEMENT_session_append. */
void session_append_json(buf *out, const session_batch *batch, const store_rows *rows);

#endif
