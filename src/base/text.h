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

#endif
