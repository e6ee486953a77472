/*
 * lines.c: lines of a file by chunks. A line inside of one chunk is lent from there without a copy.
 */
#include "cli/lines.h"

#include <errno.h>

void lines_init(line_reader *reader, FILE *in, size_t longest)
{
    reader->in = in;
    reader->bytes = 0;
    reader->at = 0;
    reader->end = 0;
    reader->line = BUF_INIT(longest);
}

void lines_free(line_reader *reader)
{
    buf_free(&reader->line);
}

/* False at the end and on a failure. */
static bool refill(line_reader *reader)
{
    reader->at = 0;
    reader->end = fread(reader->chunk, 1, sizeof(reader->chunk), reader->in);
    return reader->end > 0;
}

/* Gives what was gathered of a line that ended or that the file ended. */
static line_state give_gathered(line_reader *reader, view *line)
{
    if (reader->line.failure == BUF_TOO_LARGE)
        return LINE_TOO_LONG;
    if (reader->line.failure == BUF_NOMEM) {
        errno = ENOMEM;
        return LINE_FAILED;
    }
    *line = (view){buf_str(&reader->line), reader->line.len};
    return LINE_READ;
}

line_state lines_next(line_reader *reader, view *line)
{
    bool gathered = false;

    buf_reset(&reader->line, sizeof(reader->chunk));
    while (reader->at < reader->end || refill(reader)) {
        const char *from = reader->chunk + reader->at;
        const char *newline = memchr(from, '\n', reader->end - reader->at);
        size_t length = newline ? (size_t)(newline - from) : reader->end - reader->at;

        reader->at += length + (newline != NULL);
        reader->bytes += length + (newline != NULL);
        if (newline != NULL && !gathered) {
            *line = (view){from, length};
            return LINE_READ;
        }
        buf_add(&reader->line, from, length);
        gathered = true;
        if (newline != NULL)
            return give_gathered(reader, line);
    }
    if (ferror(reader->in))
        return LINE_FAILED;
    return gathered ? give_gathered(reader, line) : LINE_END;
}
