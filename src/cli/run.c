/*
 * run.c: finds the command that the arguments name, parses its options and runs it. Also has
 * functions with which commands print results and errors.
 */
#include "cli/cli.h"
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include "base/text.h"
#include "db/connect.h"
#include "cli/view/term.h"
#include "store/admin/gc.h"
#include "store/admin/migrate.h"

/* The command of this process; NULL before it is known. */
static const cli_command *running;

static const cli_call INITIAL = {
    .err = CARDBOX_ERROR_INIT,
    .card = CARDBOX_CARD_INIT,
    .add = CARDBOX_ADD_OPTIONS_INIT,
    .filter = CARDBOX_CARD_FILTER_INIT,
    .search = CARDBOX_SEARCH_OPTIONS_INIT,
    .fork = CARDBOX_FORK_OPTIONS_INIT,
    .append = CARDBOX_APPEND_OPTIONS_INIT,
    .dialect = CARDBOX_DIALECT_UNKNOWN,
    .file_format = -1,
    .context = CARDBOX_CONTEXT_OPTIONS_INIT,
    .spawn = CARDBOX_SPAWN_INIT,
    .scope = "read",
    .data = DEV_FOLDER,
    .listen = "127.0.0.1:8099",
    .retention_days = GC_RETENTION_DAYS,
    .batch = GC_BATCH,
    .wait_s = MIGRATE_WAIT_S,
};

/* --- reporting --- */

void cli_message(const char *kind, const char *format, ...)
{
    char text[CARDBOX_MESSAGE_SIZE * 2];
    va_list args;

    va_start(args, format);
    text_format(text, sizeof(text), format, args);
    va_end(args);
    for (char *at = text; *at != '\0'; at++) {
        if (*at == '\n' || *at == '\r' || *at == '\t')
            *at = ' ';
    }
    fflush(stdout);
    if (kind != NULL)
        fprintf(stderr, "cardbox%s%s: %s", running ? " " : "", running ? running->name : "", kind);
    term_print_text(stderr, slice_of(text));
}

/* If the error's message begins with origin->field, prints the message with origin->option instead
 * of the field, and returns true. */
static bool print_origin(const cardbox_error *err, const cli_origin *origin)
{
    size_t length = strlen(origin->field);

    if (strncmp(err->message, origin->field, length) != 0 || err->message[length] != ' ')
        return false;
    cli_error("%s%s", origin->option, err->message + length);
    return true;
}

cli_exit cli_failed(const cli_call *call)
{
    const cardbox_error *err = &call->err;
    static const cli_origin CURSOR = {"cursor", "--cursor"};
    bool by_value = err->status == CARDBOX_INVALID || err->status == CARDBOX_TOO_LARGE;

    for (const cli_origin *origin = running->origins; by_value && origin->field != NULL; origin++) {
        if (print_origin(err, origin))
            return CLI_USAGE;
    }
    if (by_value && print_origin(err, &CURSOR))
        return CLI_USAGE;
    return cli_error_and(CLI_FAILED, "%s%s", err->message, cli_hint(err));
}

bool cli_is_of_project(void)
{
    for (const opt_spec *spec = running->options; spec->kind != OPT_END; spec++) {
        if (strcmp(spec->name, "project") == 0)
            return true;
    }
    return false;
}

cli_exit cli_print_json_text(buf *line)
{
    cli_check_memory(buf_ok(line));
    term_print_json(buf_str(line));
    buf_free(line);
    return CLI_DONE;
}

cli_exit cli_print_json(json_t *value)
{
    buf line = BUF_INIT(SIZE_MAX / 4);

    buf_json_take(&line, value);
    return cli_print_json_text(&line);
}

cli_exit cli_print(bool json, json_t *value, const char *format, ...)
{
    char text[CARDBOX_MESSAGE_SIZE * 8];
    va_list args;

    if (json)
        return cli_print_json(value);
    json_decref(value);
    va_start(args, format);
    text_format(text, sizeof(text), format, args);
    va_end(args);
    term_print_text(stdout, slice_of(text));
    return CLI_DONE;
}

