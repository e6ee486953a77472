/*
 * params.h: the parameters of one statement, in PostgreSQL's binary format, built in one buffer.
 * Each parameter has an explicit length, so texts may contain NUL bytes. After the first failure
 * the buffer stays failed.
 */
#ifndef DB_PARAMS_H
#define DB_PARAMS_H

#include "base/buf.h"
#include "base/uuid.h"

#define PARAMS_MAX 24

/* Microseconds from 1970-01-01 to 2000-01-01, the zero of PostgreSQL's timestamps. */
#define POSTGRES_EPOCH_MICROS INT64_C(946684800000000)

/* Maximum bytes of the parameters of one statement. A message to PostgreSQL is limited to 1 GiB. */
#define REQUEST_MAX ((size_t)900 * 1024 * 1024)

typedef enum params_type { /* PostgreSQL's OIDs of the types */
                           PARAMS_BOOL = 16,
                           PARAMS_BYTEA = 17,
                           PARAMS_INT8 = 20,
                           PARAMS_INT4 = 23,
                           PARAMS_TEXT = 25,
                           PARAMS_JSON = 114,
                           PARAMS_TIMESTAMPTZ = 1184,
                           PARAMS_UUID = 2950,
                           PARAMS_JSONB = 3802
} params_type;

typedef struct params {
    buf bytes;
    int count;
    size_t offsets[PARAMS_MAX];
    int lengths[PARAMS_MAX]; /* in bytes; -1: an SQL NULL */
    size_t array;            /* offset of the header of the array that is being built */
    bool in_array;
    int elements;
} params;

/* Empty parameters. All parameters that are added may have REQUEST_MAX bytes together. */
#define PARAMS_INIT ((params){.bytes = BUF_INIT(REQUEST_MAX)})

void params_free(params *p);

/* Each of the functions from params_null to params_timestamptz_or_null adds one parameter, or
 * between params_array and params_array_end one element of the array. */
void params_null(params *p);
void params_text(params *p, slice text);         /* text, json and bytea have the same format */
void params_cstr(params *p, const char *text);   /* NULL: an SQL NULL */
void params_text_or_null(params *p, slice text); /* ptr NULL: an SQL NULL */
void params_jsonb(params *p, slice text);        /* text must be JSON that jsonb accepts */
void params_bool(params *p, bool value);
void params_int4(params *p, int32_t value);
void params_int8(params *p, int64_t value);
void params_uuid(params *p, const uuid16 *id);
void params_int8_or_null(params *p, bool has, int64_t value);
void params_timestamptz_or_null(params *p, bool has, int64_t micros_since_1970);

void params_array(params *p, params_type element);
void params_array_end(params *p);

/* Adds the value that `at` points to. `type` determines its C type: bool, int32_t, int64_t or
 * uuid16; for PARAMS_TIMESTAMPTZ an int64_t of microseconds since 1970. For texts and JSON the
 * value is a slice; ptr NULL: an SQL NULL. */
void params_value(params *p, params_type type, const void *at);

/* Adds an array whose elements are one field of each of `count` structs. Example:
 * params_column(p, PARAMS_TEXT, keys, count, PARAMS_FIELD(card_key, card_id)). */
void params_column(params *p, params_type type, const void *structs, size_t count, size_t size,
                   size_t offset);
#define PARAMS_FIELD(type, field) sizeof(type), offsetof(type, field)

/* Makes the parameters fail if the buffer `text` has failed. To be called after adding values that
 * were built in `text`. */
void params_made_of(params *p, const buf *text);

/* Fills the arrays for libpq: values, lengths, formats (all binary). The values are valid until the
 * parameters are changed or freed. The parameters must not have failed. */
void params_finish(const params *p, const char *values[PARAMS_MAX], int lengths[PARAMS_MAX],
                   int formats[PARAMS_MAX]);

#endif
