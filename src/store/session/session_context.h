/*
 * session_context.h: the answer to whoever asks for the context of an entry, and how far it is that
 * of another entry: what a cache of prompts made of the one can serve of the other. Plain data: who
 * runs the statements is not known here.
 */
#ifndef STORE_SESSION_SESSION_CONTEXT_H
#define STORE_SESSION_SESSION_CONTEXT_H

#include "model/session/context.h"
#include "store/session/sessions.h"

typedef struct session_context_wish {
    session_context_read read; /* of STATEMENT_session_context, which is to be run next */
    view leaf;                 /* empty: the head */
    view compare;              /* ptr NULL: nothing to compare with */
    context_wish how;
    const char *leaf_name;   /* of the member that names the leaf */
    context_digest *digests; /* of the context to compare with */
    size_t count;
} session_context_wish;

/* Sets what is read first. Tenant, session and bytes_max of `read` are there. */
void session_context_begin(session_context_wish *wish);

/*
 * Takes the rows of wish->read. *more: wish->read says what is to be read next, and nothing was
 * written. Else appends {"session_id","leaf","path_length", the settings, what context_answer
 * gives, and with wish->compare "comparison"}. Statuses of session_context_take and
 * context_answer.
 */
cardbox_status session_context_answer(buf *out, bool *more, session_context_wish *wish,
                                      const store_rows *rows, arena *memory, cardbox_error *err);

#endif
