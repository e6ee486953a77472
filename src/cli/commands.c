/*
 * commands.c: the table of commands, in the order in which the overview shows them.
 */
#include "cli/commands.h"

const cli_command *const cli_commands[] = {
    &cli_dev,
    &cli_migrate,
    &cli_doctor,
    &cli_gc,
    &cli_token_create,
    &cli_token_list,
    &cli_token_revoke,
    &cli_import,
    &cli_export,
    &cli_card_get,
    &cli_card_list,
    &cli_card_add,
    &cli_card_boxes,
    &cli_card_revisions,
    &cli_card_delete,
    &cli_box_list,
    &cli_box_get,
    &cli_box_cards,
    &cli_box_log,
    &cli_box_create,
    &cli_box_append,
    &cli_box_replace,
    &cli_box_fork,
    &cli_box_delete,
    &cli_session_check,
    &cli_session_convert,
    NULL,
};
