/*
 * opts.h: command-line options from one table, which defines parsing, environment variables,
 * defaults and the help text.
 */
#ifndef APP_OPTS_H
#define APP_OPTS_H

#include <stdio.h>
#include "base/slice.h"

typedef enum opt_kind {
    OPT_FLAG,   /* bool *: has no value */
    OPT_TEXT,   /* const char **: borrowed from argv or the environment */
    OPT_INT,    /* long *: min to max */
    OPT_SIZE,   /* long *: bytes, with an optional suffix K, M or G; min to max */
    OPT_CHOICE, /* int *: the index of one of the words of `value`, which has | between them */
    OPT_LIST,   /* opt_list *: may be given several times; a variable is one value */
    OPT_END
} opt_kind;

/* The values of an option that may be given several times, borrowed from argv. */
#define OPT_LIST_MAX 64
typedef struct opt_list {
    const char *at[OPT_LIST_MAX];
    size_t count;
} opt_list;

typedef struct opt_spec {
    const char *name;  /* "dsn" for --dsn */
    opt_kind kind;     /* OPT_END closes the table */
    size_t offset;     /* offset of the field in the target struct */
    const char *env;   /* environment variable read where the option is absent, or NULL */
    const char *value; /* the value in the help text, "DSN" or "pi|plain"; NULL for flags */
    const char *help;  /* one line, lower case */
    long min, max;     /* for OPT_INT and OPT_SIZE */
} opt_spec;

/*
 * Reads --name VALUE, --name=VALUE, flags, and -h / --help, mixed with other arguments, up to "--".
 * An absent option is read from its variable, unless that is empty; 1 or 0, yes or no, true or
 * false for a flag. Without both, the field is unchanged. Other arguments move to the front of argv
 * (from argv[0] on), and *argc becomes their number. Returns 0; 1: help was requested; -1: wrong
 * usage, with one line in `error` (size bytes).
 */
int opts_parse(const opt_spec *specs, void *target, int *argc, char **argv, char *error,
               size_t size);

/* The same for programs without arguments: any argument that is not an option is an error. */
int opts_parse_alone(const opt_spec *specs, void *target, int *argc, char **argv, char *error,
                     size_t size);

/* Prints the table, aligned, with variables named, for --help. */
void opts_print(FILE *out, const opt_spec *specs);

#endif
