/*
 * entry_calls.h: reads the properties that decide if a context shows an entry: its calls, the call
 * of a result, and its content blocks.
 */
#ifndef MODEL_ENTRY_CALLS_H
#define MODEL_ENTRY_CALLS_H

#include "model/session/entry.h"

/* Maximum number of calls that are read from one entry. */
enum { SESSION_CALLS_MAX = 1000 };

typedef struct session_calls {
    bool has_failed;            /* an assistant's message ended in error or was aborted */
    bool has_unsupported_block; /* a content block can't be sent in a message of this role */
    bool is_result;             /* the entry is the result of a call */
    slice *ids;                 /* decoded ids of the calls, or the id of the result's call */
    size_t count;
} session_calls;

/* Reads an entry. Calls without an id are left out, because no result can name them. The slices
 * point into the entry and into `memory`. False: out of memory. */
bool session_calls_read(session_calls *out, const session_entry *entry, arena *memory);

#endif
