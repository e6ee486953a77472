/*
 * lines.h: reads a file line by line, in memory that the longest allowed line bounds. Knows nothing
 * of what the lines say.
 */
#ifndef CLI_LINES_H
#define CLI_LINES_H

#include <stdint.h>
#include <stdio.h>
#include "base/buf.h"

typedef enum line_state { LINE_READ, LINE_TOO_LONG, LINE_END, LINE_FAILED } line_state;

typedef struct line_reader {
    FILE *in;
    uint64_t bytes; /* taken so far */
    size_t at, end; /* what is left of the chunk */
    buf line;       /* a line that crosses chunks */
    char chunk[65536];
} line_reader;

/* `in` stays the caller's. */
void lines_init(line_reader *reader, FILE *in, size_t longest);
void lines_free(line_reader *reader);

/* The next line, without its newline, lent until the next call. A line over the limit is passed
 * over and reported as LINE_TOO_LONG. LINE_FAILED: errno says why. */
line_state lines_next(line_reader *reader, view *line);

#endif
