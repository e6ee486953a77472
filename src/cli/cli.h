/*
 * cli.h: the table of the commands of `cardbox`, which defines their options, arguments and help;
 * and the functions that all commands share.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "base/buf.h"
#include "app/json_text.h"
#include "app/opts.h"
#include "cardbox.h"
#include "app/dev_dsn.h"

/* The exit statuses of `cardbox`. Scripts depend on the numbers, so they never change. */
typedef enum cli_exit { CLI_DONE = 0, CLI_FAILED = 1, CLI_USAGE = 2 } cli_exit;

/* The state of the running command: its database, the last error of the SDK, and the values of its
 * options. The struct has a member for every option of every command. */
typedef struct cli_call {
    cardbox *db; /* NULL if the command is `without_database` and has not opened it */
    cardbox_error err;

    const char *dsn;     /* NULL or "": the default that cli_dsn() finds */
    const char *project; /* the tenant */
    long limit;          /* maximum number of rows; 0: the command's default */
    const char *cursor;  /* position where a list continues; NULL: its beginning */
    char **arguments;    /* the arguments that are not options, ended by NULL */
    size_t argument_count;

    /* If the SDK has a struct for some options, they are parsed into it. */
    cardbox_card card; /* options of cards */
    cardbox_add_options add;
    cardbox_card_filter filter;
    const char *content, *text, *tool_call_id;
    opt_list meta;
    long ttl;

    cardbox_read_options part; /* options of boxes */
    cardbox_fork_options fork;
    cardbox_append_options append;
    const char *id;
    opt_list parents;

    const char *session, *entry, *compare, *expected_head; /* options of sessions */
    int dialect;                                           /* a cardbox_dialect */
    long from_depth;

    cardbox_context_options context;

    cardbox_spawn spawn; /* options of tasks */
    const char *reason;
    long skip;

    const char *name, *scope, *expires; /* options of tokens */
    opt_list tenants;

    const char *data, *listen; /* options of dev */

    const char *new_id; /* options that several groups of commands have */
    long before, retention_days, batch, wait_s;

    bool json; /* print JSON: one object, or one on each line */
    bool tree, all, ids, force;
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

/* The table of options of any command, of a command that uses a database, and of a command that
 * uses a project. */
#define CLI_OPTIONS(...)     ((const opt_spec[]){__VA_ARGS__, CLI_OPTIONS_END})
#define CLI_IN_DATABASE(...) CLI_OPTIONS(CLI_DSN, __VA_ARGS__, CLI_JSON)
#define CLI_IN_PROJECT(...)  CLI_IN_DATABASE(CLI_PROJECT, __VA_ARGS__)
/* clang-format on */

/* The name of a value in the store's error messages, and the option that sets this value. */
typedef struct cli_origin {
    const char *field, *option;
} cli_origin;

#define CLI_ORIGINS_MAX 12

typedef struct cli_command {
    const char *name;        /* "box append" */
    const char *arguments;   /* "BOX CARD...", "SESSION [ENTRY]"; NULL: none */
    const char *summary;     /* one line, lower case */
    const char *description; /* text for --help, or NULL */
    const char *examples;    /* for --help: one command on each line, without "cardbox" */
    const opt_spec *options;
    bool project_optional; /* the command accepts --project, but does not require it */
    cli_origin origins[CLI_ORIGINS_MAX]; /* ended by a NULL field; cli_failed() adds "cursor" */
    bool (*check)(const cli_call *call); /* false: an error of usage was printed; NULL: no check */
    cli_exit (*run)(cli_call *call);
    bool without_database; /* the command uses no database, or opens it by cli_open() itself */
} cli_command;

/* All commands, in the order of the overview. The array cli_commands ends with NULL. */
/* clang-format off */
#define CLI_COMMANDS(one)                                                                   \
    one(dev) one(migrate) one(doctor) one(gc)                                               \
    one(project_list)                                                                       \
    one(token_create) one(token_list) one(token_revoke)                                     \
    one(import) one(export)                                                                 \
    one(card_get) one(card_list) one(card_add) one(card_boxes) one(card_revisions)          \
    one(card_delete)                                                                        \
    one(box_list) one(box_get) one(box_cards) one(box_context) one(box_log) one(box_create) \
    one(box_append) one(box_replace) one(box_fork) one(box_delete)                          \
    one(session_import) one(session_export) one(session_list) one(session_show)             \
    one(session_tree) one(session_path) one(session_leaves) one(session_branch_points)      \
    one(session_children) one(session_labels) one(session_diff) one(session_context)        \
    one(session_append) one(session_label) one(session_head) one(session_fork)              \
    one(session_delete) one(session_check) one(session_convert)                             \
    one(task_run) one(task_send) one(task_cancel) one(task_list) one(task_show)             \
    one(task_follow)                                                                        \
    one(ability_list) one(ability_show) one(ability_invoke)
/* clang-format on */

#define CLI_DECLARE(name) extern const cli_command cli_##name;
CLI_COMMANDS(CLI_DECLARE)
#undef CLI_DECLARE

extern const cli_command *const cli_commands[];

/* Returns the command whose name `words` begins with. *used receives the number of words in the
 * name. NULL: there is no such command. */
const cli_command *cli_find(char **words, int count, int *used);

/* Prints that the words name no command, with the name of a similar command if there is one.
 * Returns CLI_USAGE. */
cli_exit cli_unknown(char **words, int count);

/* Runs the command that the arguments name. argv lacks the program's name. */
cli_exit cli_run(int argc, char **argv);

bool cli_is_help(const char *word);         /* help, --help, -h */
cli_exit cli_help(char **words, int count); /* help: the overview, a group, or a command */
void cli_help_command(FILE *out, const cli_command *command);

/* Prints "cardbox COMMAND: ", `kind` and the message on stderr, as one line of printable
 * characters. If `kind` is NULL, prints only the message. */
void cli_message(const char *kind, const char *format, ...) __attribute__((format(printf, 2, 3)));
#define cli_error(...)   cli_message("", __VA_ARGS__)
#define cli_warning(...) cli_message("warning: ", __VA_ARGS__)
#define cli_note(...)    cli_message(NULL, __VA_ARGS__)

/* Prints an error. The value of the expression is `value`. */
#define cli_error_and(value, ...) (cli_error(__VA_ARGS__), (value))

/* Prints the call's error, with a remedy if cli_hint() has one, and returns CLI_FAILED. If the
 * store rejected the value of an option in the command's `origins`, the message names the option,
 * and CLI_USAGE is returned. */
cli_exit cli_failed(const cli_call *call);

/* Prints a line of JSON and frees it. Returns CLI_DONE; if the buffer has failed, ends the process.
 */
cli_exit cli_print_json_text(buf *line);

/* Prints a value of jansson as one line and releases it. Returns CLI_DONE; if `value` is NULL,
 * because memory is out, ends the process. */
cli_exit cli_print_json(json_t *value);

/* Prints `value` as JSON if `json` is set, else the formatted text. Releases the value. */
cli_exit cli_print(bool json, json_t *value, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Prints "out of memory" and ends the process with CLI_FAILED. */
_Noreturn void cli_out_of_memory(void);

/* Ends the process with CLI_FAILED unless `ok` is true. */
static inline void cli_check_memory(bool ok)
{
    if (!ok)
        cli_out_of_memory();
}

/* True if the running command has the option --project. */
bool cli_is_of_project(void);

/* Returns a remedy to append to the message of an error; "": there is none. */
const char *cli_hint(const cardbox_error *err);

/* Finds the connection string: the value of --dsn; else, without PG* variables, that of a running
 * `cardbox dev` in ./var, copied to `storage`; else NULL or "", libpq's default. False: the
 * database in ./var is not running, and call->err is set. */
bool cli_dsn(const char **out, cli_call *call, char storage[DEV_DSN_SIZE]);

/* Opens the database as call->db. False: an error was printed. */
bool cli_open(cli_call *call);

/* Flushes stdout and returns `status`. If a write to stdout has failed, prints an error and returns
 * CLI_FAILED. */
cli_exit cli_finish(cli_exit status);

#endif
