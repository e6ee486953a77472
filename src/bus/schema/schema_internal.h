/*
 * schema_internal.h: what the schema*.c files share: the table of keywords, and places in a value
 * or a schema. Nobody else may include it.
 */
#ifndef BUS_SCHEMA_INTERNAL_H
#define BUS_SCHEMA_INTERNAL_H

#include "bus/schema/schema.h"

/* Where one is, as a chain on the stack: only a fault makes text of it. */
typedef struct schema_place {
    const struct schema_place *up; /* NULL: the whole */
    slice key;                     /* a string token or plain name; ptr NULL: an element */
    size_t index;
    unsigned depth;
} schema_place;

static inline schema_place schema_member(const schema_place *up, slice key)
{
    return (schema_place){up, key, 0, up->depth + 1};
}

static inline schema_place schema_element(const schema_place *up, size_t index)
{
    return (schema_place){up, {NULL, 0}, index, up->depth + 1};
}

/* One walk: a schema and all that it refers to, against one value. */
typedef struct schema_run {
    scan_value root;
    schema_faults *faults;
    bool all; /* are wanted; else it ends with the first, and of several forms the one that got
                 deepest is kept */
    unsigned depth;
    size_t *steps;  /* that are left */
    buf *unchecked; /* of a check of a schema */
} schema_run;

/* Notes a fault and gives false. */
bool schema_refuse(schema_run *run, const schema_place *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* CARDBOX_INVALID with as many faults, of which there is one at least, as its message has room for.
 */
cardbox_status schema_say(const schema_faults *faults, cardbox_error *err);

/* What a keyword's value must be. */
typedef enum schema_argument {
    ARGUMENT_ANY,
    ARGUMENT_TYPES, /* a type's name, or a list of such */
    ARGUMENT_COUNT, /* an integer from 0 on */
    ARGUMENT_NUMBER,
    ARGUMENT_NAMES,  /* a list of strings */
    ARGUMENT_VALUES, /* a list that is not empty */
    ARGUMENT_SCHEMA,
    ARGUMENT_SCHEMAS, /* a list of schemas that is not empty */
    ARGUMENT_MAP,     /* an object of schemas */
    ARGUMENT_REFERENCE
} schema_argument;

typedef struct schema_keyword {
    const char *name;
    schema_argument argument;
    /* Whether the value is as the keyword says, beside the others of its schema; NULL: an
     * annotation. */
    bool (*holds)(schema_run *run, scan_value schema, scan_value argument, scan_value value,
                  const schema_place *at);
} schema_keyword;

/* By its name, a string token. NULL: not one of ours. */
const schema_keyword *schema_keyword_find(slice token);

/* Whether a value is of the type that a string token names. */
bool schema_is_type(scan_value value, slice token);

/* Whether an accepted schema has keywords that are not checked. As slow as checking the schema. */
bool schema_is_partial(scan_value root);

/* What a reference, "#/$defs/x", refers to. SCAN_NONE: nothing. */
scan_value schema_resolve(scan_value root, slice token);

#endif
