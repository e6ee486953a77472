/*
 * text.h: texts for people in arrays of a fixed size: messages, reasons, lines of a log.
 */
#ifndef BASE_TEXT_H
#define BASE_TEXT_H

#include <stdarg.h>
#include <stddef.h>

/* Formats a text as vsnprintf does. A text that does not fit is cut between UTF-8 characters. */
void text_format(char *out, size_t size, const char *format, va_list args)
    __attribute__((format(printf, 3, 0)));

/* Replaces ASCII control characters by spaces, and bytes that are not UTF-8 by question marks. */
void text_clean(char *text);

/* Formats a text as text_format does, then cleans the text with text_clean. The result is one line.
 */
void format_line(char *out, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Formats the reason of a failure with format_line. The macro's value is false, which the function
 * that failed can return. */
#define format_reason(out, size, ...) (format_line((out), (size), __VA_ARGS__), false)

#endif
