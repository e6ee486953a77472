/*
 * line_reader.h: reads lines from a source of chunks, such as a file. The memory is limited by the
 * longest allowed line. Does not depend on the source or the contents of the lines.
 */
#ifndef APP_LINE_READER_H
#define APP_LINE_READER_H

#include <stdint.h>
#include <sys/types.h>
#include "base/buf.h"

typedef enum line_state { LINE_READ, LINE_TOO_LONG, LINE_END, LINE_FAILED } line_state;

/* Reads up to `room` bytes into `to` and returns their number. 0: the end. Negative: reading
 * failed, see errno. */
typedef ssize_t (*line_source)(void *arg, char *to, size_t room);

typedef struct line_reader {
    line_source source;
    void *arg;
    bool failed;
    uint64_t bytes; /* number of bytes of the lines that were read so far */
    size_t at, end; /* range of the bytes of `chunk` that are not read yet */
    buf line;       /* a line that began in an earlier chunk */
    char chunk[65536];
} line_reader;

void line_reader_init(line_reader *reader, size_t longest, line_source source, void *arg);
void line_reader_free(line_reader *reader);

/* Stores the next line without its newline in *line, where it is valid until the next call. A line
 * over the limit is skipped and reported as LINE_TOO_LONG. LINE_FAILED: see errno. */
line_state line_reader_next(line_reader *reader, slice *line);

/* Reads the first line of a file, with its newline, up to size - 1 bytes. False: the file can't be
 * read or is empty. */
bool line_reader_first(char *out, size_t size, const char *path);

/* A line_source that reads from `file`, a FILE * that the caller closes. */
ssize_t line_reader_from_file(void *file, char *to, size_t room);

#endif
