/*
 * ledger_input.h: converts tasks, messages and calls of the SDK's callers to the inputs of
 * ledger.h. Texts become JSON string tokens in an arena. The functions do not check the values.
 */
#ifndef STORE_LEDGER_INPUT_H
#define STORE_LEDGER_INPUT_H

#include "base/arena.h"
#include "cardbox/ledger.h"
#include "store/ledger/ledger.h"

/* Returns the token of a text: `json` if it is not NULL, else `text` as a JSON string. The ptr is
 * NULL if both are NULL, or if the arena has failed. */
slice ledger_token(arena *memory, const char *text, const char *json);

/* Returns the decoded text of a token as a C string: U+FFFD replaces NULs and halves of surrogate
 * pairs. NULL: the token has ptr NULL, or memory ran out. */
const char *ledger_token_text(arena *memory, slice token);

/* Returns a copy of a token as a C string. NULL: the token has ptr NULL, or memory ran out. */
const char *ledger_token_json(arena *memory, slice token);

/* These functions convert an array of structs to an array of inputs in the arena. Messages and
 * calls without a task_id get `task_id`; its ptr may be NULL. The functions fail with
 * CARDBOX_INVALID for a struct that no _INIT macro made, with CARDBOX_TOO_LARGE, and with
 * CARDBOX_NOMEM. */
cardbox_status ledger_read_tasks(const task_input **out, arena *memory, const cardbox_task *tasks,
                                 size_t count, cardbox_error *err);
cardbox_status ledger_read_messages(const message_input **out, arena *memory, slice task_id,
                                    const cardbox_message *messages, size_t count,
                                    cardbox_error *err);
cardbox_status ledger_read_calls(const call_input **out, arena *memory, slice task_id,
                                 const cardbox_call *calls, size_t count, cardbox_error *err);

#endif
