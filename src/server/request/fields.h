/*
 * fields.h: reads the members of a JSON object, or the parameters of a query, by a table of names
 * and kinds. Faults are collected in a validation. A name that is not in the table is a fault,
 * except in a query that is read leniently. Knows no request.
 */
#ifndef SERVER_FIELDS_H
#define SERVER_FIELDS_H

#include "base/uuid.h"
#include "server/request/validation.h"

typedef enum field_kind {
    FIELD_ANY,    /* any JSON value, which is stored in `json` */
    FIELD_OBJECT, /* a JSON object, which is stored in `json` */
    FIELD_ARRAY,
    FIELD_TEXT,    /* a string of up to `most` bytes of UTF-8, in `text` */
    FIELD_ID,      /* text of 1 to `most` bytes without control characters, in `text` */
    FIELD_UUID,    /* `uuid` */
    FIELD_BOOL,    /* true or false, as 1 or 0 in `number` */
    FIELD_INTEGER, /* an integer from `least` to `most`, in `number` */
    FIELD_LIMIT,   /* an integer, in `number`; raised to `least` or reduced to `most` */
    FIELD_CHOICE,  /* one of the texts in `choices`; its index is stored in `number` */
    FIELD_TIME, /* a time of RFC 3339 with an offset, in `text`; `number`: microseconds since 1970
                 */
    FIELD_IDS,  /* an array of `least` to `most` card ids, in `json`; their number is in `count` */
    FIELD_UUIDS /* an array of `least` to `most` UUIDs, in `json`; their number is in `count` */
} field_kind;

typedef struct field {
    const char *name; /* in a query, a name that ends in '.' matches all longer names that begin
                         with this text */
    field_kind kind;
    bool required;
    size_t repeats; /* maximum number of values of a query parameter, which are stored in `list`; 0:
                       one value, which is not stored in `list` */
    int64_t least, most;
    const char *const *choices; /* NULL ends them */
} field;

/* The maximum of `repeats`. */
#define FIELD_REPEATS_MAX 100

/* One value of a parameter that may be repeated. */
typedef struct field_pair {
    slice key; /* the part of the parameter's name after the '.' */
    slice text;
} field_pair;

typedef struct field_value {
    bool given; /* the field is present; null counts as absent, unless the field is required */
    scan_value json;
    slice text;
    int64_t number;
    uuid16 uuid;
    size_t count;
    const field_pair *list;
} field_value;

/* Reads the members of an object into `values`, one for each of `count` fields. If a name of the
 * table occurs twice, the body is malformed. */
void fields_read_object(field_value *values, const field *table, size_t count, scan_value object,
                        const validation_path *at, validation *s);

/* Reads one member of the body, and returns its `number`. `f` must have a kind of field that sets
 * `number`. */
int64_t fields_read_number(const field *f, scan_value value, validation *s);

/* Reads the parameters of a query. With `lenient`, unknown parameters are ignored, and of
 * parameters with the same name the last one is read. Without `lenient`, unknown parameters are
 * faults, and so are parameters that occur too often. */
void fields_read_query(field_value *values, const field *table, size_t count, slice query,
                       bool lenient, validation *s);

#endif
