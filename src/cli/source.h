/*
 * source.h: the input of a command: the file that an argument names, or the standard input.
 */
#ifndef CLI_SOURCE_H
#define CLI_SOURCE_H

#include <stdint.h>
#include <stdio.h>
#include "base/buf.h"

typedef struct cli_source {
    const char *name; /* for messages */
    FILE *in;         /* NULL: it could not be opened */
    bool is_file;     /* not a pipe, a terminal or such */
    uint64_t size;    /* bytes of a file, else 0 */
} cli_source;

/* Opens it; NULL and "-" are the standard input. False: an error was printed. */
bool source_open(cli_source *out, const char *argument);
void source_close(cli_source *source);

/* Reads all of it, up to the limit of `out`. False: an error was printed. */
bool source_read(buf *out, const char *argument);

#endif
