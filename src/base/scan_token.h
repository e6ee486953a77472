/*
 * scan_token.h: the tokens of JSON, for the scan_*.c files only. Knows the grammar of strings and
 * numbers and nothing of arrays and objects.
 */
#ifndef BASE_SCAN_TOKEN_H
#define BASE_SCAN_TOKEN_H

#include <stdint.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif
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

/* The next quote or backslash of a string, else `end` or what lies behind it. What tools print has
 * one every few bytes, and then a call of memchr for each costs more than the bytes do. */
static inline const char *scan_next_special(const char *at, const char *end)
{
#ifdef __SSE2__
    const __m128i quotes = _mm_set1_epi8('"'), backslashes = _mm_set1_epi8('\\');

    for (; end - at >= 16; at += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
        int found = _mm_movemask_epi8(
            _mm_or_si128(_mm_cmpeq_epi8(bytes, quotes), _mm_cmpeq_epi8(bytes, backslashes)));
        if (found != 0)
            return at + __builtin_ctz((unsigned)found);
    }
#endif
    while (at < end && *at != '"' && *at != '\\')
        at++;
    return at;
}

/* Steps over sixteen bytes of a string at a time, up to its closing quote, to two backslashes side
 * by side, or to the last bytes, and never stops between a backslash and what it escapes. */
static inline const char *scan_skip_blocks(const char *at, const char *end)
{
    unsigned escaped = 0; /* whether the next byte is */
#ifdef __SSE2__
    for (; end - at >= 16; at += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
        __m128i quotes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
        __m128i backslashes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
        unsigned found = (unsigned)_mm_movemask_epi8(backslashes) & ~escaped;
        if ((found & found << 1) != 0)
            break;
        escaped |= found << 1;
        if (((unsigned)_mm_movemask_epi8(quotes) & ~escaped) != 0) {
            escaped &= 1;
            break;
        }
        escaped >>= 16;
    }
#endif
    return at + escaped;
}

/* From the opening quote of a valid string to the place after the closing one. */
static inline const char *scan_skip_string(const char *at, const char *end)
{
    at = scan_skip_blocks(at + 1, end);
    for (at = scan_next_special(at, end); at < end; at = scan_next_special(at + 2, end)) {
        if (*at == '"')
            return at + 1;
    }
    return end;
}

#endif
