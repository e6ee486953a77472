/*
 * line_reader.h: reads text line by line from chunks, in memory that the longest allowed line
 * bounds. Does not depend on the source or the contents of the lines.
 */
#ifndef APP_LINE_READER_H
#define APP_LINE_READER_H

#include <stdint.h>
#include <sys/types.h>
#include "base/buf.h"

typedef enum line_state { LINE_READ, LINE_TOO_LONG, LINE_END, LINE_FAILED } line_state;

/* Reads up to `room` bytes into `to` and returns their number. 0: the end. Negative: it failed, see
 * errno. */
typedef ssize_t (*line_source)(void *arg, char *to, size_t room);

typedef struct line_reader {
    line_source source;
    void *arg;
    bool failed;
    uint64_t bytes; /* taken so far */
    size_t at, end; /* the rest of the chunk */
    buf line;       /* a line that crosses chunks */
    char chunk[65536];
} line_reader;

void line_reader_init(line_reader *reader, size_t longest, line_source source, void *arg);
void line_reader_free(line_reader *reader);

/* Returns the next line without its newline; it is valid until the next call. A line over the limit
 * is skipped and reported as LINE_TOO_LONG. LINE_FAILED: see errno. */
line_state line_reader_next(line_reader *reader, slice *line);

/* Reads the first line of a file, with its newline. False: there is none. */
bool line_reader_first(char *out, size_t size, const char *path);

/* The source of lines that are in a FILE, which stays the caller's. */
ssize_t line_reader_from_file(void *file, char *to, size_t room);

#endif
