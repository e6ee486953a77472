/*
 * target.h: the output of a command: the standard output, or a file that is renamed from its
 * partial name when it is complete.
 */
#ifndef CLI_TARGET_H
#define CLI_TARGET_H

#include <stdio.h>
#include "base/buf.h"

typedef struct cli_target {
    const char *name; /* NULL: the standard output */
    buf partial;      /* the name of an incomplete file; empty: none */
    FILE *out;
    int failure; /* errno of a write */
} cli_target;

/* `name` NULL or "-": the standard output. */
cli_target target_of(const char *name);

/* False: an error was printed. */
bool target_open(cli_target *target);

/* False: it failed; target_close reports it. */
bool target_write(cli_target *target, slice bytes);

/* Closes it. Renames the file if its contents are `complete`, else removes it. False: it is
 * incomplete; errors of files are printed, those of the standard output by cli_finish. */
bool target_close(cli_target *target, bool complete);

#endif
