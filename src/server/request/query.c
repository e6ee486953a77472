/*
 * query.c: finds and decodes query parameters. A value is decoded only if the caller asks for it.
 */
#include "server/request/query.h"
#include "server/request/path.h"

/* True if the encoded name, which may have up to 64 bytes, decodes to `name`. */
static bool name_is(slice encoded, const char *name)
{
    char decoded[64];
    size_t len;
    if (encoded.len > sizeof(decoded) || !percent_decode(decoded, &len, encoded, true))
        return false;
    return slice_equal((slice){decoded, len}, slice_of(name));
}

bool query_next(slice *query, slice *name, slice *value)
{
    while (query->len > 0) {
        const char *next = memchr(query->ptr, '&', query->len);
        size_t len = next == NULL ? query->len : (size_t)(next - query->ptr);
        const char *equals = memchr(query->ptr, '=', len);
        *name = (slice){query->ptr, equals == NULL ? len : (size_t)(equals - query->ptr)};
        *value = equals == NULL ? (slice){"", 0} : (slice){equals + 1, len - name->len - 1};
        size_t step = next == NULL ? len : len + 1;
        *query = (slice){query->ptr + step, query->len - step};
        if (len > 0)
            return true;
    }
    return false;
}

query_result query_decode(slice *out, slice raw, arena *memory)
{
    char *decoded = arena_take(memory, raw.len + 1);
    if (decoded == NULL)
        return QUERY_NOMEM;
    *out = (slice){decoded, 0};
    if (!percent_decode(decoded, &out->len, raw, true) || !slice_is_utf8(*out) ||
        memchr(decoded, '\0', out->len) != NULL)
        return QUERY_MALFORMED;
    return QUERY_FOUND;
}

bool query_has(slice query, const char *name)
{
    slice raw_name, raw_value;
    while (query_next(&query, &raw_name, &raw_value))
        if (name_is(raw_name, name))
            return true;
    return false;
}

static bool is_zero_fraction(slice text)
{
    if (text.len < 2 || text.ptr[0] != '.')
        return false;
    for (size_t i = 1; i < text.len; i++)
        if (text.ptr[i] != '0')
            return false;
    return true;
}

bool query_integer(slice text, int64_t *out)
{
    text = slice_trim(text, " \t\r\n\f\v");
    bool negative = text.len > 0 && text.ptr[0] == '-';
    if (negative || (text.len > 0 && text.ptr[0] == '+'))
        text = (slice){text.ptr + 1, text.len - 1};
    size_t count = 0;
    while (count < text.len && text.ptr[count] >= '0' && text.ptr[count] <= '9')
        count++;
    slice rest = {text.ptr + count, text.len - count};
    if (count == 0 || (rest.len > 0 && !is_zero_fraction(rest)))
        return false;
    int64_t value = 0;
    for (size_t i = 0; i < count; i++) {
        int digit = text.ptr[i] - '0';
        value = value > (INT64_MAX - digit) / 10 ? INT64_MAX : value * 10 + digit;
    }
    *out = negative ? -value : value;
    return true;
}
