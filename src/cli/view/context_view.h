/*
 * context_view.h: what the commands that show a context have in common: their options, and how one
 * is printed. Knows neither sessions nor boxes.
 */
#ifndef CLI_CONTEXT_VIEW_H
#define CLI_CONTEXT_VIEW_H

#include "cardbox/context.h"
#include "cli/cli.h"

typedef struct context_view_options {
    const char *format;
    bool no_repair;
} context_view_options;

#define CONTEXT_VIEW_DEFAULTS                                                                      \
    {                                                                                              \
        .format = "openai"                                                                         \
    }

/* For the options of a command that has them as its member `how`. */
#define CONTEXT_VIEW_OPTIONS(type)                                                                 \
    CLI_TEXT(type, "format", how.format, "FORMAT", "openai (default), anthropic or entries"),      \
        CLI_FLAG(type, "no-repair", how.no_repair,                                                 \
                 "leave calls and results as they are, paired or not")

/* False: there is no such format, which was said. */
bool context_view_how(cardbox_context_options *out, const context_view_options *options);

/* The messages on stdout, and on stderr how they came to be so; or one object of both. */
void context_view_print(const cardbox_context *built, bool json);

#endif
