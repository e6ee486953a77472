/*
 * session_context.h: the response to a request for the context of an entry, with the length of the
 * prefix that it shares with the context of another entry, which a prompt cache can reuse. Plain
 * data: knows no connection.
 */
#ifndef STORE_SESSION_SESSION_CONTEXT_H
#define STORE_SESSION_SESSION_CONTEXT_H

#include "model/session/context.h"
#include "store/session/sessions.h"

typedef struct session_context_request {
    session_context_read read; /* parameters of the STATEMENT_session_context that is run next */
    slice leaf;                /* empty: the head */
    slice compare;             /* ptr NULL: nothing to compare with */
    context_request how;
    const char *leaf_name;   /* the member that has the leaf's id */
    context_digest *digests; /* of the context to compare with */
    size_t count;
} session_context_request;

/* Sets request->read. The caller has set its tenant, session and bytes_max. */
void session_context_begin(session_context_request *request);

/*
 * Takes the rows of request->read. If *more is set, nothing was written, and request->read has the
 * parameters of the next statement. Otherwise appends {"session_id", "leaf", "path_length", the
 * settings, the members of context_answer, and with request->compare "comparison"}. Statuses of
 * session_context_take and context_answer.
 */
cardbox_status session_context_answer(buf *out, bool *more, session_context_request *request,
                                      const store_rows *rows, arena *memory, cardbox_error *err);

#endif
