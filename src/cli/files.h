/*
 * files.h: the input and the output of a command. The input is the file that an argument names, or
 * the standard input. The output is the standard output or a file. An output file is renamed from
 * FILE.partial when it is complete.
 */
#ifndef CLI_FILES_H
#define CLI_FILES_H

#include <stdint.h>
#include <stdio.h>
#include "base/buf.h"

typedef struct cli_source {
    const char *name; /* for messages */
    FILE *in;         /* NULL: the file could not be opened */
    bool is_file;     /* a regular file, not a pipe or a terminal */
    uint64_t size;    /* bytes of a regular file; else 0 */
} cli_source;

/* Opens the file `argument`; NULL and "-" mean the standard input. False: an error was printed. */
bool source_open(cli_source *out, const char *argument);
void source_close(cli_source *source);

/* Reads the whole file `argument`, as source_open() opens it. False: an error was printed; it may
 * be that the file exceeds the maximum size of `out`. */
bool source_read(buf *out, const char *argument);

typedef struct cli_target {
    const char *name; /* NULL: the standard output */
    buf partial;      /* FILE.partial, to be renamed; empty: `name` is written directly */
    FILE *out;
    int failure; /* errno of a failed write; 0: none */
} cli_target;

/* Opens the output; `name` NULL or "-": the standard output. False: an error was printed. */
bool target_open(cli_target *target, const char *name);

/* Returns false if the write failed; then target_close() prints the error. */
bool target_write(cli_target *target, slice bytes);

/* Closes the output. If it is `complete` and was written, FILE.partial is renamed to FILE, else
 * removed. Returns false if the output is incomplete. Prints errors of files; cli_finish() prints
 * those of the standard output. */
bool target_close(cli_target *target, bool complete);

#endif
