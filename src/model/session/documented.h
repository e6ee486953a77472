/*
 * documented.h: what the documentation of each API lists for the messages of a request: roles,
 * types of items and blocks, and their members. Some servers reject everything else.
 */
#ifndef MODEL_DOCUMENTED_H
#define MODEL_DOCUMENTED_H

#include "base/scan.h"
#include "cardbox/context.h"

typedef enum documented_place {
    DOCUMENTED_MESSAGE, /* named by its role; in the format responses, by the type of the item */
    DOCUMENTED_BLOCK,   /* an element of a content, named by its type */
    DOCUMENTED_CALL,    /* an element of tool_calls, named by its type */
    DOCUMENTED_OBJECT   /* an object in one of the others, named by its member */
} documented_place;

/* Returns the names of the members of an object, with a space between two names. `name` is the
 * inside of a JSON string. NULL: the documentation has no such object. */
const char *documented_members(cardbox_format format, documented_place place, slice name);

/* Returns true if `members` has the name of a member, `key`, a JSON string. */
bool documented_has(const char *members, slice key);

#endif
