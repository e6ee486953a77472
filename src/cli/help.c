/*
 * help.c: `cardbox`, `cardbox help`, and --help of every command, all from the table of commands.
 */
#include "cli/cli.h"

/* Width of the overview's first column. */
#define NAME_WIDTH 21

static void print_examples(FILE *out, const char *examples)
{
    fputs("\nExamples:\n", out);
    while (*examples != '\0') {
        size_t length = strcspn(examples, "\n");

        /* A line that begins with a space continues the one before. */
        fprintf(out, "  %s%.*s\n", *examples == ' ' ? "" : "cardbox ", (int)length, examples);
        examples += length;
        examples += *examples == '\n';
    }
}

void cli_help_command(FILE *out, const cli_command *command)
{
    fprintf(out, "cardbox %s: %s\n\nUsage: cardbox %s [options]%s%s\n", command->name,
            command->summary, command->name, *command->arguments ? " " : "", command->arguments);
    if (command->description != NULL)
        fprintf(out, "\n%s\n", command->description);
    fputs("\nOptions:\n", out);
    opts_print(out, command->options);
    print_examples(out, command->examples);
}

static void print_overview(FILE *out)
{
    fprintf(out,
            "cardbox %s: cards and boxes of AI agents, kept in PostgreSQL\n\n"
            "Usage: cardbox COMMAND [options] [arguments]\n\nCommands:\n",
            cardbox_version());
    for (const cli_command *const *command = cli_commands; *command != NULL; command++)
        fprintf(out, "  %-*s  %s\n", NAME_WIDTH, (*command)->name, (*command)->summary);
    fprintf(out, "  %-*s  %s\n", NAME_WIDTH, "help COMMAND", "options and examples of a command");
    fputs(
        "\nOptions go after the command. These mean the same wherever they are taken:\n"
        "  --dsn (or CARDBOX_DSN)          all but dev, session check and convert, ability list\n"
        "                                  and show\n"
        "  --project (or CARDBOX_PROJECT)  import, export, ability invoke; what begins with card,\n"
        "                                  box, session, task\n"
        "  --json                          all but dev, export, session export and convert\n"
        "  --limit                         what lists\n"
        "  --help                          all\n"
        "\nExit status: 0 done, 1 failed or partly failed, 2 wrong usage.\n",
        out);
    print_examples(out, "dev\n"
                        "box cards --project demo 01970000-0000-7000-8000-000000000001\n"
                        "help import");
}

/* The commands of a group such as "box", with the examples of its first. False: no such group. */
static bool print_group(FILE *out, const char *group)
{
    size_t length = strlen(group);
    const cli_command *first = NULL;

    for (const cli_command *const *command = cli_commands; *command != NULL; command++) {
        const char *name = (*command)->name;

        if (strncmp(name, group, length) != 0 || name[length] != ' ')
            continue;
        if (first == NULL) {
            first = *command;
            fprintf(out, "Usage: cardbox %s COMMAND [options] [arguments]\n\nCommands:\n", group);
        }
        fprintf(out, "  %-*s  %s\n", NAME_WIDTH, name, (*command)->summary);
    }
    if (first != NULL)
        print_examples(out, first->examples);
    return first != NULL;
}

cli_exit cli_help(char **words, int count)
{
    int taken;
    const cli_command *command = cli_find(words, count, &taken);

    if (count == 0 || (count == 1 && cli_is_help(words[0]))) {
        print_overview(stdout);
        return CLI_DONE;
    }
    if (command != NULL && taken == count) {
        cli_help_command(stdout, command);
        return CLI_DONE;
    }
    if (count == 1 && print_group(stdout, words[0]))
        return CLI_DONE;
    cli_error("there is no command \"%s%s%s\"; see `cardbox help`", words[0], count > 1 ? " " : "",
              count > 1 ? words[1] : "");
    return CLI_USAGE;
}
