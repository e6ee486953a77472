/*
 * export.c: `cardbox export`. Writes what the store gives to a file or the standard output.
 */
#include "cli/commands.h"
#include "cli/target.h"
#include "cli/term.h"
#include "store/transfer/transfer.h"

typedef struct export_options {
    cli_common common;
} export_options;

typedef struct export_run_state {
    cli_target target;
    term_progress progress;
    export_counts counts;
} export_run_state;

static bool take_piece(void *arg, view piece, const export_counts *counts)
{
    export_run_state *state = arg;
    uint64_t done = counts->of[TRANSFER_CARD] + counts->of[TRANSFER_BOX];

    state->counts = *counts;
    state->progress.total = counts->total;
    term_progress_show(&state->progress, done, done);
    return target_write(&state->target, piece);
}

/* What was written, on stderr where stdout has the lines. */
static void say_counts(const export_run_state *state, const char *project)
{
    unsigned long long cards = state->counts.of[TRANSFER_CARD];
    unsigned long long boxes = state->counts.of[TRANSFER_BOX];

    if (state->target.name != NULL)
        printf("%llu card%s and %llu box%s of project %s in %s\n", cards, cards == 1 ? "" : "s",
               boxes, boxes == 1 ? "" : "es", project, state->target.name);
    if (cards + boxes == 0)
        cli_note("no cards and no boxes in project %s", project);
}

/* Their lines are in it, as cards; what makes a tree of them is not. */
static void warn_of_sessions(cardbox *db, const char *project)
{
    cardbox_sessions *sessions = NULL;

    if (cardbox_list_sessions(&sessions, db, project, NULL, 1, NULL) == CARDBOX_OK &&
        cardbox_sessions_count(sessions) > 0)
        cli_warning("the project's sessions are not in it, only their cards: write each with "
                    "`cardbox session export`");
    cardbox_sessions_free(sessions);
}

static cli_exit run(const void *given, char **arguments, int count)
{
    const export_options *options = given;
    export_run_state state = {.target = target_of(count > 0 ? arguments[0] : NULL),
                              .progress = {.label = "export", .unit = "lines"}};
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_status status = CARDBOX_UNAVAILABLE;
    cardbox *db = NULL;
    bool whole;

    if (cli_open(&db, &options->common) && target_open(&state.target)) {
        status = export_run(db, options->common.project, take_piece, &state, &err);
        term_progress_clear(&state.progress);
        if (status != CARDBOX_OK)
            cli_failed(&err);
    }
    whole = target_close(&state.target, status == CARDBOX_OK);
    if (whole) {
        say_counts(&state, options->common.project);
        warn_of_sessions(db, options->common.project);
    }
    cardbox_close(db);
    return whole ? CLI_DONE : CLI_FAILED;
}

static const opt_spec specs[] = {
    CLI_DSN(export_options),
    CLI_PROJECT(export_options),
    CLI_OPTIONS_END,
};

static const export_options defaults = {0};

const cli_command cli_export = {
    .name = "export",
    .arguments = "[FILE]",
    .summary = "write all cards and boxes of a project as NDJSON",
    .description =
        "One line a card or box, as of one moment. FILE gets its name when it is whole; "
        "-, the\ndefault, is the standard output. `cardbox import` reads it back.\n"
        "An export has each box's present list, and neither its versions and log nor the "
        "append\nkeys, nor the sessions, which `cardbox session export` writes: for a backup, use "
        "pg_dump.",
    .examples = "export --project demo demo.ndjson\n"
                "export --project demo | gzip > demo.ndjson.gz",
    .options = specs,
    .defaults = &defaults,
    .size = sizeof(export_options),
    .most = 1,
    .needs_project = true,
    .run = run,
};
