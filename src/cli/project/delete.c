/*
 * delete.c: `cardbox card delete`, `box delete` and `session delete`: delete one object after the
 * other, and print each outcome.
 */
#include "cli/cli.h"

typedef cardbox_status delete_one(cardbox *db, const char *project, const char *id,
                                  cardbox_error *err);

static cli_exit delete_each(cli_call *call, const char *kind, delete_one *delete)
{
    cli_exit status = CLI_DONE;

    for (char **id = call->arguments; *id != NULL; id++) {
        switch (delete (call->db, call->project, *id, &call->err)) {
        case CARDBOX_OK:
            if (cli_print(call->json, json_pack("{s+:s, s:b}", kind, "_id", *id, "deleted", 1),
                          "%s %s is deleted", kind, *id) == CLI_DONE)
                continue;
            break;
        case CARDBOX_NOT_FOUND:
            cli_error("%s not found: %s", kind, *id);
            break;
        default:
            cli_error("%.*s: %s%s", (int)slice_cut(slice_of(*id), 400), *id, call->err.message,
                      cli_hint(&call->err));
        }
        status = CLI_FAILED;
    }
    return status;
}

#define DELETE_COMMAND(variable, delete, word, command_arguments, text, details, example)          \
    static cli_exit delete_##variable(cli_call *call)                                              \
    {                                                                                              \
        return delete_each(call, word, delete);                                                    \
    }                                                                                              \
    const cli_command cli_##variable##_delete = {.name = word " delete",                           \
                                                 .arguments = (command_arguments),                 \
                                                 .summary = (text),                                \
                                                 .description = (details),                         \
                                                 .examples = (example),                            \
                                                 .options =                                        \
                                                     CLI_OPTIONS(CLI_DSN, CLI_PROJECT, CLI_JSON),  \
                                                 .run = delete_##variable}

DELETE_COMMAND(
    card, cardbox_card_delete, "card", "CARD...", "delete cards",
    "Deleted cards can't be read. `cardbox card add --restore` restores a card until gc "
    "removes it after the retention period. Sealed cards, and cards that contain messages of "
    "tasks, can't be deleted.",
    "card delete --project demo demo-022-deliverable");
DELETE_COMMAND(
    box, cardbox_box_delete, "box", "BOX...", "delete boxes",
    "The cards and forks of a deleted box stay. Its id is free again after gc removes the box. "
    "Sealed boxes can't be deleted.",
    "box delete --project demo 01970000-0000-7000-8000-000000000003");
DELETE_COMMAND(
    session, cardbox_session_delete, "session", "SESSION...", "delete sessions for good",
    "Deletes the sessions with all their lines. Until gc removes its id, a deleted session is not "
    "created again without --restore. A worker's role may not delete sessions.",
    "session delete --project demo second-try");