void cli_out_of_memory(void)
{
    cli_error("out of memory");
    exit(CLI_FAILED);
}

cli_exit cli_finish(cli_exit status)
{
    bool failed_before = ferror(stdout) != 0;

    if (fflush(stdout) == 0 && !failed_before)
        return status;
    return cli_error_and(CLI_FAILED, "cannot write the output%s%s", failed_before ? "" : ": ",
                         failed_before ? "" : strerror(errno));
}

/* --- finding the command --- */

const cli_command *const cli_commands[] = {
#define CLI_ADDRESS(name) &cli_##name,
    CLI_COMMANDS(CLI_ADDRESS)
#undef CLI_ADDRESS
        NULL,
};

/* Returns the number of words in the command's name; 0: the first words are not this name. */
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

const cli_command *cli_find(char **words, int count, int *used)
{
    for (const cli_command *const *command = cli_commands; *command != NULL; command++) {
        *used = words_matched(*command, words, count);
        if (*used > 0)
            return *command;
    }
    return NULL;
}

bool cli_is_help(const char *word)
{
    return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0;
}

/* --- running it --- */

/* Checks that the command accepts `count` arguments, by command->arguments, such as "BOX
 * [CARD...]". If not, prints an error and returns false. */
static bool check_count(const cli_command *command, int count)
{
    int least = 0, most = 0;
    const char *at = command->arguments != NULL ? command->arguments : "";

    for (; *at != '\0'; at += strspn(at, " ")) {
        size_t length = strcspn(at, " ");

        least += *at != '[';
        most = memmem(at, length, "...", 3) != NULL ? INT_MAX : most + 1;
        at += length;
    }
    if (count < least)
        cli_error("expected %s; see `cardbox %s --help`", command->arguments, command->name);
    else if (count > most)
        cli_error("too many arguments; see `cardbox %s --help`", command->name);
    return count >= least && count <= most;
}

static bool check_dsn(cli_call *call)
{
    return call->dsn == NULL || conninfo_check(call->dsn, &call->err) == CARDBOX_OK ||
           cli_error_and(false, "--dsn or CARDBOX_DSN: %s", call->err.message);
}

static cli_exit run_command(const cli_command *command, char **words, int count)
{
    cli_call call = INITIAL;
    char message[256];
    cli_exit status = CLI_FAILED;

    running = command;
    int help = opts_parse(command->options, &call, &count, words, message, sizeof(message));
    if (help > 0) {
        cli_help_command(stdout, command);
        return CLI_DONE;
    }
    if (help < 0)
        return cli_error_and(CLI_USAGE, "%s; see `cardbox %s --help`", message, command->name);
    if (!check_count(command, count))
        return CLI_USAGE;
    if (cli_is_of_project() && !command->project_optional &&
        (call.project == NULL || *call.project == '\0'))
        return cli_error_and(CLI_USAGE,
                             "which project? give --project PROJECT or set CARDBOX_PROJECT");
    words[count] = NULL; /* overwrites a parsed option, or the NULL at the end of argv */
    call.arguments = words;
    call.argument_count = (size_t)count;
    if (!check_dsn(&call) || (command->check != NULL && !command->check(&call)))
        return CLI_USAGE;
    if (command->without_database || cli_open(&call))
        status = command->run(&call);
    cardbox_close(call.db);
    return status;
}

cli_exit cli_run(int argc, char **argv)
{
    int used;

    if (argc == 0)
        return cli_help(NULL, 0);
    if (strcmp(argv[0], "--version") == 0 || strcmp(argv[0], "version") == 0) {
        printf("cardbox %s\n", cardbox_version());
        return CLI_DONE;
    }
    if (cli_is_help(argv[0]))
        return cli_help(argv + 1, argc - 1);
    const cli_command *command = cli_find(argv, argc, &used);
    if (command != NULL)
        return run_command(command, argv + used, argc - used);
    if (argc > 1 && cli_is_help(argv[1]))
        return cli_help(argv, 1);
    return cli_unknown(argv, argc);
}
