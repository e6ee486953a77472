/*
 * line_reader.h: reads lines from a source of chunks, such as a file. The memory that is used
 * depends on the longest allowed line, not on the size of the source.
 */
#ifndef APP_LINE_READER_H
#define APP_LINE_READER_H

#include <stdint.h>
#include <sys/types.h>
#include "base/buf.h"

typedef enum line_state { LINE_READ, LINE_TOO_LONG, LINE_END, LINE_FAILED } line_state;

/* A function that reads up to `room` bytes into `to` and returns their number. 0: the end.
 * Negative: reading failed, and errno has the reason. */
typedef ssize_t (*line_source)(void *arg, char *to, size_t room);

typedef struct line_reader {
    line_source source;
    void *arg;
    bool failed;
    uint64_t bytes; /* total bytes of the lines so far, with newlines */
    size_t at, end; /* unread bytes of `chunk`: from `at` to before `end` */
    buf line;       /* parts of a line that lies in several chunks */
    char chunk[65536];
} line_reader;

void line_reader_init(line_reader *reader, size_t longest, line_source source, void *arg);
void line_reader_free(line_reader *reader);

/* Stores the next line, without its newline, in *line. The text of *line is valid until the next
 * call. For a line over the limit, returns LINE_TOO_LONG; the next call continues after this line.
 * LINE_FAILED: errno has the reason. */
line_state line_reader_next(line_reader *reader, slice *line);

/* Reads the first line of a file with its newline, at most size - 1 bytes. False: the file can't be
 * read or is empty. */
bool line_reader_first(char *out, size_t size, const char *path);

/* A line_source that reads from `file`, a FILE * that the caller closes. */
ssize_t line_reader_from_file(void *file, char *to, size_t room);

#endif
