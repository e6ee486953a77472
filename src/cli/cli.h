/*
 * cli.h: commands of `cardbox` are entries of a table, from which parsing, help and the check of
 * arguments follow; and the functions that they share.
 */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "base/buf.h"
#include "app/json_text.h"
#include "app/opts.h"
#include "cardbox.h"
#include "app/dev_dsn.h"

/* The exit status of the process. Scripts depend on the numbers. */
typedef enum cli_exit { CLI_DONE = 0, CLI_FAILED = 1, CLI_USAGE = 2 } cli_exit;

/* A command that runs: its database, the last error of the SDK, and the values of its options. The
 * struct has a member for every option of every command. */
typedef struct cli_call {
    cardbox *db; /* open, unless the command is `without_database` */
    cardbox_error err;

    const char *dsn;     /* NULL or "": libpq's PG* environment */
    const char *project; /* the tenant */
    long limit;          /* rows; 0: the command's default */
    const char *cursor;  /* where a list goes on; NULL: at its beginning */
    char **arguments;    /* those that are no options, up to NULL */
    size_t argument_count;

    /* Options are parsed into the SDK's structs where it has one for them. */
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

    const char *new_id; /* options of several groups */
    long before, retention_days, batch, wait_s;

    bool json; /* for programs: one object, or NDJSON */
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
#define CLI_JSON CLI_FLAG("json", json, "for programs: one JSON object, or one a line")
#define CLI_DIGITS_OF(number) #number
#define CLI_DIGITS(number)    CLI_DIGITS_OF(number)
#define CLI_LIMIT                                                                              \
    CLI_INT("limit", limit, "N", "at most N rows, up to "                          \
            CLI_DIGITS(CARDBOX_PAGE_MAX) " (default " CLI_DIGITS(CARDBOX_PAGE_DEFAULT) ")",    \
            1, CARDBOX_PAGE_MAX)
#define CLI_CURSOR CLI_TEXT("cursor", cursor, "CURSOR", "go on where an earlier list ended")
#define CLI_OPTIONS_END {NULL, OPT_END, 0, NULL, NULL, NULL, 0, 0}

/* The options of a command; of one that uses a database, or a project in it. */
#define CLI_OPTIONS(...)     ((const opt_spec[]){__VA_ARGS__, CLI_OPTIONS_END})
#define CLI_IN_DATABASE(...) CLI_OPTIONS(CLI_DSN, __VA_ARGS__, CLI_JSON)
#define CLI_IN_PROJECT(...)  CLI_IN_DATABASE(CLI_PROJECT, __VA_ARGS__)
/* clang-format on */

/* The name of a value in the store's messages, and the option that the user gave it with. */
typedef struct cli_origin {
    const char *field, *option;
} cli_origin;

#define CLI_ORIGINS_MAX 12

typedef struct cli_command {
    const char *name;        /* "box append" */
    const char *arguments;   /* "BOX CARD...", "SESSION [ENTRY]"; NULL: none */
    const char *summary;     /* one line, lower case */
    const char *description; /* some lines for --help, or NULL */
    const char *examples;    /* one command a line, without "cardbox" */
    const opt_spec *options;
    bool project_optional;               /* the command accepts --project, and does not need it */
    cli_origin origins[CLI_ORIGINS_MAX]; /* up to a field that is NULL; "cursor" is implied */
    bool (*check)(const cli_call *call); /* false: wrong usage, which was printed; NULL: no check */
    cli_exit (*run)(cli_call *call);
    bool without_database; /* the command needs none, or opens it itself */
} cli_command;

/* All commands, in the order of the overview, ended by NULL. */
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

/* The command that the words begin with, and the number of words in its name. NULL: none. */
const cli_command *cli_find(char **words, int count, int *used);

/* Prints that there is no such command, and a similar one. Returns CLI_USAGE. */
cli_exit cli_unknown(char **words, int count);

/* Runs the command of argv, which lacks the program's name. */
cli_exit cli_run(int argc, char **argv);

bool cli_is_help(const char *word);         /* help, --help, -h */
cli_exit cli_help(char **words, int count); /* the overview, a group's, or one command's */
void cli_help_command(FILE *out, const cli_command *command);

/* Prints "cardbox COMMAND: KIND message" on stderr, as one line of printable characters. If `kind`
 * is NULL, prints the message alone: one of many lines about the input. */
void cli_message(const char *kind, const char *format, ...) __attribute__((format(printf, 2, 3)));
#define cli_error(...)   cli_message("", __VA_ARGS__)
#define cli_warning(...) cli_message("warning: ", __VA_ARGS__)
#define cli_note(...)    cli_message(NULL, __VA_ARGS__)

/* Prints an error. Its value is `value`, which the failed function returns. */
#define cli_error_and(value, ...) (cli_error(__VA_ARGS__), (value))

/* Prints the call's error, with a hint where the user can do something, and returns CLI_FAILED. If
 * the store rejected a value that the command's `origins` name, the message names the option, and
 * the result is CLI_USAGE. */
cli_exit cli_failed(const cli_call *call);

/* Prints a line of JSON and frees it. */
cli_exit cli_print_json_text(buf *line);

/* Prints a value of jansson's as one line and releases it. NULL: out of memory. */
cli_exit cli_print_json(json_t *value);

/* Prints `value` as JSON if `json` is set, else the text; releases the value. */
cli_exit cli_print(bool json, json_t *value, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Prints "out of memory" and ends the process with CLI_FAILED. */
_Noreturn void cli_out_of_memory(void);

/* Ends the process unless `ok`. */
static inline void cli_check_memory(bool ok)
{
    if (!ok)
        cli_out_of_memory();
}

/* True if the command that runs has the option --project. */
bool cli_is_of_project(void);

/* A remedy to append to the message of an error, or "". */
const char *cli_hint(const cardbox_error *err);

/* Finds the connection string: that of --dsn, or without PG* variables that of a `cardbox dev` in
 * ./var, in `storage`. False: the database in ./var does not run. */
bool cli_dsn(const char **out, cli_call *call, char storage[DEV_DSN_SIZE]);

/* Opens the database of a call. False: an error was printed. */
bool cli_open(cli_call *call);

/* Flushes stdout. Reports a failed write, and then returns CLI_FAILED. */
cli_exit cli_finish(cli_exit status);

#endif
