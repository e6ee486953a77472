/*
 * run.c: finds the command that the arguments name, reads its options and calls it; and how all
 * commands report. Knows the commands only through their table.
 */
#include "cli/cli.h"
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* A person waits, and can press Ctrl-C: longer than a service would. */
#define STATEMENT_TIMEOUT_MS (10u * 60 * 1000)

/* The command that runs, for messages: a process runs one. */
static const cli_command *running;

/* --- reporting --- */

/* Messages may quote what came from outside: no control character reaches the terminal, and a
 * message stays one line. */
static void print_line(const char *begin, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

static void print_line(const char *begin, const char *format, va_list args)
{
    char text[CARDBOX_MESSAGE_SIZE * 2];

    vsnprintf(text, sizeof(text), format, args);
    for (char *at = text; *at != '\0'; at++) {
        if ((unsigned char)*at < ' ' || *at == 0x7f)
            *at = ' ';
    }
    fflush(stdout);
    fprintf(stderr, "%s%s\n", begin, text);
}

static void begin_line(char out[64], const char *kind)
{
    const char *name = running ? running->name : "";

    snprintf(out, 64, "cardbox%s%s: %s", *name ? " " : "", name, kind);
}

void cli_error(const char *format, ...)
{
    char begin[64];
    va_list args;

    begin_line(begin, "");
    va_start(args, format);
    print_line(begin, format, args);
    va_end(args);
}

void cli_warning(const char *format, ...)
{
    char begin[64];
    va_list args;

    begin_line(begin, "warning: ");
    va_start(args, format);
    print_line(begin, format, args);
    va_end(args);
}

void cli_note(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    print_line("", format, args);
    va_end(args);
}

static const char *hint_for(const cardbox_error *err)
{
    if (err->status == CARDBOX_UNAVAILABLE)
        return "; is PostgreSQL running there? give --dsn DSN or set CARDBOX_DSN";
    if (err->status == CARDBOX_FORBIDDEN)
        return "; see `cardbox doctor`";
    return "";
}

cli_exit cli_failed(const cardbox_error *err)
{
    cli_error("%s%s", err->message, hint_for(err));
    return CLI_FAILED;
}

cli_exit cli_nomem(void)
{
    cli_error("out of memory");
    return CLI_FAILED;
}

/* Whether the environment says where PostgreSQL is. */
static bool has_pg_variables(void)
{
    static const char *const names[] = {"PGHOST", "PGHOSTADDR", "PGSERVICE", "PGDATABASE",
                                        "PGPORT"};

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        if (getenv(names[i]) != NULL)
            return true;
    }
    return false;
}

const char *cli_dsn(const cli_common *common, char *storage, size_t size)
{
    struct stat about;
    FILE *file = NULL;

    if ((common->dsn != NULL && *common->dsn != '\0') || has_pg_variables())
        return common->dsn;
    file = fopen(CLI_DEV_FOLDER "/dsn", "re");
    if (file == NULL)
        return common->dsn;
    /* Not one that somebody else has laid there. */
    if (fstat(fileno(file), &about) != 0 || about.st_uid != geteuid() ||
        fgets(storage, (int)size, file) == NULL)
        *storage = '\0';
    fclose(file);
    storage[strcspn(storage, "\n")] = '\0';
    return storage;
}

bool cli_open(cardbox **db, const cli_common *common)
{
    cardbox_options options = CARDBOX_OPTIONS_INIT;
    cardbox_error err = CARDBOX_ERROR_INIT;
    char dsn[CLI_DSN_SIZE];

    options.conninfo = cli_dsn(common, dsn, sizeof(dsn));
    options.application_name = "cardbox-cli";
    options.pool_max = 1;
    options.statement_timeout_ms = STATEMENT_TIMEOUT_MS;
    if (cardbox_open(db, &options, &err) == CARDBOX_OK)
        return true;
    cli_failed(&err);
    return false;
}

cli_exit cli_finish(cli_exit status)
{
    bool failed_before = ferror(stdout) != 0;

    if (fflush(stdout) == 0 && !failed_before)
        return status;
    cli_error("cannot write the output%s%s", failed_before ? "" : ": ",
              failed_before ? "" : strerror(errno));
    return CLI_FAILED;
}

/* --- finding the command --- */

/* How many of the words the command's name takes; 0: it is another one. */
static int words_matched(const cli_command *command, char **words, int count)
{
    const char *at = command->name;

    for (int i = 0; i < count; i++) {
        size_t length = strcspn(at, " ");

        if (strlen(words[i]) != length || memcmp(words[i], at, length) != 0)
            return 0;
        if (at[length] == '\0')
            return i + 1;
        at += length + 1;
    }
    return 0;
}

const cli_command *cli_find(char **words, int count, int *taken)
{
    for (const cli_command *const *command = cli_commands; *command != NULL; command++) {
        *taken = words_matched(*command, words, count);
        if (*taken > 0)
            return *command;
    }
    return NULL;
}

/* Whether there are commands of two words that begin with this one. */
static bool is_group(const char *word)
{
    size_t length = strlen(word);

    for (const cli_command *const *command = cli_commands; *command != NULL; command++) {
        if (strncmp((*command)->name, word, length) == 0 && (*command)->name[length] == ' ')
            return true;
    }
    return false;
}

static cli_exit unknown_command(char **words, int count)
{
    if (!is_group(words[0]))
        cli_error("unknown command \"%s\"; see `cardbox help`", words[0]);
    else if (count > 1)
        cli_error("unknown command \"%s %s\"; see `cardbox help %s`", words[0], words[1], words[0]);
    else
        cli_error("\"%s\" needs a subcommand; see `cardbox help %s`", words[0], words[0]);
    return CLI_USAGE;
}

static bool is_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0;
}

/* --- running it --- */

static cli_exit wrong_count(const cli_command *command, int count)
{
    if (count < command->least)
        cli_error("expected %s; see `cardbox %s --help`", command->arguments, command->name);
    else
        cli_error("too many arguments; see `cardbox %s --help`", command->name);
    return CLI_USAGE;
}

static cli_exit run_command(const cli_command *command, char **words, int count)
{
    /* Aligned for any options struct. */
    _Alignas(max_align_t) char options[CLI_OPTIONS_MAX];
    char message[256];
    const cli_common *common = (const cli_common *)(const void *)options;
    int help;

    running = command;
    memcpy(options, command->defaults, command->size);
    help = opts_parse(command->options, options, &count, words, message, sizeof(message));
    if (help > 0) {
        cli_help_command(stdout, command);
        return CLI_DONE;
    }
    if (help < 0) {
        cli_error("%s", message);
        return CLI_USAGE;
    }
    if (count < command->least || (command->most >= 0 && count > command->most))
        return wrong_count(command, count);
    if (command->needs_project && (common->project == NULL || *common->project == '\0')) {
        cli_error("which project? give --project PROJECT or set CARDBOX_PROJECT");
        return CLI_USAGE;
    }
    return command->run(options, words, count);
}

cli_exit cli_run(int argc, char **argv)
{
    const cli_command *command;
    int taken;

    if (argc == 0)
        return cli_help(NULL, 0);
    if (strcmp(argv[0], "--version") == 0 || strcmp(argv[0], "version") == 0) {
        printf("cardbox %s\n", cardbox_version());
        return CLI_DONE;
    }
    if (is_help(argv[0]))
        return cli_help(argv + 1, argc - 1);
    command = cli_find(argv, argc, &taken);
    if (command != NULL)
        return run_command(command, argv + taken, argc - taken);
    if (argc > 1 && is_help(argv[1]))
        return cli_help(argv, 1);
    return unknown_command(argv, argc);
}
