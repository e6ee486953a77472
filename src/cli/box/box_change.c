/*
 * box_change.c: `cardbox box create`, `append`, `replace` and `fork`.
 */
#include <inttypes.h>
#include "cli/cli.h"

static const char *const *as_ids(char **arguments)
{
    return (const char *const *)(const void *)arguments;
}

static cli_exit print_change(cardbox_status status, const cardbox_box_change *change,
                             const cli_call *call)
{
    if (status != CARDBOX_OK)
        return cli_failed(call);
    return cli_print(call->json,
                     json_pack("{s:s, s:I, s:I, s:b}", "box_id", change->box_id, "version",
                               (json_int_t)change->version, "length", (json_int_t)change->length,
                               "replayed", change->replayed),
                     "box %s   version %" PRId64 "   %" PRId64 " card%s%s", change->box_id,
                     change->version, change->length, change->length == 1 ? "" : "s",
                     change->replayed ? "   (done before)" : "");
}

/* --- create --- */

static cli_exit create_box(cli_call *call)
{
    cardbox_box_options sdk_options = CARDBOX_BOX_OPTIONS_INIT;
    cardbox_box_change change = {.version = 0};

    sdk_options.box_id = call->id;
    sdk_options.card_ids = as_ids(call->arguments);
    sdk_options.card_count = call->argument_count;
    sdk_options.parent_ids = call->parents.at;
    sdk_options.parent_count = call->parents.count;
    cardbox_status status =
        cardbox_box_create(&change, call->db, call->project, &sdk_options, &call->err);
    return print_change(status, &change, call);
}

const cli_command cli_box_create = {
    .name = "box create",
    .arguments = "[CARD...]",
    .summary = "make a box",
    .examples = "box create --project demo\n"
                "box create --project demo demo-001-instruction demo-002-profile --json",
    .options = CLI_IN_PROJECT(CLI_TEXT("id", id, "UUID", "id of the box (default: a new UUIDv7)"),
                              CLI_LIST("parent", parents, "UUID",
                                       "a box from which the new box is made; may be repeated")),
    .origins = {{"box_id", "--id"}, {"parent_ids", "--parent"}},
    .run = create_box,
};

/* --- append --- */

static cli_exit append_cards(cli_call *call)
{
    cardbox_box_change change = {.version = 0};

    cardbox_status status = cardbox_append_to_box(
        &change, call->db, call->project, call->arguments[0], as_ids(call->arguments + 1),
        call->argument_count - 1, &call->append, &call->err);
    return print_change(status, &change, call);
}

#define BOX_EXPECTED_VERSION                                                                       \
    CLI_INT("expected-version", append.expected_version, "N",                                      \
            "change the box only if it has this version", 1, INT32_MAX)

const cli_command cli_box_append = {
    .name = "box append",
    .arguments = "BOX CARD...",
    .summary = "add cards to the end of a box",
    .description = "A box is a list of ids of cards, which need not exist yet. Commands show a "
                   "card that does not exist as missing.",
    .examples = "box append --project demo 01970000-0000-7000-8000-000000000002 demo-013-thought\n"
                "box append --project demo --key turn-4 01970000-0000-7000-8000-000000000002 "
                "demo-018-result demo-022-deliverable",
    .options =
        CLI_IN_PROJECT(CLI_TEXT("key", append.key, "KEY", "append key: one key appends only once"),
                       BOX_EXPECTED_VERSION),
    .origins = {{"key", "--key"}},
    .run = append_cards,
};

/* --- replace --- */

static cli_exit replace_cards(cli_call *call)
{
    cardbox_box_change change = {.version = 0};

    cardbox_status status = cardbox_save_box(&change, call->db, call->project, call->arguments[0],
                                             as_ids(call->arguments + 1), call->argument_count - 1,
                                             call->append.expected_version, &call->err);
    return print_change(status, &change, call);
}

const cli_command cli_box_replace = {
    .name = "box replace",
    .arguments = "BOX [CARD...]",
    .summary = "replace the list of ids in a box",
    .description = "Without --expected-version, a missing box is created. `cardbox box get "
                   "--at-version` still shows earlier lists.",
    .examples = "box replace --project demo 01970000-0000-7000-8000-000000000002 "
                "demo-014-deliverable\n"
                "box replace --project demo --expected-version 2 "
                "01970000-0000-7000-8000-000000000002",
    .options = CLI_IN_PROJECT(BOX_EXPECTED_VERSION),
    .origins = {{"box_id", "the box's id"}},
    .run = replace_cards,
};

/* --- fork --- */

static bool check_fork(const cli_call *call)
{
    return call->fork.at_version == 0 || call->fork.at_length < 0 ||
           cli_error_and(false, "give --at-version or --at-length, not both");
}

static cli_exit fork_box(cli_call *call)
{
    cardbox_box_change change = {.version = 0};

    cardbox_status status = cardbox_box_fork(&change, call->db, call->project, call->arguments[0],
                                             &call->fork, &call->err);
    return print_change(status, &change, call);
}

const cli_command cli_box_fork = {
    .name = "box fork",
    .arguments = "BOX",
    .summary = "make a new box with the ids of another box",
    .examples = "box fork --project demo 01970000-0000-7000-8000-000000000001\n"
                "box fork --project demo --at-length 12 01970000-0000-7000-8000-000000000001",
    .options = CLI_IN_PROJECT(
        CLI_INT("at-version", fork.at_version, "N", "the ids at this version", 1, INT32_MAX),
        CLI_INT("at-length", fork.at_length, "N", "the first N present ids", 0, INT32_MAX),
        CLI_TEXT("new-id", fork.new_box_id, "UUID", "id of the fork (default: a new UUIDv7)")),
    .origins = {{"new_box_id", "--new-id"}},
    .check = check_fork,
    .run = fork_box,
};
