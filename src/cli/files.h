/*
 * files.h: the input and the output of a command. The input is the file that an argument names, or
 * the standard input. The output is the standard output or a file. The file gets its name when
 * it is complete.
 */
#ifndef CLI_FILES_H
#define CLI_FILES_H

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

typedef struct cli_target {
    const char *name; /* NULL: the standard output */
    buf partial;      /* the name of an incomplete file; empty: none */
    FILE *out;
    int failure; /* errno of a write */
} cli_target;

/* `name` NULL or "-": the standard output. False: an error was printed. */
bool target_open(cli_target *target, const char *name);

/* False: it failed; target_close reports it. */
bool target_write(cli_target *target, slice bytes);

/* Closes it. Renames the file if its contents are `complete`, else removes it. False: it is
 * incomplete; errors of files are printed, those of the standard output by cli_finish. */
bool target_close(cli_target *target, bool complete);

#endif
