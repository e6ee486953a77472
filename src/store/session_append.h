/*
 * session_append.h: what services append to a session. What an entry leaves open is filled in: an
 * id, the entry before it as its parent (of the first one the session's head, which is to be asked
 * for first), the time. All go in one statement, and are written all or none. Knows no requests.
 */
#ifndef STORE_SESSION_APPEND_H
#define STORE_SESSION_APPEND_H

#include "store/session_write.h"

typedef struct session_append {
    session_batch batch;
    const scan_value *entries; /* as they were sent */
    size_t count;
    int64_t expected; /* what the client wants; 0: any, and one that is filled in is ours */
    bool by_head;     /* the first one goes on from the head: session_append_head */
    bool again;       /* doing it twice does the same as doing it once */
    unsigned tries;
} session_append;

/* The elements of a list; counted only, where `out` is NULL. */
size_t session_append_list(scan_value *out, scan_value list);

/* What is wrong with one that is to be appended; NULL: nothing that can be seen so early. `keyed`:
 * the client gave a key, and would send something else under it when what is open is filled in
 * anew. */
const char *session_append_fault(scan_value entry, bool keyed);

/* `entries`, one at least, and `key` (ptr NULL: none) must live as long as it. False: out of
 * memory. To be freed in any case. */
bool session_append_init(session_append *out, view tenant, view session, const scan_value *entries,
                         size_t count, int64_t expected, view key);
void session_append_free(session_append *a);

/* Makes the batch, `head` {NULL, 0}: where the first one does not go on from the head. *bad: which
 * one is in the way. */
cardbox_status session_append_fill(session_append *a, view head, size_t *bad, cardbox_error *err);

/* The same with the head that the row of STATEMENT_session_get tells. CARDBOX_NOT_FOUND: no such
 * session. */
cardbox_status session_append_head(session_append *a, const store_rows *rows, size_t *bad,
                                   cardbox_error *err);

/* Whether the head has moved between two statements: then it is to be asked for again. */
bool session_append_moved(session_append *a, const store_rows *rows);

/* {"session_id","version","entries"} of the rows of STATEMENT_session_write. */
void session_append_json(buf *out, const session_append *a, const store_rows *rows);

#endif
