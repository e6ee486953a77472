/*
 * session_add.h: messages of models' APIs as entries of a session: makes the entries, and answers
 * where the loop of an agent stands after they were appended. Uses no connection.
 */
#ifndef STORE_SESSION_SESSION_ADD_H
#define STORE_SESSION_SESSION_ADD_H

#include "store/session/session_context.h"
#include "store/session/session_write.h"

/* Messages to be appended. */
typedef struct session_messages {
    cardbox_format format; /* openai, responses or anthropic */
    scan_value list;       /* an array of messages, or one message */
    slice model, usage;    /* JSON; they belong to the last message of the assistant; ptr NULL: not
                              given */
    slice parent;          /* id of the entry before the first message; ptr NULL: the head. Results
                              follow the last result of the same answer instead */
    /* JSON of the settings of the request that the messages belong to; ptr NULL: not given; null
     * clears a setting */
    slice system, tools, parameters;
} session_messages;

/* The plan of an append of messages. */
typedef struct session_add {
    session_batch batch;
    session_create create; /* used if the session may be created */
    session_messages messages;
    char settings_id[CARDBOX_UUID_SIZE]; /* id of the entry with the settings; empty: none is given
                                          */
    session_context_read read;           /* the read that follows the append */
    int64_t version;  /* version of the session after the append; of a repeated append, now */
    bool is_replayed; /* true: an append with the same key was applied before */
    bool is_moved;    /* true: the messages do not follow messages.parent */
} session_add;

/* Makes the append create the session, in the dialect plain, if it does not exist. */
void session_add_creates(session_add *add);

/* Adds an entry of the type "message" for each message to add->batch. The caller has set the key,
 * version and creation of the batch. With a key, the ids of the entries are made from the key. If
 * settings are given, the statement adds an entry with them if they differ from those on the path.
 * Fails with CARDBOX_INVALID, CARDBOX_TOO_LARGE and CARDBOX_NOMEM. Then *bad is the number of the
 * message, from 0; SIZE_MAX: no single message. */
cardbox_status session_add_messages(session_add *add, size_t *bad, cardbox_error *err);

/* The statement that appends the messages, and its parameters. */
statement_id session_add_statement(const session_add *add);
void session_add_params(params *p, const session_add *add);

/* Reads the rows of the append. Then the caller runs STATEMENT_session_context with add->read. */
cardbox_status session_add_appended(session_add *add, const store_rows *rows, cardbox_error *err);

/* Reads the rows of STATEMENT_session_context. If *more is set, the caller runs the statement again
 * with add->read. Otherwise appends {"ids","version","leaf"[,"parent_moved"],"next","open_calls"}.
 * For a repeated append, all but the ids is of now. */
cardbox_status session_add_answer(buf *out, bool *more, session_add *add, const store_rows *rows,
                                  arena *memory, cardbox_error *err);

#endif
