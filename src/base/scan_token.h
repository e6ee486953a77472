/*
 * scan_token.h: the tokens of JSON, for the scan_*.c files and for code that reads a JSON string
 * character by character.
 */
#ifndef BASE_SCAN_TOKEN_H
#define BASE_SCAN_TOKEN_H

#include <stdint.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif
#include "base/scan.h"

/* Returns the valid JSON value in the bytes from `from` to before `to`. The first byte determines
 * its kind. */
scan_value scan_value_of(const char *from, const char *to);

/* The parts of a JSON number. The exponent is clamped to -SCAN_EXPONENT_MAX or SCAN_EXPONENT_MAX.
 */
typedef struct scan_number {
    bool negative;
    slice whole;    /* digits before the point, at least one */
    slice fraction; /* digits after the point; may be empty */
    int64_t exponent;
    const char *end; /* end of the number, or the position of its first error */
} scan_number;

#define SCAN_EXPONENT_MAX INT64_C(1000000000000)

bool scan_number_read(scan_number *out, const char *at, const char *end);

/* Returns the digit at `index`, counted through `whole` and then `fraction`. */
static inline int scan_digit(const scan_number *number, size_t index)
{
    size_t whole = number->whole.len;

    return (index < whole ? number->whole.ptr[index] : number->fraction.ptr[index - whole]) - '0';
}

/* Returns the SCAN_HAS_ flags of a number: SCAN_HAS_LONG_NUMBER or 0. */
unsigned scan_number_flags(const scan_number *number);

/* True if a decoded code point is half of a surrogate pair. */
static inline bool scan_is_half(uint32_t code)
{
    return code >= 0xD800 && code <= 0xDFFF;
}

/* Reads the escape at `at`, or the two escapes of a surrogate pair. Stores the code point. Returns
 * the position after the escape or pair, or NULL if the escape is malformed. */
const char *scan_escape(const char *at, const char *end, uint32_t *code);

/* Returns the next part of the decoded text of a string: bytes up to the next escape, or the
 * character of one escape, as UTF-8 in `storage`. `code` receives the code point of an escape, and
 * 'x' for other bytes. The part is empty at the end, and if an escape is malformed. */
slice scan_next_part(slice *rest, char storage[4], uint32_t *code);

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

/* Returns the position of the next quote or backslash, or `end` if there is none. If `at` is after
 * `end`, returns `at`. In texts with many quotes or backslashes memchr would cost too much. */
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

#ifdef __SSE2__
/* Returns a mask of the 16 bytes at `at`: a bit is 1 if its byte equals `c`. */
static inline uint64_t scan_equal_16(const char *at, char c)
{
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);

    return (uint64_t)(unsigned)_mm_movemask_epi8(_mm_cmpeq_epi8(bytes, _mm_set1_epi8(c)));
}

static inline uint64_t scan_equal_64(const char *at, char c)
{
    return scan_equal_16(at, c) | scan_equal_16(at + 16, c) << 16 |
           scan_equal_16(at + 32, c) << 32 | scan_equal_16(at + 48, c) << 48;
}

/* Returns a mask of the escaped bytes among `width` bytes: every second backslash of a run of
 * backslashes, and the byte after a run of odd length. A subtraction at the start of a run carries
 * to its end, so one subtraction handles all runs. Before the call, `carry` is 1 if the first byte
 * is escaped. After the call, `carry` is 1 if the byte after the last one is escaped. */
static inline uint64_t scan_escaped(uint64_t backslashes, unsigned width, uint64_t *carry)
{
    const uint64_t odd_bits = UINT64_C(0xAAAAAAAAAAAAAAAA);
    uint64_t begun = backslashes & ~*carry;
    uint64_t codes = (((begun << 1) | odd_bits) - begun) ^ odd_bits;
    uint64_t escaped = codes ^ (backslashes | *carry);

    *carry = (codes & backslashes) >> (width - 1) & 1;
    return escaped;
}
#endif

/* Returns the position after the closing quote of the valid string token that starts at `at`. Most
 * strings are short, so 16 bytes are examined first, and then 64 bytes at a time. */
static inline const char *scan_skip_string(const char *at, const char *end)
{
    uint64_t carry = 0; /* 1: the next byte is escaped */

    at++;
#ifdef __SSE2__
    for (unsigned width = 16; end - at >= (ptrdiff_t)width; at += width, width = 64) {
        bool is_first = width == 16;
        uint64_t quotes = is_first ? scan_equal_16(at, '"') : scan_equal_64(at, '"');
        uint64_t backslashes = is_first ? scan_equal_16(at, '\\') : scan_equal_64(at, '\\');

        if ((backslashes | carry) != 0)
            quotes &= ~scan_escaped(backslashes, width, &carry);
        if (quotes != 0)
            return at + __builtin_ctzll(quotes) + 1;
    }
#endif
    if (carry != 0 && at < end)
        at++;
    for (at = scan_next_special(at, end); at < end; at = scan_next_special(at + 2, end)) {
        if (*at == '"')
            return at + 1;
    }
    return end;
}

#endif
