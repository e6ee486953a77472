/*
 * cli.h: the commands of `cardbox`: the struct that defines a command's options, arguments and
 * help, the list of all commands, and functions that commands share.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "base/buf.h"
#include "app/json_text.h"
#include "app/opts.h"
#include "cardbox.h"
#include "app/dev_dsn.h"

/* The exit statuses of `cardbox`. Scripts depend on the numbers. */
typedef enum cli_exit { CLI_DONE = 0, CLI_FAILED = 1, CLI_USAGE = 2 } cli_exit;

/* The state of the running command: its database, its last error, and the values of its options.
 * The struct has members for the options of all commands. Some options are parsed directly into a
 * struct of the SDK. */
typedef struct cli_call {
    cardbox *db; /* NULL until the database is open */
    cardbox_error err;

    const char *dsn;     /* NULL or "": cli_dsn() finds the default */
    const char *project; /* id of a project (tenant); NULL or "": none is given */
    long limit;          /* maximum number of rows; 0: the command's default */
    const char *cursor;  /* position where a list continues; NULL: its beginning */
    char **arguments;    /* words after the command's name that belong to no option, then NULL */
    size_t argument_count;

    cardbox_card card;
    cardbox_add_options add;
    cardbox_card_filter filter;
    cardbox_search_options search;
    const char *content, *text, *tool_call_id;
    opt_list meta;
    long ttl;

    cardbox_read_options part;
    cardbox_fork_options fork;
    cardbox_append_options append;
    const char *id;
    opt_list parents, then;

    const char *session, *entry, *compare, *expected_head;
    int dialect; /* a cardbox_dialect */
    long from_depth;

    cardbox_context_options context;

    cardbox_spawn spawn;
    const char *reason, *status;
    long skip;

    const char *name, *scope, *expires;
    opt_list tenants;

    const char *data, *listen;

    const char *new_id;
    const char *add_model, *add_parent;
    int add_format;  /* index of openai, responses, anthropic */
    int file_format; /* the same; -1: none is given */
    long before, retention_days, batch, wait_s;

    bool json; /* true: the command prints JSON, one object or one object on each line */
    bool tree, all, ids, force, restore;
    bool follow, all_tenants, auth, no_sample, dry_run, tenant_from_rows;
} cli_call;

/* clang-format off */
#define CLI_OPTION(name, kind, field, value, help, least, most) \
    {name, kind, offsetof(cli_call, field), NULL, value, help, least, most}
#define CLI_TEXT(name, field, value, help) \
    CLI_OPTION(name, OPT_TEXT, field, value, help, 0, 0)
#define CLI_FLAG(name, field, help) CLI_OPTION(name, OPT_FLAG, field, NULL, help, 0, 0)
#define CLI_INT(name, field, value, help, least, most) \
    CLI_OPTION(name, OPT_INT, field, value, help, least, most)
#define CLI_CHOICE(name, field, words, help) CLI_OPTION(name, OPT_CHOICE, field, words, help, 0, 0)
#define CLI_LIST(name, field, value, help) \
    CLI_OPTION(name, OPT_LIST, field, value, help, 0, 0)
#define CLI_DSN                                                                                \
    {"dsn", OPT_TEXT, offsetof(cli_call, dsn), "CARDBOX_DSN", "DSN",                         \
     "PostgreSQL connection string or URI; default: PG* variables, or `cardbox dev` in "       \
     "./" DEV_FOLDER, 0, 0}
#define CLI_PROJECT                                                                            \
    {"project", OPT_TEXT, offsetof(cli_call, project), "CARDBOX_PROJECT", "PROJECT",         \
     "the project (tenant)", 0, 0}
#define CLI_JSON CLI_FLAG("json", json, "print JSON: one object, or one on each line")
#define CLI_DIGITS_OF(number) #number
#define CLI_DIGITS(number)    CLI_DIGITS_OF(number)
#define CLI_LIMIT                                                                              \
    CLI_INT("limit", limit, "N", "maximum number of rows, 1 to "                   \
            CLI_DIGITS(CARDBOX_PAGE_MAX) " (default " CLI_DIGITS(CARDBOX_PAGE_DEFAULT) ")",    \
            1, CARDBOX_PAGE_MAX)
#define CLI_CURSOR CLI_TEXT("cursor", cursor, "CURSOR", "continue the list with this cursor")
#define CLI_OPTIONS_END {NULL, OPT_END, 0, NULL, NULL, NULL, 0, 0}

/* Tables of options: CLI_OPTIONS has only the given options, CLI_IN_DATABASE adds --dsn and --json,
 * and CLI_IN_PROJECT adds --dsn, --project and --json. */
#define CLI_OPTIONS(...)     ((const opt_spec[]){__VA_ARGS__, CLI_OPTIONS_END})
#define CLI_IN_DATABASE(...) CLI_OPTIONS(CLI_DSN, __VA_ARGS__, CLI_JSON)
#define CLI_IN_PROJECT(...)  CLI_IN_DATABASE(CLI_PROJECT, __VA_ARGS__)
/* clang-format on */

/* `field`: the name of a value at the beginning of the store's error messages, such as "card_id".
 * `option`: the words that replace this name in messages of the command, such as "--id". */
typedef struct cli_origin {
    const char *field, *option;
} cli_origin;

#define CLI_ORIGINS_MAX 12

