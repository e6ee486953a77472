/*
 * entry_members.h: the members that each type of entry knows, and a check for misspelt members.
 */
#ifndef MODEL_ENTRY_MEMBERS_H
#define MODEL_ENTRY_MEMBERS_H

#include "model/session/entry.h"

/* Two names are compared by one letter only if both have at least this number of letters, because
 * short names such as "id", "text" and "data" have many neighbours. */
enum { SESSION_MEMBER_LETTERS_MIN = 5 };

typedef struct session_misspelling {
    slice given;       /* the inside of the member's name, as it is in the JSON */
    const char *meant; /* the known member */
} session_misspelling;

/*
 * Finds the first member of an entry that is misspelt. The entry's type does not know such a
 * member, and its name differs from a known name by letter case, by `_`, or by one letter. Two
 * swapped neighbours count as one letter. The check includes the members of the message, of content
 * blocks of known types, and of toolCalls. It excludes data that has no fixed members, such as the
 * params of a call. Returns false if no member is misspelt.
 */
bool session_entry_misspelt(session_misspelling *out, scan_value entry);

#endif
