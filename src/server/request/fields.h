/*
 * fields.h: reads the members of a JSON object, or the parameters of a query, by a table of names
 * and kinds. Faults are collected in a validation. A name that is not in the table is a fault,
 * unless the reader ignores unknown names. Knows no request.
 */
#ifndef SERVER_FIELDS_H
#define SERVER_FIELDS_H

#include "base/uuid.h"
#include "server/request/validation.h"

typedef enum field_kind {
    FIELD_ANY,    /* any JSON value: its text in `json` */
    FIELD_OBJECT, /* the same, of one kind */
    FIELD_ARRAY,
    FIELD_TEXT,    /* up to `most` bytes that UTF-8 can hold: `text` */
    FIELD_ID,      /* 1 to `most` bytes without control characters: `text` */
    FIELD_UUID,    /* `uuid` */
    FIELD_BOOL,    /* `number`, 0 or 1 */
    FIELD_INTEGER, /* `number`, `least` to `most` */
    FIELD_LIMIT,   /* `number`, brought into `least` to `most` */
    FIELD_CHOICE,  /* one of `choices`; its index is stored in `number` */
    FIELD_TIME,    /* RFC 3339 with an offset: `number`, microseconds since 1970 */
    FIELD_IDS,  /* an array of up to `most` card ids: stored in `json`, their number in `count` */
    FIELD_UUIDS /* the same of UUIDs */
} field_kind;

typedef struct field {
    const char *name; /* in a query, a name that ends in '.' matches all that begin with it */
    field_kind kind;
    bool required;
    size_t repeats; /* in a query: the maximum number of repetitions; the values are stored in
                       `list` */
    int64_t least, most;
    const char *const *choices; /* NULL ends them */
} field;

/* The largest `repeats` of a field. */
#define FIELD_REPEATS_MAX 100

/* One of a repeated parameter. */
typedef struct field_pair {
    slice key; /* the part of the parameter's name after the '.' */
    slice text;
} field_pair;

typedef struct field_value {
    bool given; /* it is there, and not null */
    scan_value json;
    slice text;
    int64_t number;
    uuid16 uuid;
    size_t count;
    const field_pair *list;
} field_value;

/* Reads the members of an object into `values`, one for each of `count` fields. If a name occurs
 * twice, the body is malformed. */
void fields_read_object(field_value *values, const field *table, size_t count, scan_value object,
                        const validation_path *at, validation *s);

/* Reads one member of the body, of a kind with a number. */
int64_t fields_read_number(const field *f, scan_value value, validation *s);

/* Reads the parameters of a query. With `lenient`, unknown parameters are ignored, and the last
 * one of a name counts; otherwise both are faults. */
void fields_read_query(field_value *values, const field *table, size_t count, slice query,
                       bool lenient, validation *s);

#endif
