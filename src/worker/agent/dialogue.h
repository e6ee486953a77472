/*
 * dialogue.h: the ledger of a task as the messages that a model reads: what was said, and where the
 * model called tools, its calls with their results. Messages that only tell people of a call (its
 * start and end) stand for it in the ledger and are left out. Pure: rows in, JSON out.
 */
#ifndef WORKER_DIALOGUE_H
#define WORKER_DIALOGUE_H

#include "base/arena.h"
#include "store/ledger/ledger.h"

typedef struct dialogue_input {
    const message_row *messages; /* in the order in which they came */
    size_t message_count;
    const call_row *calls;
    size_t call_count;
    slice prompt; /* a token: said first where no message of role system is there */
    slice note;   /* plain text for the end of the system's message; empty: none */
} dialogue_input;

typedef struct dialogue {
    buf messages; /* a JSON array in the form of OpenAI's API */
    bool is_due;  /* a user's message or a call came after the model's last answer */
} dialogue;

/* CARDBOX_OK, CARDBOX_NOMEM, or CARDBOX_TOO_LARGE: over CONTEXT_BYTES_MAX. To be freed in any case.
 */
cardbox_status dialogue_build(dialogue *out, const dialogue_input *input);

/* Whether a message of role system is there. */
bool dialogue_has_system(const dialogue_input *input);

void dialogue_free(dialogue *d);

#endif
