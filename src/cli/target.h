/*
 * target.h: where a command writes much: the standard output, or a file that takes its name when it
 * is whole, so that half of it is never taken for all. Knows nothing of what is written.
 */
#ifndef CLI_TARGET_H
#define CLI_TARGET_H

#include <stdio.h>
#include "base/buf.h"

typedef struct cli_target {
    const char *name; /* NULL: the standard output */
    buf partial;      /* what the file is called until it is whole; empty: written in place */
    FILE *out;
    int failure; /* errno of a write */
} cli_target;

/* `name` NULL or "-": the standard output. */
cli_target target_of(const char *name);

/* False: why was said. */
bool target_open(cli_target *target);

/* False: it failed, and target_close will say why. */
bool target_write(cli_target *target, slice bytes);

/* Closes it; gives the file its name if what is to be in it is `whole`, else removes it. True: all
 * is there. False is said, but for the standard output, of which the end of the program speaks. */
bool target_close(cli_target *target, bool whole);

#endif