typedef struct cli_command {
    const char *name;        /* such as "box append" */
    const char *arguments;   /* such as "BOX [CARD...]"; NULL: the command has no arguments */
    const char *summary;     /* one line, which begins in lower case */
    const char *description; /* text for --help, or NULL */
    /* Command lines for --help, without "cardbox". A line that begins with a space continues the
     * line before it. */
    const char *examples;
    const opt_spec *options;
    bool project_optional; /* true: the command accepts --project, but does not require it */
    cli_origin origins[CLI_ORIGINS_MAX]; /* the last origin has a NULL field */
    /* Checks the options before `run`. Returns false after it has printed a usage error. May be
     * NULL. */
    bool (*check)(const cli_call *call);
    cli_exit (*run)(cli_call *call);
    bool without_database; /* true: cli_run() does not open the database before it calls `run` */
} cli_command;

/* All commands, in the order in which the overview prints them. */
/* clang-format off */
#define CLI_COMMANDS(one)                                                                   \
    one(dev) one(migrate) one(doctor) one(gc)                                               \
    one(project_list)                                                                       \
    one(token_create) one(token_list) one(token_revoke)                                     \
    one(import) one(export) one(search)                                                     \
    one(card_get) one(card_list) one(card_add) one(card_boxes) one(card_revisions)          \
    one(card_delete)                                                                        \
    one(box_list) one(box_get) one(box_cards) one(box_context) one(box_log) one(box_create) \
    one(box_append) one(box_replace) one(box_fork) one(box_seal) one(box_delete)            \
    one(session_import) one(session_export) one(session_list) one(session_show)             \
    one(session_tree) one(session_path) one(session_leaves) one(session_branch_points)      \
    one(session_children) one(session_labels) one(session_diff) one(session_context)        \
    one(session_add) one(session_append) one(session_label) one(session_head)               \
    one(session_fork) one(session_delete) one(session_check)                                \
    one(task_run) one(task_send) one(task_cancel) one(task_finish) one(task_list)           \
    one(task_show) one(task_follow)                                                         \
    one(ability_list) one(ability_show) one(ability_invoke)
/* clang-format on */

#define CLI_DECLARE(name) extern const cli_command cli_##name;
CLI_COMMANDS(CLI_DECLARE)
#undef CLI_DECLARE

extern const cli_command *const cli_commands[]; /* the last element is NULL */

/* Returns the command whose name is at the beginning of `words`; NULL: there is none. *used
 * receives the number of words in the name. */
const cli_command *cli_find(char **words, int count, int *used);

/* Prints an error for words that name no command, if possible with a remedy such as a similar
 * command. Returns CLI_USAGE. */
cli_exit cli_unknown(char **words, int count);

/* Runs the command that the arguments name, or prints help, the version or an error. argv does not
 * contain the program's name. */
cli_exit cli_run(int argc, char **argv);

bool cli_is_help(const char *word); /* true for "help", "--help" and "-h" */

/* Prints the overview if there are no words, else the help of the command, or of the group of
 * commands such as "box", that they name. */
cli_exit cli_help(char **words, int count);
void cli_help_command(FILE *out, const cli_command *command);

/* Prints one line on stderr: "cardbox COMMAND: " ("cardbox: " if no command is running), `kind` and
 * the message. If `kind` is NULL, prints only the message. Flushes stdout first. */
void cli_message(const char *kind, const char *format, ...) __attribute__((format(printf, 2, 3)));
#define cli_error(...)   cli_message("", __VA_ARGS__)
#define cli_warning(...) cli_message("warning: ", __VA_ARGS__)
#define cli_note(...)    cli_message(NULL, __VA_ARGS__)

/* Prints an error, and returns `value`. */
#define cli_error_and(value, ...) (cli_error(__VA_ARGS__), (value))

/* Prints call->err, with a remedy if cli_hint() has one, and returns CLI_FAILED. If the store
 * rejected a value that the command's `origins` name, or the cursor, prints the message with the
 * option's name instead, and returns CLI_USAGE. */
cli_exit cli_failed(const cli_call *call);

/* Prints the JSON in a buffer as one line, and frees the buffer. Returns CLI_DONE. If the buffer
 * has failed, ends the process. */
cli_exit cli_print_json_text(buf *line);

/* Prints a value of jansson as one line, and releases the value. Returns CLI_DONE. If `value` is
 * NULL, prints "out of memory" and ends the process. */
cli_exit cli_print_json(json_t *value);

/* Prints `value` as JSON if `json` is set, else the formatted text. Releases the value. */
cli_exit cli_print(bool json, json_t *value, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Prints "out of memory" and ends the process with CLI_FAILED. */
_Noreturn void cli_out_of_memory(void);

/* If `ok` is false, prints "out of memory" and ends the process with CLI_FAILED. */
static inline void cli_check_memory(bool ok)
{
    if (!ok)
        cli_out_of_memory();
}

/* True if the running command has the option --project. */
bool cli_is_of_project(void);

/* Returns a remedy to append to the message of an error; "": no remedy is known. */
const char *cli_hint(const cardbox_error *err);

/* Finds the connection string: call->dsn; else the string of `cardbox dev` in ./var, copied to
 * `storage`, unless PG* variables name another database; else NULL or "", for libpq's defaults.
 * False: the database in ./var is not running, and call->err is set. */
bool cli_dsn(const char **out, cli_call *call, char storage[DEV_DSN_SIZE]);

/* Opens the database as call->db. False: an error was printed. */
bool cli_open(cli_call *call);

/* Flushes stdout and returns `status`. If this or an earlier write to stdout has failed, prints an
 * error and returns CLI_FAILED. */
cli_exit cli_finish(cli_exit status);

#endif
