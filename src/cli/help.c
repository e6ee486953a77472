/*
 * help.c: prints the help of `cardbox`: the overview, a group of commands such as "box", or one
 * command.
 */
#include "app/word_wrap.h"
#include "cli/cli.h"

/* Width of the column of command names in the overview and in groups. */
#define NAME_WIDTH 21

/* Width of the column of option names in the overview. */
#define SHARED_WIDTH 30

static void print_examples(FILE *out, const char *examples)
{
    buf line = BUF_INIT(4096);

    fputs("\nExamples:\n", out);
    while (*examples != '\0') {
        size_t length = strcspn(examples, "\n");

        buf_reset(&line, 4096);
        buf_text(&line, *examples == ' ' ? "" : "cardbox ");
        buf_add(&line, examples, length);
        fprintf(out, "%*s", *examples == ' ' ? 6 : 2, "");
        word_wrap_command(out, buf_str(&line), *examples == ' ' ? 6 : 2, 6);
        examples += length;
        examples += *examples == '\n';
    }
    buf_free(&line);
}

static void print_line(FILE *out, const char *begin, const char *name, const char *middle,
                       const char *end)
{
    buf line = BUF_INIT(4096);

    buf_printf(&line, "%s%s%s%s", begin, name, middle, end);
    word_wrap_text(out, buf_str(&line), 0, 4);
    buf_free(&line);
}

void cli_help_command(FILE *out, const cli_command *command)
{
    print_line(out, "cardbox ", command->name, ": ", command->summary);
    fputc('\n', out);
    print_line(out, "Usage: cardbox ", command->name, " [options] ",
               command->arguments != NULL ? command->arguments : "");
    if (command->description != NULL) {
        fputc('\n', out);
        word_wrap_text(out, command->description, 0, 0);
    }
    fputs("\nOptions:\n", out);
    opts_print(out, command->options);
    print_examples(out, command->examples);
}

static void print_command(FILE *out, int width, const char *name, const char *summary)
{
    fprintf(out, "  %-*s  ", width, name);
    word_wrap_text(out, summary, width + 4, width + 4);
}

static const struct {
    const char *option, *takers;
} SHARED[] = {
    {"--dsn (or CARDBOX_DSN)", "all but dev, session check, ability list and show"},
    {"--project (or CARDBOX_PROJECT)",
     "import, export, search, ability invoke; all of card, box, task; session except check"},
    {"--json", "all but dev, export, session export"},
    {"--limit", "most commands that print lists"},
    {"--help", "all"}};

static void print_overview(FILE *out)
{
    fprintf(out,
            "cardbox %s: stores the context and the work of AI agents in PostgreSQL\n\n"
            "Usage: cardbox COMMAND [options] [arguments]\n\nCommands:\n",
            cardbox_version());
    for (const cli_command *const *command = cli_commands; *command != NULL; command++)
        print_command(out, NAME_WIDTH, (*command)->name, (*command)->summary);
    print_command(out, NAME_WIDTH, "help COMMAND", "options and examples of a command");
    fputs("\nOptions go after the command. These options are common to many commands:\n", out);
    for (size_t i = 0; i < sizeof(SHARED) / sizeof(SHARED[0]); i++)
        print_command(out, SHARED_WIDTH, SHARED[i].option, SHARED[i].takers);
    fputs("\nExit status: 0 done, 1 failed or partly failed, 2 wrong usage.\n", out);
    print_examples(out, "dev\n"
                        "box cards --project demo 01970000-0000-7000-8000-000000000001\n"
                        "help import");
}

/* Prints the commands of a group such as "box", and the examples of the first of them. Returns
 * false if there is no such group. */
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
        print_command(out, NAME_WIDTH, name, (*command)->summary);
    }
    if (first == NULL)
        return false;
    fprintf(out, "\n`cardbox help %s COMMAND` shows a command's options and examples.\n", group);
    print_examples(out, first->examples);
    return true;
}

cli_exit cli_help(char **words, int count)
{
    int used;
    const cli_command *command = cli_find(words, count, &used);

    if (count == 0 || (count == 1 && cli_is_help(words[0]))) {
        print_overview(stdout);
        return CLI_DONE;
    }
    if (command != NULL && used == count) {
        cli_help_command(stdout, command);
        return CLI_DONE;
    }
    if (count == 1 && print_group(stdout, words[0]))
        return CLI_DONE;
    return cli_unknown(words, count);
}
