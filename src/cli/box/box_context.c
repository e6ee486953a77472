/*
 * box_context.c: `cardbox box context`: the messages that a model is given of a box's cards. Over
 * the public SDK.
 */
#include "cli/box/box_as_of.h"
#include "cli/commands.h"
#include "cli/view/context_view.h"

typedef struct context_options {
    cli_common common;
    context_view_options how;
    long tail;
    box_as_of at;
} context_options;

static cli_exit run(const void *given, char **arguments)
{
    const context_options *options = given;
    cardbox_read_options part = {.tail = (size_t)options->tail};
    cardbox_context_options how = CARDBOX_CONTEXT_OPTIONS_INIT;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_context *built = NULL;

    if (!context_view_how(&how, &options->how) || !box_as_of_read(&part, &options->at))
        return CLI_USAGE;
    cardbox *db = cli_open(&options->common);
    if (db == NULL)
        return CLI_FAILED;
    if (cardbox_build_box_context(&built, db, options->common.project, arguments[0], &part, &how,
                                  &err) != CARDBOX_OK)
        return cli_failed(&err);
    context_view_print(built, options->common.json);
    cardbox_context_free(built);
    return CLI_DONE;
}

static const opt_spec specs[] = CLI_IN_PROJECT(
    CONTEXT_VIEW_OPTIONS(context_options),
    CLI_INT(context_options, "tail", tail, "N", "only of the last N cards", 1, INT32_MAX),
    BOX_AS_OF(context_options));

static const context_options defaults = {.how = CONTEXT_VIEW_DEFAULTS};

const cli_command cli_box_context = {
    .name = "box context",
    .arguments = "BOX",
    .summary = "write the messages that a model is given of a box's cards",
    .description = "On stdout the JSON array of messages, of anthropic an object with \"system\" "
                   "where there is one; on stderr how many cards they are of, and what was "
                   "repaired so that the model's API takes them. With --json one object of both.",
    .examples = "box context --project demo 01970000-0000-7000-8000-000000000001 | jq '.[].role'\n"
                "box context --project demo --tail 3 --json 01970000-0000-7000-8000-000000000001",
    .options = specs,
    .origins = {BOX_AS_OF_ORIGINS},
    CLI_DEFAULTS(defaults),
    .alone = run,
};
