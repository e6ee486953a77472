/*
 * export.c: `cardbox export`. Writes a project to a file or the standard output.
 */
#include "cli/cli.h"
#include "cli/files.h"
#include "cli/view/term.h"
#include "store/project/transfer.h"

typedef struct export_run_state {
    cli_target target;
    term_progress progress;
    export_counts counts;
} export_run_state;

static bool write_piece(void *arg, slice piece, const export_counts *counts)
{
    export_run_state *state = arg;

    state->counts = *counts;
    state->progress.total = counts->total;
    term_progress_show(&state->progress, counts->lines, counts->lines);
    return target_write(&state->target, piece);
}

/* True if the argument may be meant as a project: none was named, and it has no dot and no slash.
 */
static bool may_be_project(const char *file, const char *project)
{
    return project == getenv("CARDBOX_PROJECT") && strpbrk(file, "./") == NULL;
}

/* Reports the counts, on stderr if stdout has the lines. */
static void print_counts(const export_run_state *state, const char *project)
{
    static const char *const NAMES[TRANSFER_OTHER][2] = {
        [TRANSFER_CARD] = {"card", "cards"},
        [TRANSFER_BOX] = {"box", "boxes"},
        [TRANSFER_SESSION_ENTRY] = {"session entry", "session entries"},
        [TRANSFER_SESSION] = {"session", "sessions"},
        [TRANSFER_TASK] = {"task", "tasks"},
        [TRANSFER_MESSAGE] = {"message", "messages"},
        [TRANSFER_CALL] = {"call", "calls"}};
    buf text = BUF_INIT(1024);

    for (int kind = 0; kind < TRANSFER_OTHER; kind++) {
        unsigned long long count = state->counts.of[kind];
        if (kind <= TRANSFER_BOX || count > 0)
            buf_printf(&text, "%s%llu %s", text.len == 0 ? "" : ", ", count,
                       NAMES[kind][count != 1]);
    }
    if (state->target.name != NULL)
        printf("%s of project %s in %s\n", buf_str(&text), project, state->target.name);
    if (state->target.name != NULL && may_be_project(state->target.name, project))
        cli_note("%s is a file now; another project than %s is named by --project",
                 state->target.name, project);
    if (state->counts.lines == 0)
        cli_note("nothing is in project %s", project);
    buf_free(&text);
}

static cli_exit export_project(cli_call *call)
{
    export_run_state state = {.target = target_of(call->arguments[0]),
                              .progress = {.label = "export", .unit = "lines"}};
    cardbox_status status = CARDBOX_UNAVAILABLE;
    bool complete;

    if (target_open(&state.target)) {
        status = export_run(call->db, call->project, write_piece, &state, &call->err);
        term_progress_clear(&state.progress);
        if (status != CARDBOX_OK)
            cli_failed(call);
    }
    complete = target_close(&state.target, status == CARDBOX_OK);
    if (complete)
        print_counts(&state, call->project);
    return complete ? CLI_DONE : CLI_FAILED;
}

const cli_command cli_export = {
    .name = "export",
    .arguments = "[FILE]",
    .summary = "write a whole project as NDJSON",
    .description =
        "Cards, boxes, sessions, tasks, messages and calls, a line each, as of one moment. FILE "
        "is renamed from FILE.partial when it is complete; -, the default, is the standard output. "
        "`cardbox import` reads it. Of a box the export has the present list only, without "
        "versions, log and append keys: for a backup, use pg_dump.",
    .examples = "export --project demo demo.ndjson\n"
                "export --project demo | gzip > demo.ndjson.gz",
    .options = CLI_OPTIONS(CLI_DSN, CLI_PROJECT),
    .run = export_project,
};
