/*
 * context_view.h: the options of the commands that print a context, and how it is printed.
 */
#ifndef CLI_CONTEXT_VIEW_H
#define CLI_CONTEXT_VIEW_H

#include "cardbox/context.h"
#include "cli/cli.h"

/* The options of the commands that print a context. */
#define CONTEXT_VIEW_OPTIONS                                                                       \
    CLI_CHOICE("format", context.format, "openai|anthropic|entries",                               \
               "the format (default openai)"),                                                     \
        CLI_FLAG("no-repair", context.no_repair, "do not pair calls with their results")

/* Prints the messages on stdout and the report on stderr. With `json`, prints one object with both
 * on stdout. */
void context_view_print(const cardbox_context *built, bool json);

#endif
