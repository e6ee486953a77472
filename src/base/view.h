/*
 * view.h: borrowed text, as pointer and length. It may contain NUL bytes and has no terminator.
 */
#ifndef BASE_VIEW_H
#define BASE_VIEW_H

#include <stdbool.h>
#include <stddef.h>
#include <string.h>

typedef struct view {
    const char *ptr;
    size_t len;
} view;

/* A view of a string literal. */
#define VIEW(literal) ((view){"" literal, sizeof(literal) - 1})

static inline view view_of(const char *text)
{
    return text ? (view){text, strlen(text)} : (view){NULL, 0};
}

static inline bool view_equal(view a, view b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* The value of a hexadecimal digit, in upper or lower case; -1: it is no such digit. */
int view_hex_digit(char c);

/* Bytes of the well-formed UTF-8 character that text begins with, 1 to 4; 0 if there is none. */
size_t view_utf8_step(view text);

/* True if all bytes are well-formed UTF-8 (RFC 3629: no surrogates, no overlong forms). */
bool view_is_utf8(view text);

/* How many bytes of UTF-8 text fit `most` without cutting a character. */
size_t view_cut(view text, size_t most);

/* True if text is a valid id: 1 to max bytes of UTF-8 without control characters (C0, DEL). */
bool view_is_id(view text, size_t max);

#endif
