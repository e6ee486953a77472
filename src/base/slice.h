/*
 * slice.h: borrowed text, as pointer and length. A slice may contain NUL bytes and has no
 * terminator.
 */
#ifndef BASE_SLICE_H
#define BASE_SLICE_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef struct slice {
    const char *ptr;
    size_t len;
} slice;

/* A slice of a string literal. */
#define SLICE(literal) ((slice){"" literal, sizeof(literal) - 1})

static inline slice slice_of(const char *text)
{
    return text ? (slice){text, strlen(text)} : (slice){NULL, 0};
}

static inline bool slice_equal(slice a, slice b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* True if a text equals `word`. The case of ASCII letters is ignored. */
bool slice_equal_nocase(slice text, const char *word);

/* Returns the text without leading and trailing bytes that occur in `blanks`. */
slice slice_trim(slice text, const char *blanks);

/* Returns the value of a hexadecimal digit, in upper or lower case; -1: not a hexadecimal digit. */
int slice_hex_digit(char c);

/* Returns the length, 1 to 4 bytes, of the UTF-8 character at the start of a text; 0: the text does
 * not begin with a well-formed character. */
size_t slice_utf8_step(slice text);

/* True if all bytes are well-formed UTF-8 (RFC 3629: no surrogates, no overlong forms). */
bool slice_is_utf8(slice text);

/* Returns the length of the longest start of a UTF-8 text that has at most `most` bytes and ends
 * between characters. */
size_t slice_cut(slice text, size_t most);

/* True if a text is a valid id: 1 to `max` bytes of UTF-8 without control characters (C0, DEL). */
bool slice_is_id(slice text, size_t max);

/* Like slice_is_id, but the text may contain tabs, line feeds and carriage returns. */
bool slice_is_text(slice text, size_t max);

#endif
