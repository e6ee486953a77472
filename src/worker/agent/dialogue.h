/*
 * dialogue.h: builds the messages for the model from the rows of a task in the ledger: its
 * messages, and its tool calls with their results. The start and end messages of calls are only for
 * people and are left out.
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
    slice prompt; /* the task's system prompt as a JSON string; used if no message has the role
                     system */
    slice note;   /* plain text to append to the system message; empty: none */
} dialogue_input;

typedef struct dialogue {
    buf messages;      /* a JSON array in the format of OpenAI's API */
    bool needs_answer; /* the model's last answer has tool calls, or a user's message follows it */
    int64_t seen;      /* sequence number of the newest message in the input; 0: there is none */
} dialogue;

/* Builds the dialogue. Returns CARDBOX_OK, CARDBOX_NOMEM, or CARDBOX_TOO_LARGE (over
 * CONTEXT_BYTES_MAX). The caller frees `out` in all cases. */
cardbox_status dialogue_build(dialogue *out, const dialogue_input *input);

/* Returns whether the input contains a message with the role system. */
bool dialogue_has_system(const dialogue_input *input);

void dialogue_free(dialogue *d);

#endif
