/*
 * scan_token.h: the tokens of JSON, for the scan_*.c files only. Knows the grammar of strings and
 * numbers and nothing of arrays and objects.
 */
#ifndef BASE_SCAN_TOKEN_H
#define BASE_SCAN_TOKEN_H

#include <stdint.h>
#include "base/scan.h"

/* The value of a valid text from `from` up to `to`, its kind told by its first byte. */
scan_value scan_value_of(const char *from, const char *to);

/* A number's parts, still as text. The exponent is clamped to +-SCAN_EXPONENT_MAX. */
typedef struct scan_number {
    bool negative;
    bool has_exponent;
    view whole;    /* digits before the point, at least one */
    view fraction; /* digits after it, may be none */
    int64_t exponent;
    const char *end; /* after the number; where it failed, if it did */
} scan_number;

#define SCAN_EXPONENT_MAX INT64_C(1000000000000)

bool scan_number_read(scan_number *out, const char *at, const char *end);

/* The SCAN_HAS_ flags that apply to it. */
unsigned scan_number_flags(const scan_number *number);

/* Half of a surrogate pair that stands alone. */
static inline bool scan_is_half(uint32_t code)
{
    return code >= 0xD800 && code <= 0xDFFF;
}

/* Reads the escape at `at`, both of a surrogate pair. Gives its code point and the place after it,
 * NULL if it is malformed. */
const char *scan_escape(const char *at, const char *end, uint32_t *code);

/* The code point as UTF-8, 1 to 4 bytes; half a pair in the same manner, as 3 bytes that no UTF-8
 * text holds. */
size_t scan_encode(char out[4], uint32_t code);

/* What is between a string token's quotes. */
view scan_inside(view token);

/* The piece of a string's inside that comes next: a run of plain bytes, or what an escape says,
 * kept in `storage` with its `code`. Empty at the end. */
view scan_next_piece(view *rest, char storage[4], uint32_t *code);

static inline bool scan_is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static inline const char *scan_skip_space(const char *at, const char *end)
{
    while (at < end && scan_is_space(*at))
        at++;
    return at;
}

/* From the opening quote of a valid string to the place after the closing one. */
static inline const char *scan_skip_string(const char *at, const char *end)
{
    at++;
    while (at < end) {
        const char *quote = memchr(at, '"', (size_t)(end - at));
        const char *before = quote;

        if (quote == NULL)
            return end;
        while (before > at && before[-1] == '\\')
            before--;
        at = quote + 1;
        if ((quote - before) % 2 == 0)
            return at;
    }
    return end;
}

#endif
