/*
 * files.h: the input and the output of commands: a file, the standard input or the standard output.
 * An output FILE is written as FILE.partial, and gets its name when it is complete. An existing
 * FILE that is not a regular file is written directly.
 */
#ifndef CLI_FILES_H
#define CLI_FILES_H

#include <stdint.h>
#include <stdio.h>
#include "base/buf.h"

typedef struct cli_source {
    const char *name; /* the name of the input in messages */
    FILE *in;         /* NULL: the file could not be opened */
    bool is_file;     /* true: the input is a regular file, not a pipe or a terminal */
    uint64_t size;    /* size of a regular file in bytes; 0 for other inputs */
} cli_source;

/* Opens the file named `argument`, or the standard input if `argument` is NULL or "-". False: an
 * error was printed. */
bool source_open(cli_source *out, const char *argument);
void source_close(cli_source *source);

/* Reads an input, opened as source_open() does, to its end. False: an error was printed, for
 * example because the input exceeds the maximum size of `out`. */
bool source_read(buf *out, const char *argument);

typedef struct cli_target {
    const char *name; /* name of the file; NULL: the standard output */
    buf partial;      /* name of FILE.partial; empty: the output is written directly */
    FILE *out;
    int failure; /* errno of the last failure; 0: there was none */
} cli_target;

/* Opens the file `name` for writing, or the standard output if `name` is NULL or "-". False: an
 * error was printed. */
bool target_open(cli_target *target, const char *name);

/* Returns false if the write failed. target_close() or cli_finish() prints the error later. */
bool target_write(cli_target *target, slice bytes);

/* Closes the output. FILE.partial is renamed to FILE if `complete` is true and no write has failed;
 * if not, FILE.partial is removed. Returns true if the output is complete. Prints errors of a file;
 * cli_finish() prints errors of the standard output. */
bool target_close(cli_target *target, bool complete);

#endif
