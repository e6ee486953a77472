/*
 * session_context.h: the response to a request for the context of an entry. The response may
 * compare the context with the context of another entry: a prompt cache can reuse the common
 * prefix. Uses no connection.
 */
#ifndef STORE_SESSION_SESSION_CONTEXT_H
#define STORE_SESSION_SESSION_CONTEXT_H

#include "model/session/context.h"
#include "store/session/sessions.h"

typedef struct session_context_request {
    session_context_read read; /* parameters of the next STATEMENT_session_context */
    slice leaf;                /* empty: the head */
    slice compare; /* the response compares its context with that of this entry; ptr NULL: no
                      comparison */
    context_request how;
    const char *leaf_name; /* name of the response's member with the leaf's id */
    bool messages_only; /* true: the response is only the array of messages, or an object with them
                           if there is a separate system text */
    bool has_grown; /* true: the bounds of `read` were enlarged, since the context was not full */
    bool is_last;   /* true: the bounds are not enlarged again */
    context_digest *digests; /* digests of the context of `compare`; NULL: not read yet */
    size_t count;            /* the number of digests */
} session_context_request;

/* Sets request->read.entry, and the bounds of the read. The caller has set the other members of
 * request->read, and request->how. */
void session_context_begin(session_context_request *request);

/*
 * Reads the rows of the statement of request->read. If *more is set, nothing was written: the
 * caller runs the statement again with the new request->read. If *more is not set, appends
 * {"session_id", the member request->leaf_name, "version", "path_length", the settings, the members
 * of context_answer, and with request->compare "comparison"}. Fails like session_context_from_rows
 * and context_answer.
 */
cardbox_status session_context_answer(buf *out, bool *more, session_context_request *request,
                                      const store_rows *rows, arena *memory, cardbox_error *err);

#endif
