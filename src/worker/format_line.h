/*
 * format_line.h: formats one line of limited length for messages and JSON. The result is always
 * UTF-8 without control characters.
 */
#ifndef WORKER_FORMAT_LINE_H
#define WORKER_FORMAT_LINE_H

#include <stddef.h>

void format_line(char *out, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Formats the reason of a failure, and is false: the value that the failed function returns. */
#define format_reason(out, size, ...) (format_line((out), (size), __VA_ARGS__), false)

#endif
