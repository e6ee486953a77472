/*
 * params.c: PostgreSQL's binary parameter formats. Integers are big-endian. An array begins with
 * its number of dimensions, a flag for NULLs, the element type, the number of elements and the
 * lower bound. An element is its length and its bytes. Source: the _recv functions of
 * PostgreSQL's types.
 */
#include "db/params.h"

#include <arpa/inet.h>
#include <endian.h>
#include <limits.h>
#include <stdlib.h>

void params_free(params *p)
{
    buf_free(&p->bytes);
}

static void put_int4(buf *b, int32_t value)
{
    uint32_t wire = htonl((uint32_t)value);
    buf_add(b, &wire, sizeof(wire));
}

/* `len`: bytes of the value; -1: an SQL NULL. */
static void begin_value(params *p, int len)
{
    if (p->in_array) {
        p->elements++;
        put_int4(&p->bytes, len);
        return;
    }
    if (p->count == PARAMS_MAX) {
        p->bytes.failure = BUF_TOO_LARGE; /* no statement has more than PARAMS_MAX parameters */
        return;
    }
    p->offsets[p->count] = p->bytes.len;
    p->lengths[p->count] = len;
    p->count++;
}

static void put_bytes(params *p, const void *bytes, size_t len)
{
    if (len > INT_MAX / 2) {
        p->bytes.failure = BUF_TOO_LARGE;
        return;
    }
    begin_value(p, (int)len);
    buf_add(&p->bytes, bytes, len);
}

void params_null(params *p)
{
    begin_value(p, -1);
}

void params_text(params *p, slice text)
{
    put_bytes(p, text.ptr, text.len);
}

void params_cstr(params *p, const char *text)
{
    params_text_or_null(p, slice_of(text));
}

void params_text_or_null(params *p, slice text)
{
    if (text.ptr == NULL)
        params_null(p);
    else
        params_text(p, text);
}

void params_jsonb(params *p, slice text)
{
    if (text.len > INT_MAX / 2) {
        p->bytes.failure = BUF_TOO_LARGE;
        return;
    }
    begin_value(p, (int)text.len + 1);
    buf_char(&p->bytes, 1); /* version of the binary format of jsonb */
    buf_slice(&p->bytes, text);
}

void params_bool(params *p, bool value)
{
    char wire = value ? 1 : 0;
    put_bytes(p, &wire, 1);
}

void params_int4(params *p, int32_t value)
{
    uint32_t wire = htonl((uint32_t)value);
    put_bytes(p, &wire, sizeof(wire));
}

void params_int8(params *p, int64_t value)
{
    uint64_t wire = htobe64((uint64_t)value);
    put_bytes(p, &wire, sizeof(wire));
}

void params_int8_or_null(params *p, bool has, int64_t value)
{
    if (has)
        params_int8(p, value);
    else
        params_null(p);
}

void params_uuid(params *p, const uuid16 *id)
{
    put_bytes(p, id->bytes, sizeof(id->bytes));
}

static void params_timestamptz(params *p, int64_t micros_since_1970)
{
    if (micros_since_1970 == INT64_MAX)
        params_int8(p, INT64_MAX); /* infinity */
    else if (micros_since_1970 < INT64_MIN + POSTGRES_EPOCH_MICROS)
        params_int8(p, INT64_MIN);
    else
        params_int8(p, micros_since_1970 - POSTGRES_EPOCH_MICROS);
}

void params_timestamptz_or_null(params *p, bool has, int64_t micros_since_1970)
{
    if (has)
        params_timestamptz(p, micros_since_1970);
    else
        params_null(p);
}

/* Offset of the number of elements in an array's header. */
enum { ARRAY_COUNT = 12 };

void params_array(params *p, params_type element)
{
    begin_value(p, 0);
    p->array = p->bytes.len;
    p->elements = 0;
    p->in_array = true;
    put_int4(&p->bytes, 1); /* dimensions */
    put_int4(&p->bytes, 1); /* elements may be NULL */
    put_int4(&p->bytes, (int32_t)element);
    put_int4(&p->bytes, 0); /* number of elements; params_array_end sets it */
    put_int4(&p->bytes, 1); /* lower bound */
}

void params_array_end(params *p)
{
    p->in_array = false;
    if (!buf_ok(&p->bytes))
        return;
    uint32_t count = htonl((uint32_t)p->elements);
    memcpy(p->bytes.data + p->array + ARRAY_COUNT, &count, sizeof(count));
    size_t len = p->bytes.len - p->array;
    if (len > INT_MAX / 2)
        p->bytes.failure = BUF_TOO_LARGE;
    else
        p->lengths[p->count - 1] = (int)len;
}

void params_value(params *p, params_type type, const void *at)
{
    switch (type) {
    case PARAMS_BOOL:
        params_bool(p, *(const bool *)at);
        break;
    case PARAMS_INT4:
        params_int4(p, *(const int32_t *)at);
        break;
    case PARAMS_INT8:
        params_int8(p, *(const int64_t *)at);
        break;
    case PARAMS_TIMESTAMPTZ:
        params_timestamptz(p, *(const int64_t *)at);
        break;
    case PARAMS_UUID:
        params_uuid(p, at);
        break;
    case PARAMS_JSONB:
        if (((const slice *)at)->ptr == NULL)
            params_null(p);
        else
            params_jsonb(p, *(const slice *)at);
        break;
    case PARAMS_TEXT:
    case PARAMS_JSON:
    case PARAMS_BYTEA:
        params_text_or_null(p, *(const slice *)at);
        break;
    }
}

void params_column(params *p, params_type type, const void *structs, size_t count, size_t size,
                   size_t offset)
{
    params_array(p, type);
    for (size_t i = 0; i < count; i++)
        params_value(p, type, (const char *)structs + i * size + offset);
    params_array_end(p);
}

void params_made_of(params *p, const buf *text)
{
    if (!buf_ok(text))
        p->bytes.failure = text->failure;
}

void params_finish(const params *p, const char *values[PARAMS_MAX], int lengths[PARAMS_MAX],
                   int formats[PARAMS_MAX])
{
    for (int i = 0; i < p->count; i++) {
        bool null = p->lengths[i] < 0;
        values[i] = null ? NULL : buf_str(&p->bytes) + p->offsets[i];
        lengths[i] = null ? 0 : p->lengths[i];
        formats[i] = 1;
    }
}
