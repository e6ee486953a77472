/*
 * foreign.h: recognises files that other programs wrote, which are JSON Lines but no sessions, and
 * messages of models' APIs, which are no entries.
 */
#ifndef MODEL_FOREIGN_H
#define MODEL_FOREIGN_H

#include "model/session/entry.h"

/* Checks an object that no header and no entry precedes in its file. Returns a description of the
 * file, such as "a transcript of Claude Code", if the object is not of a session. `entry` is the
 * entry of the object; NULL: the object is no entry. NULL: the file may be a session. */
const char *session_foreign_file(scan_value object, const session_entry *entry);

/* The type or the member by which session_is_api_message recognised an object. */
typedef struct session_api_sign {
    const char *what; /* "type" or "member" */
    slice name;
} session_api_sign;

/* Returns true if an object that a client appends looks like a message of a model's API. It has a
 * type of such messages. Or it has no type, and a member such as `role`. Or it has a type of the
 * dialect plain, and a member such as `tool_call_id`. */
bool session_is_api_message(session_api_sign *out, scan_value object);

#endif
