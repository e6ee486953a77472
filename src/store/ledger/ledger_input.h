/*
 * ledger_input.h: what callers of the SDK give as tasks, messages and calls, turned into the
 * ledger's own inputs. Texts become tokens in an arena. Checks no more than that they can be read.
 */
#ifndef STORE_LEDGER_INPUT_H
#define STORE_LEDGER_INPUT_H

#include "base/arena.h"
#include "cardbox/ledger.h"
#include "store/ledger/ledger.h"

/* The token of a text: `json` if there is one, else `text` as a JSON string. ptr NULL: neither, or
 * out of memory, which the arena remembers. */
slice ledger_token(arena *memory, const char *text, const char *json);

/* The decoded text of a token as a C string, with U+FFFD for what it can't hold; and the token
 * itself with a NUL behind it. */
const char *ledger_token_text(arena *memory, slice token);
const char *ledger_token_json(arena *memory, slice token);

/* Arrays in the arena. `task_id` is that of entities that name none; ptr NULL: they must. NULL with
 * a status: CARDBOX_INVALID for a struct that no _INIT made, or CARDBOX_NOMEM. */
cardbox_status ledger_read_tasks(const task_input **out, arena *memory, const cardbox_task *tasks,
                                 size_t count, cardbox_error *err);
cardbox_status ledger_read_messages(const message_input **out, arena *memory, slice task_id,
                                    const cardbox_message *messages, size_t count,
                                    cardbox_error *err);
cardbox_status ledger_read_calls(const call_input **out, arena *memory, slice task_id,
                                 const cardbox_call *calls, size_t count, cardbox_error *err);

#endif
