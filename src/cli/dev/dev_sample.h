/*
 * dev_sample.h: the sample project of `cardbox dev`, so that the first request shows something.
 */
#ifndef CLI_DEV_SAMPLE_H
#define CLI_DEV_SAMPLE_H

#include "cli/cli.h"

#define DEV_PROJECT "demo"
#define DEV_SESSION "demo-session"
#define DEV_BOX     "01970000-0000-7000-8000-000000000001"

typedef struct dev_sample {
    int64_t cards, boxes, sessions; /* rows of the project */
} dev_sample;

/* Loads the sample once into the cluster of `dir`: deleted rows do not come back. Counts the rows
 * of the project. False: an error was printed. */
bool dev_sample_load(dev_sample *out, cli_call *call, const char *dir);

#endif
