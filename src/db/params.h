/*
 * params.h: the parameters of one statement, in PostgreSQL's binary form, built in one buffer. All
 * have an explicit length, so that NULs and large values need no special care. After its first
 * failure it stays failed.
 */
#ifndef DB_PARAMS_H
#define DB_PARAMS_H

#include "base/buf.h"
#include "base/uuid.h"

#define PARAMS_MAX 22

/* Microseconds from 1970-01-01 to 2000-01-01, where PostgreSQL's timestamps begin. */
#define POSTGRES_EPOCH_MICROS INT64_C(946684800000000)

/* Bytes of one statement's parameters: a message to PostgreSQL ends at 1 GiB. */
#define REQUEST_MAX ((size_t)900 * 1024 * 1024)

typedef enum params_type { /* PostgreSQL's type OIDs, for the elements of arrays */
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
    int lengths[PARAMS_MAX]; /* -1: NULL */
    size_t array; /* offset of the open array's header; 0 is possible only when in_array */
    bool in_array;
    int elements;
} params;

/* No parameters, which may have REQUEST_MAX bytes together. */
#define PARAMS_INIT ((params){.bytes = BUF_INIT(REQUEST_MAX)})

void params_free(params *p);

/* Each of these adds one parameter; between params_array and params_array_end one element. */
void params_null(params *p);
void params_text(params *p, slice text);         /* json too: its binary form is the same */
void params_cstr(params *p, const char *text);   /* NULL: a null */
void params_text_or_null(params *p, slice text); /* ptr NULL: a null */
void params_jsonb(params *p, slice text);        /* valid JSON that jsonb accepts */
void params_bool(params *p, bool value);
void params_int4(params *p, int32_t value);
void params_int8(params *p, int64_t value);
void params_uuid(params *p, const uuid16 *id);
void params_int8_or_null(params *p, bool has, int64_t value);
void params_timestamptz_or_null(params *p, bool has, int64_t micros_since_1970);

void params_array(params *p, params_type element);
void params_array_end(params *p);

/* Appends the value at `at`. Its C type depends on `type`: bool, int32_t, int64_t, uuid16; for
 * PARAMS_TIMESTAMPTZ an int64_t of microseconds since 1970. For all other types it is a slice,
 * whose ptr NULL is a null. */
void params_value(params *p, params_type type, const void *at);

/* An array of one field of each of `count` structs:
 * params_column(p, PARAMS_TEXT, keys, count, PARAMS_FIELD(card_key, card_id)). */
void params_column(params *p, params_type type, const void *structs, size_t count, size_t size,
                   size_t offset);
#define PARAMS_FIELD(type, field) sizeof(type), offsetof(type, field)

/* Call after values were appended that were built in this buffer. If the buffer has failed, the
 * parameters fail too. */
void params_made_of(params *p, const buf *text);

/* Fills the arrays for libpq: values, lengths, formats (all binary). Pointers are valid until the
 * next change. No append may have failed. */
void params_finish(const params *p, const char *values[PARAMS_MAX], int lengths[PARAMS_MAX],
                   int formats[PARAMS_MAX]);

#endif
