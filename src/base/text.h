/*
 * text.h: text of bounded length for people: messages, reasons, lines of a log.
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdarg.h>
#include <stddef.h>

/* vsnprintf, but what does not fit is cut between characters, not inside of one. */
void text_format(char *out, size_t size, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

/* Replaces control characters by spaces, and bytes that are not UTF-8 by question marks. */
void text_clean(char *text);

/* Formats one line of clean text. */
void format_line(char *out, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Formats the reason of a failure, and is false: the value that the failed function returns. */
#define format_reason(out, size, ...) (format_line((out), (size), __VA_ARGS__), false)

#endif
