/*
 * dialogue.h: builds the messages for the model from the rows of a task in the ledger: its
 * messages, and its tool calls with their results. The start and end messages of calls are for
 * people: they are left out, unless they have the role user.
 */
#ifndef WORKER_DIALOGUE_H
#define WORKER_DIALOGUE_H

#include "base/arena.h"
#include "store/ledger/ledger.h"

typedef struct dialogue_input {
    const message_row *messages; /* ordered by sequence number */
    size_t message_count;
    const call_row *calls;
    size_t call_count;
    slice prompt; /* the task's system prompt as a JSON string; used if no message has the role
                     system */
    slice note;   /* plain text that is added to the system message; empty: none */
} dialogue_input;

typedef struct dialogue {
    buf messages;      /* a JSON array in the format of OpenAI's API */
    bool needs_answer; /* true: the model has to answer a user's message or the result of a call */
    int64_t seen;      /* sequence number of the last message of the input; 0: no messages */
} dialogue;

/* Builds the dialogue. Returns CARDBOX_OK, CARDBOX_NOMEM, or CARDBOX_TOO_LARGE if the dialogue
 * would exceed CONTEXT_BYTES_MAX. The caller frees `out` with dialogue_free in all cases. */
cardbox_status dialogue_build(dialogue *out, const dialogue_input *input);

bool dialogue_has_system(const dialogue_input *input);

void dialogue_free(dialogue *d);

#endif
