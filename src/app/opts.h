/*
 * opts.h: parses command-line options. A table of opt_spec defines the options, their environment
 * variables and the help text.
 */
#ifndef APP_OPTS_H
#define APP_OPTS_H

#include <stdio.h>
#include "base/slice.h"

typedef enum opt_kind {
    OPT_FLAG,   /* the field is a bool; the option has no value */
    OPT_TEXT,   /* a const char *, which points into argv or the environment */
    OPT_INT,    /* a long from `min` to `max` */
    OPT_SIZE,   /* a long from `min` to `max`: bytes, with an optional suffix K, M or G */
    OPT_CHOICE, /* an int: the index of a word of opt_spec.value, such as "pi|plain" */
    OPT_LIST,   /* an opt_list; the option may be given several times; its variable is one value */
    OPT_END
} opt_kind;

/* The maximum number of values of an OPT_LIST option. The values point into argv or the
 * environment. */
#define OPT_LIST_MAX 64
typedef struct opt_list {
    const char *at[OPT_LIST_MAX];
    size_t count;
} opt_list;

typedef struct opt_spec {
    const char *name;  /* "dsn" for --dsn */
    opt_kind kind;     /* OPT_END closes the table */
    size_t offset;     /* offset of the field in the target struct */
    const char *env;   /* environment variable that is read if the option is absent, or NULL */
    const char *value; /* name of the value in the help text, "DSN" or "pi|plain"; NULL: a flag */
    const char *help;  /* description in the help text, without a newline, in lower case */
    long min, max;     /* limits of OPT_INT and OPT_SIZE */
} opt_spec;

/*
 * Reads --name VALUE, --name=VALUE, flags, -h and --help, mixed with other arguments, up to "--".
 * If an option is absent, its variable is read, unless the variable is empty. Variables of flags
 * are 1 or 0, yes or no, true or false, on or off. Without both, the field is not changed. Returns
 * 0: the other arguments, with argv[0], are now the first *argc of argv; 1: help was requested; -1:
 * wrong usage, with a message in `error` (`size` bytes).
 */
int opts_parse(const opt_spec *specs, void *target, int *argc, char **argv, char *error,
               size_t size);

/* Parses options as opts_parse does, for programs that accept only options: any other argument is
 * an error. */
int opts_parse_alone(const opt_spec *specs, void *target, int *argc, char **argv, char *error,
                     size_t size);

/* Prints the options and their variables as aligned columns, for --help. */
void opts_print(FILE *out, const opt_spec *specs);

#endif
