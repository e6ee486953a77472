/*
 * session_export.c: `cardbox session export`, over the public SDK.
 */
#include "cli/commands.h"
#include "cli/target.h"
#include "cli/term.h"
#include "cardbox/session.h"

typedef struct export_options {
    cli_common common;
    const char *entry, *dialect;
} export_options;

typedef struct export_state {
    cli_target target;
    term_progress progress;
    uint64_t bytes;
} export_state;

static bool take_piece(void *arg, const char *bytes, size_t len)
{
    export_state *state = arg;

    state->bytes += len;
    term_progress_show(&state->progress, state->bytes, state->bytes);
    return target_write(&state->target, (view){bytes, len});
}

/* False: there is no such dialect; said. */
static bool dialect_of(cardbox_dialect *out, const char *name)
{
    *out = CARDBOX_DIALECT_UNKNOWN;
    if (name != NULL && strcmp(name, "pi") == 0)
        *out = CARDBOX_DIALECT_PI;
    else if (name != NULL && strcmp(name, "plain") == 0)
        *out = CARDBOX_DIALECT_PLAIN;
    else if (name != NULL)
        cli_error("--dialect must be pi or plain, not \"%s\"", name);
    return name == NULL || *out != CARDBOX_DIALECT_UNKNOWN;
}

static cli_exit run(const void *given, char **arguments, int count)
{
    const export_options *options = given;
    cardbox_dialect dialect;
    export_state state = {.target = target_of(count > 1 ? arguments[1] : NULL),
                          .progress = {.label = "export", .unit = "bytes"}};
    char bytes[TERM_NUMBER_SIZE];
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_status status = CARDBOX_UNAVAILABLE;
    cardbox *db = NULL;
    bool whole;

    if (!dialect_of(&dialect, options->dialect))
        return CLI_USAGE;
    if (cli_open(&db, &options->common) && target_open(&state.target)) {
        status = cardbox_session_export_as(db, options->common.project, arguments[0],
                                           options->entry, dialect, take_piece, &state, &err);
        term_progress_clear(&state.progress);
        if (status != CARDBOX_OK)
            cli_failed(&err);
    }
    whole = target_close(&state.target, status == CARDBOX_OK);
    if (whole && state.target.name != NULL)
        printf("session %s in %s, %s bytes\n", arguments[0], state.target.name,
               term_number(bytes, state.bytes));
    cardbox_close(db);
    return whole ? CLI_DONE : CLI_FAILED;
}

static const opt_spec specs[] = {
    CLI_DSN(export_options),
    CLI_PROJECT(export_options),
    {"entry", OPT_TEXT, offsetof(export_options, entry), NULL, "ENTRY",
     "only the header and the way to this entry", 0, 0},
    {"dialect", OPT_TEXT, offsetof(export_options, dialect), NULL, "DIALECT",
     "pi or plain: convert it (default: as it is)", 0, 0},
    CLI_OPTIONS_END,
};

static const export_options defaults = {0};

const cli_command cli_session_export = {
    .name = "session export",
    .arguments = "SESSION [FILE]",
    .summary = "write a session as JSON Lines, to the byte as it was imported",
    .description = "What was appended since follows in order. FILE gets its name when it is whole; "
                   "-, the default,\nis the standard output.",
    .examples = "session export --project demo demo-session session.jsonl\n"
                "session export --project demo --entry 5e550010 demo-session > branch.jsonl\n"
                "session export --project demo --dialect plain demo-session",
    .options = specs,
    .defaults = &defaults,
    .size = sizeof(export_options),
    .least = 1,
    .most = 2,
    .needs_project = true,
    .run = run,
};
