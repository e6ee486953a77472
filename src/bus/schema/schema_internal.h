/*
 * schema_internal.h: shared by the schema*.c files: the table of keywords, and locations in a value
 * or a schema.
 */
#ifndef BUS_SCHEMA_INTERNAL_H
#define BUS_SCHEMA_INTERNAL_H

#include "bus/schema/schema.h"

/* A location, as a chain on the stack. It becomes text only for an error. */
typedef struct schema_location {
    const struct schema_location *up; /* NULL: the whole */
    slice key; /* a string token or a plain name; ptr NULL: an array element */
    size_t index;
    unsigned depth;
} schema_location;

static inline schema_location schema_member(const schema_location *up, slice key)
{
    return (schema_location){up, key, 0, up->depth + 1};
}

static inline schema_location schema_element(const schema_location *up, size_t index)
{
    return (schema_location){up, {NULL, 0}, index, up->depth + 1};
}

/* State of the validation of one value, or of the check of one schema. */
typedef struct schema_run {
    scan_value root;
    schema_errors *errors;
    bool all; /* collect all errors; otherwise stop at the first, and of alternatives keep the
                 deepest error */
    unsigned depth;
    size_t *steps;  /* remaining steps, see SCHEMA_STEPS_MAX */
    buf *unchecked; /* names of unchecked keywords, when a schema is checked */
} schema_run;

/* Adds an error and returns false. */
bool schema_refuse(schema_run *run, const schema_location *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Returns CARDBOX_INVALID with a message that lists as many of the errors as it can hold. There
 * is at least one. */
cardbox_status schema_status(const schema_errors *errors, cardbox_error *err);

/* The kind of a keyword's value. */
typedef enum schema_argument {
    ARGUMENT_ANY,
    ARGUMENT_TYPES, /* the name of a type, or a list of names */
    ARGUMENT_COUNT, /* an integer from 0 on */
    ARGUMENT_NUMBER,
    ARGUMENT_NAMES,  /* a list of strings */
    ARGUMENT_VALUES, /* a list that is not empty */
    ARGUMENT_SCHEMA,
    ARGUMENT_SCHEMAS, /* a list of schemas that is not empty */
    ARGUMENT_MAP,     /* an object of schemas */
    ARGUMENT_REFERENCE
} schema_argument;

struct keyword_check;

typedef struct schema_keyword {
    const char *name;
    schema_argument argument;
    bool (*holds)(const struct keyword_check *c); /* NULL: an annotation */
    scan_kind applies_to;                         /* for counts: the kind of value */
    bool is_maximum, is_exclusive;                /* for counts and bounds */
    const char *words;                            /* for the messages of counts and bounds */
} schema_keyword;

/* Finds a keyword by its name, a string token. NULL: it is not supported. */
const schema_keyword *schema_keyword_find(slice token);

/* Returns whether a value has the type that a string token names. */
bool schema_is_type(scan_value value, slice token);

/* Returns whether a valid schema has keywords that are not checked. As slow as checking the
 * schema. */
bool schema_is_partial(scan_value root);

/* Returns the schema that a reference such as "#/$defs/x" names. SCAN_NONE: there is none. */
scan_value schema_resolve(scan_value root, slice token);

#endif
