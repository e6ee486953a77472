/*
 * plain_types.h: the types of the dialect plain and their members, for the check of appended
 * entries.
 */
#ifndef MODEL_PLAIN_TYPES_H
#define MODEL_PLAIN_TYPES_H

#include "model/session/entry.h"

enum { PLAIN_MEMBERS_MAX = 5 };

typedef struct plain_type {
    const char *name;
    const char *free_data; /* the members for data that CardBox does not read */
    /* the members besides those that all types have; NULL after the last */
    const char *members[PLAIN_MEMBERS_MAX];
} plain_type;

/* Returns the type with this name; NULL: there is none, or its entries may have any members. */
const plain_type *plain_type_named(slice name);

/* Finds the first top-level member of an entry that its type does not have. `out` receives the
 * inside of the member's name as it is in the JSON. */
bool plain_type_unknown_member(slice *out, const plain_type *type, scan_value entry);

/* Appends the names of all members of a type, with commas between them. */
void plain_type_put_members(buf *out, const plain_type *type);

#endif
