/*
 * context_view.h: prints a context, the messages for a model, for the commands that print one.
 */
#ifndef CLI_CONTEXT_VIEW_H
#define CLI_CONTEXT_VIEW_H

#include "cardbox/context.h"
#include "model/session/context.h"
#include "cli/cli.h"

/* Options that all commands have that print a context. */
#define CONTEXT_VIEW_OPTIONS                                                                       \
    CLI_CHOICE("format", context.format, "openai|anthropic|entries|messages|responses",            \
               "the format (default openai)"),                                                     \
        CLI_FLAG("no-repair", context.no_repair, "do not pair calls with their results"),          \
        CLI_INT("limit", context.limit, "N", "only the newest messages, up to N", 1,               \
                CONTEXT_LIMIT_MAX),                                                                \
        CLI_INT("token-budget", context.token_budget, "N",                                         \
                "only the newest messages, up to about N tokens", 1, CONTEXT_BUDGET_MAX)

/* Prints the messages on stdout and the report on stderr. If `json` is true, prints one object with
 * the messages and the report on stdout. */
void context_view_print(const cardbox_context *built, bool json);

#endif
