/*
 * delete.c: `cardbox card delete`, `box delete` and `session delete`: one after the other by their
 * ids, and what became of each, over the public SDK.
 */
#include "cli/commands.h"

typedef cardbox_status delete_one(cardbox *db, const char *project, const char *id,
                                  cardbox_error *err);

static cli_exit delete_each(cardbox *db, const char *kind, delete_one *run,
                            const cli_options *options)
{
    cli_exit status = CLI_DONE;

    for (char **id = options->arguments; *id != NULL; id++) {
        cardbox_error err = CARDBOX_ERROR_INIT;

        switch (run(db, options->project, *id, &err)) {
        case CARDBOX_OK:
            if (cli_print(options->json, json_pack("{s+:s, s:b}", kind, "_id", *id, "deleted", 1),
                          "%s %s is deleted", kind, *id) == CLI_DONE)
                continue;
            break;
        case CARDBOX_NOT_FOUND:
            cli_error("%s not found: %s", kind, *id);
            break;
        default:
            cli_error("%.*s: %s%s", (int)slice_cut(slice_of(*id), 400), *id, err.message,
                      cli_hint(&err));
        }
        status = CLI_FAILED;
    }
    return status;
}

static cli_exit delete_cards(cardbox *db, const cli_options *options)
{
    return delete_each(db, "card", cardbox_delete_card, options);
}

const cli_command cli_card_delete = {
    .name = "card delete",
    .arguments = "CARD...",
    .summary = "delete cards",
    .description = "They can't be read from now on; `cardbox card add --restore` brings one back "
                   "until the retention period is over. A sealed card can't be deleted.",
    .examples = "card delete --project demo demo-019-deliverable",
    .options = cli_plain_specs,
    .with_database = delete_cards,
};

static cli_exit delete_boxes(cardbox *db, const cli_options *options)
{
    return delete_each(db, "box", cardbox_delete_box, options);
}

const cli_command cli_box_delete = {
    .name = "box delete",
    .arguments = "BOX...",
    .summary = "delete boxes",
    .description = "Their ids stay taken; their cards and forks stay. Deleting one again is fine.",
    .examples = "box delete --project demo 01970000-0000-7000-8000-000000000003",
    .options = cli_plain_specs,
    .with_database = delete_boxes,
};

static cli_exit delete_sessions(cardbox *db, const cli_options *options)
{
    return delete_each(db, "session", cardbox_session_delete, options);
}

const cli_command cli_session_delete = {
    .name = "session delete",
    .arguments = "SESSION...",
    .summary = "delete sessions for good",
    .description = "Their lines go, and the cards of their entries but for those that other\n"
                   "sessions, such as their forks, have too. Not for workers' roles.",
    .examples = "session delete --project demo second-try",
    .options = cli_plain_specs,
    .with_database = delete_sessions,
};
