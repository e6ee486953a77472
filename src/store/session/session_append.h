/*
 * session_append.h: what services append to a session: a list of entries becomes a batch, and what
 * became of them JSON. Knows no requests.
 */
#ifndef STORE_SESSION_APPEND_H
#define STORE_SESSION_APPEND_H

#include "store/session/session_write.h"

/* session_batch_append of each element of a list, or of one object. *bad: which one is in the way.
 */
cardbox_status session_append_list(session_batch *batch, scan_value entries, size_t *bad,
                                   cardbox_error *err);

/* Whether doing it twice, with the ids that it has, does the same as doing it once. */
bool session_append_again(const session_batch *batch);

/* {"session_id","version","entries"} of the rows of STATEMENT_session_write. */
void session_append_json(buf *out, const session_batch *batch, const store_rows *rows);

#endif
