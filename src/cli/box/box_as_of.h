/*
 * box_as_of.h: as of when a box is read: the options of the commands that read one.
 */
#ifndef CLI_BOX_AS_OF_H
#define CLI_BOX_AS_OF_H

#include "cardbox/box.h"
#include "cli/cli.h"

typedef struct box_as_of {
    long version;
    long length;
    const char *time;
} box_as_of;

/* For the options of a command that has it as its member `at`. */
#define BOX_AS_OF(type)                                                                            \
    CLI_INT(type, "at-version", at.version, "N", "as it was at this version", 1, INT32_MAX),       \
        CLI_INT(type, "at-length", at.length, "N", "as when it first had N cards", 1, INT32_MAX),  \
        CLI_TEXT(type, "at-time", at.time, "TIME", "as it was then, such as 2025-01-02T03:04:05Z")

/* For the `origins` of such a command. */
#define BOX_AS_OF_ORIGINS                                                                          \
    {"at_version", "--at-version"}, {"at_length", "--at-length"},                                  \
    {                                                                                              \
        "at_time", "--at-time"                                                                     \
    }

/* False: more than one was given, which was said. */
bool box_as_of_read(cardbox_read_options *out, const box_as_of *at);

#endif
