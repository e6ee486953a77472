/*
 * format_line.h: one line of bounded text, for reasons that people read and that become JSON:
 * whatever was put into it, it is UTF-8 without control characters, cut between characters.
 */
#ifndef WORKER_FORMAT_LINE_H
#define WORKER_FORMAT_LINE_H

#include <stddef.h>

void format_line(char *out, size_t size, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
