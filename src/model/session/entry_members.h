/*
 * entry_members.h: the members that each type of entry knows, and a check for misspelt members.
 */
#ifndef MODEL_ENTRY_MEMBERS_H
#define MODEL_ENTRY_MEMBERS_H

#include "model/session/entry.h"

/* Two names are compared by one letter only if both have at least this number of letters, because
 * short names such as "id", "text" and "data" have many neighbours. */
enum { SESSION_MEMBER_LETTERS_MIN = 5 };

/* The check compares at most this number of unknown names of an entry: each one costs about 20 edit
 * distances. */
enum { SESSION_NAMES_COMPARED_MAX = 1000 };

typedef struct session_misspelling {
    slice given;       /* the inside of the member's name, as it is in the JSON */
    const char *meant; /* the known member */
} session_misspelling;

/* Finds the first misspelt member. The entry's type does not know it, and its name differs from a
 * known name by letter case, by `_`, or by one letter (or two swapped ones). A call's `arguments`
 * and `function` count as misspelt. Members of messages, of content blocks of known types and of
 * toolCalls are checked, free data such as params is not. Returns false if there is none. */
bool session_entry_misspelt(session_misspelling *out, scan_value entry);

#endif
