/*
 * line_reader.c: finds lines in chunks. A line is copied only if no newline ends it in the chunk in
 * which it begins.
 */
#include "app/line_reader.h"

#include <errno.h>
#include <stdio.h>

void line_reader_init(line_reader *reader, size_t longest, line_source source, void *arg)
{
    *reader = (line_reader){.source = source, .arg = arg, .line = BUF_INIT(longest)};
}

void line_reader_free(line_reader *reader)
{
    buf_free(&reader->line);
}

static bool refill(line_reader *reader)
{
    ssize_t len = reader->source(reader->arg, reader->chunk, sizeof(reader->chunk));

    reader->at = 0;
    reader->end = len > 0 ? (size_t)len : 0;
    reader->failed = len < 0;
    return len > 0;
}

static line_state return_collected(line_reader *reader, slice *line)
{
    if (reader->line.failure == BUF_TOO_LARGE)
        return LINE_TOO_LONG;
    if (reader->line.failure == BUF_NOMEM) {
        errno = ENOMEM;
        return LINE_FAILED;
    }
    *line = buf_as_slice(&reader->line);
    return LINE_READ;
}

line_state line_reader_next(line_reader *reader, slice *line)
{
    bool collected = false;

    buf_reset(&reader->line, sizeof(reader->chunk));
    while (reader->at < reader->end || refill(reader)) {
        const char *from = reader->chunk + reader->at;
        const char *newline = memchr(from, '\n', reader->end - reader->at);
        size_t length = newline ? (size_t)(newline - from) : reader->end - reader->at;

        reader->at += length + (newline != NULL);
        reader->bytes += length + (newline != NULL);
        if (newline != NULL && !collected) {
            *line = (slice){from, length};
            return length <= reader->line.max ? LINE_READ : LINE_TOO_LONG;
        }
        buf_add(&reader->line, from, length);
        collected = true;
        if (newline != NULL)
            return return_collected(reader, line);
    }
    if (reader->failed)
        return LINE_FAILED;
    return collected ? return_collected(reader, line) : LINE_END;
}

ssize_t line_reader_from_file(void *file, char *to, size_t room)
{
    size_t len = fread(to, 1, room, file);

    return len == 0 && ferror((FILE *)file) ? -1 : (ssize_t)len;
}

bool line_reader_first(char *out, size_t size, const char *path)
{
    FILE *file = fopen(path, "re");

    if (file == NULL)
        return false;
    bool found = fgets(out, (int)size, file) != NULL;
    fclose(file);
    return found;
}
