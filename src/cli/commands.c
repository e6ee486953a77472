/*
 * commands.c: the table of commands, in the order in which the overview shows them.
 */
#include "cli/commands.h"

const cli_command *const cli_commands[] = {
    &cli_dev, &cli_migrate, &cli_import, &cli_export, NULL,
};
