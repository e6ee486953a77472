/*
 * commands.c: the table of commands.
 */
#include "cli/commands.h"

const cli_command *const cli_commands[] = {
#define CLI_ADDRESS(name) &cli_##name,
    CLI_COMMANDS(CLI_ADDRESS)
#undef CLI_ADDRESS
        NULL,
};
