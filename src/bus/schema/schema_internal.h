/*
 * schema_internal.h: declarations that the schema*.c files share: the table of keywords, and
 * locations in a value or a schema.
 */
#ifndef BUS_SCHEMA_INTERNAL_H
#define BUS_SCHEMA_INTERNAL_H

#include "bus/schema/schema.h"

/* A location in a value or a schema, as a chain of steps on the stack. A location is written as
 * text only for an error. */
typedef struct schema_location {
    const struct schema_location *up; /* location of the parent; NULL: this is the whole value */
    slice key; /* name of a member, as a string token or as text; ptr NULL: an array element */
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

/* The limits of a validation, that are not used up. */
typedef struct schema_work {
    size_t steps;        /* remaining steps; 0: the validation ends */
    size_t step_bytes;   /* number of bytes of a schema or value whose scan is a step; 0: any */
    int64_t deadline_ms; /* when the validation ends; 0: no limit */
    bool knows_partial, is_partial; /* is_partial: schema_is_partial(), once knows_partial is set */
} schema_work;

/* State of the validation of one value, or of the check of one schema. */
typedef struct schema_run {
    scan_value root;
    schema_errors *errors;
    bool all; /* true: collect all errors; false: stop at the first one, and keep the error at the
                 deepest location of all alternatives */
    unsigned depth;
    struct schema_work *work; /* shared by all parts of a validation */
    bool null_is_absent;      /* members that are not required may be null, whatever their schema */
    schema_names *unchecked;  /* names of unsupported keywords; set only if a schema is checked */
} schema_run;

/* Reports a violation and returns false. */
bool schema_refuse(schema_run *run, const schema_location *at, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Returns CARDBOX_INVALID with a message that lists the errors that fit into it, and the number of
 * the others. `errors` must contain at least one. */
cardbox_status schema_status(const schema_errors *errors, cardbox_error *err);

/* The form that the value of a keyword must have in a schema. */
typedef enum schema_argument {
    ARGUMENT_ANY,
    ARGUMENT_TYPES, /* the name of a type, or a list of names of types */
    ARGUMENT_COUNT, /* an integer that is not negative */
    ARGUMENT_NUMBER,
    ARGUMENT_NAMES,  /* a list of strings */
    ARGUMENT_VALUES, /* a list that is not empty */
    ARGUMENT_SCHEMA,
    ARGUMENT_SCHEMAS, /* a list of schemas that is not empty */
    ARGUMENT_MAP,     /* an object whose values are schemas */
    ARGUMENT_REFERENCE
} schema_argument;

struct keyword_check;

typedef struct schema_keyword {
    const char *name;
    schema_argument argument;
    bool (*holds)(const struct keyword_check *c); /* NULL: an annotation */
    scan_kind applies_to; /* for keywords that count: the kind of value that they restrict */
    bool is_maximum, is_exclusive; /* for keywords that limit a count or a number */
    const char *words; /* for messages: what such a keyword counts, or how it compares */
} schema_keyword;

/* Returns the keyword whose name is this string token; NULL: the keyword is not supported. */
const schema_keyword *schema_keyword_find(slice token);

/* Returns whether a value has the type that a string token names. */
bool schema_is_type(scan_value value, slice token);

/* Returns whether a valid schema has unsupported keywords. This is as slow as schema_check. */
bool schema_is_partial(scan_value root);

/* Returns the schema within `root` that a reference such as "#/$defs/x" names; SCAN_NONE: there is
 * none. */
scan_value schema_resolve(scan_value root, slice token);

#endif
