/*
 * dialogue.h: builds the messages that the model reads from a task's ledger: messages, and tool
 * calls with their results. The start and end messages of calls are only for people and are left
 * out. A pure function from rows to JSON.
 */
#ifndef WORKER_DIALOGUE_H
#define WORKER_DIALOGUE_H

#include "base/arena.h"
#include "store/ledger/ledger.h"

typedef struct dialogue_input {
    const message_row *messages; /* in order of arrival */
    size_t message_count;
    const call_row *calls;
    size_t call_count;
    slice prompt; /* a JSON string: the first message, if no message has the role system */
    slice note;   /* plain text appended to the system message; empty: none */
} dialogue_input;

typedef struct dialogue {
    buf messages;      /* a JSON array in the format of OpenAI's API */
    bool needs_answer; /* a user's message or a call follows the model's last answer */
    int64_t seen;      /* sequence number of the newest message; 0: there is none */
} dialogue;

/* Returns CARDBOX_OK, CARDBOX_NOMEM, or CARDBOX_TOO_LARGE (over CONTEXT_BYTES_MAX). The caller
 * frees `out` in all cases. */
cardbox_status dialogue_build(dialogue *out, const dialogue_input *input);

/* Returns whether a message has the role system. */
bool dialogue_has_system(const dialogue_input *input);

void dialogue_free(dialogue *d);

#endif
