/*
 * transfer.c: `cardbox export` and `cardbox import`: files, progress and counts. The store writes
 * and parses the lines.
 */
#include <errno.h>
#include "app/line_reader.h"
#include "cli/cli.h"
#include "cli/files.h"
#include "cli/view/term.h"
#include "store/project/transfer.h"

/* For each kind of rows: its name for one row, and for several. */
static const char *const NAMES[TRANSFER_KINDS][2] = {
    [TRANSFER_CARD] = {"card", "cards"},
    [TRANSFER_BOX] = {"box", "boxes"},
    [TRANSFER_SESSION_ENTRY] = {"session entry", "session entries"},
    [TRANSFER_USAGE] = {"sum of tokens", "sums of tokens"},
    [TRANSFER_SESSION] = {"session", "sessions"},
    [TRANSFER_TASK] = {"task", "tasks"},
    [TRANSFER_MESSAGE] = {"message", "messages"},
    [TRANSFER_CALL] = {"call", "calls"},
    [TRANSFER_OTHER] = {"other", "other"},
};

/* --- export --- */

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

/* Prints the numbers of exported rows if they were written to a file. If the project is empty,
 * prints a note, also if the rows go to the standard output. */
static void print_counts(const export_run_state *state, const char *project)
{
    buf text = BUF_INIT(1024);

    for (int kind = 0; kind < TRANSFER_OTHER; kind++) {
        unsigned long long count = state->counts.of[kind];
        if (kind <= TRANSFER_BOX || count > 0)
            buf_printf(&text, "%s%llu %s", text.len == 0 ? "" : ", ", count,
                       NAMES[kind][count != 1]);
    }
    if (state->target.name != NULL)
        printf("%s of project %s in %s\n", buf_str(&text), project, state->target.name);
    /* If the project is that of CARDBOX_PROJECT, a FILE without dot and slash may have been meant
     * as the name of another project. */
    if (state->target.name != NULL && project == getenv("CARDBOX_PROJECT") &&
        strpbrk(state->target.name, "./") == NULL)
        cli_note("%s is a file now; to export another project than %s, give --project",
                 state->target.name, project);
    if (state->counts.lines == 0)
        cli_note("nothing is in project %s", project);
    buf_free(&text);
}

static cli_exit export_project(cli_call *call)
{
    export_run_state state = {.progress = {.label = "export", .unit = "lines"}};
    cardbox_status status = CARDBOX_UNAVAILABLE;

    if (target_open(&state.target, call->arguments[0])) {
        status = export_run(call->db, call->project, write_piece, &state, &call->err);
        term_progress_clear(&state.progress);
        if (status != CARDBOX_OK)
            cli_failed(call);
    }
    bool complete = target_close(&state.target, status == CARDBOX_OK);
    if (complete)
        print_counts(&state, call->project);
    return complete ? CLI_DONE : CLI_FAILED;
}

const cli_command cli_export = {
    .name = "export",
    .arguments = "[FILE]",
    .summary = "write a whole project as NDJSON",
    .description =
        "Writes cards, boxes, sessions, tasks, messages and calls from one snapshot as JSON, one "
        "row on each line. FILE is renamed from FILE.partial when it is complete; -, the default, "
        "is the standard output. `cardbox import` reads the rows. Boxes are exported without "
        "earlier versions, logs and append keys. For a backup, use pg_dump.",
    .examples = "export --project demo demo.ndjson\n"
                "export --project demo | gzip > demo.ndjson.gz",
    .options = CLI_OPTIONS(CLI_DSN, CLI_PROJECT),
    .run = export_project,
};

/* --- import --- */

typedef struct import_run {
    cli_call *call;
    cli_source from;
    line_reader reader;
    term_progress progress;
    store_import *in;
} import_run;

/* If an imported file begins with lines that are no rows of an export, this number of them is
 * reported one by one. Further ones are only counted, until a row of an export comes. */
#define UNKNOWN_REPORTED 5

/* True if the lines so far contain text, but no row of an export: none has a known "kind". */
static bool is_no_export(const import_result *so_far)
{
    uint64_t unknown = so_far->of[TRANSFER_OTHER].refused;

    return unknown > 0 && unknown + so_far->blank == so_far->lines;
}

static void report_refused(void *arg, uint64_t line, const char *reason)
{
    import_run *r = arg;
    const import_result *so_far = import_so_far(r->in);
    uint64_t unknown = so_far->of[TRANSFER_OTHER].refused;

    if (is_no_export(so_far) && unknown > UNKNOWN_REPORTED + 1)
        return;
    term_progress_clear(&r->progress);
    if (is_no_export(so_far) && unknown > UNKNOWN_REPORTED)
        cli_note("from line %llu on, bad lines are only counted, until a row of an export comes",
                 (unsigned long long)line);
    else
        cli_note("line %llu: %s", (unsigned long long)line, reason);
}

static bool import_lines(import_run *r)
{
    cardbox_status status = CARDBOX_OK;
    line_state state = LINE_READ;
    slice line;

    while (status == CARDBOX_OK) {
        state = line_reader_next(&r->reader, &line);
        if (state == LINE_READ)
            status = import_line(r->in, line, &r->reader.line, &r->call->err);
        else if (state == LINE_TOO_LONG)
            import_too_long(r->in);
        else
            break;
        term_progress_show(&r->progress, r->reader.bytes, import_so_far(r->in)->lines);
    }
    if (state == LINE_FAILED)
        cli_error("cannot read %s: %s", r->from.name, strerror(errno));
    if (status == CARDBOX_OK)
        status = import_finish(r->in, &r->call->err);
    term_progress_clear(&r->progress);
    if (status != CARDBOX_OK) {
        cli_failed(r->call);
        cli_error("stopped at line %llu; repeat the import: lines that are stored do not change",
                  (unsigned long long)import_so_far(r->in)->lines);
    }
    return state != LINE_FAILED && status == CARDBOX_OK;
}

/* --- the summary --- */

static bool is_printed(int kind, const import_counts *counts)
{
    return kind <= TRANSFER_BOX ||
           counts->inserted + counts->unchanged + counts->repaired + counts->refused > 0;
}

static void print_summary(const import_result *result)
{
    int width = 0;

    for (int kind = 0; kind < TRANSFER_KINDS; kind++) {
        int length = (int)strlen(NAMES[kind][1]);
        if (is_printed(kind, &result->of[kind]) && length > width)
            width = length;
    }
    for (int kind = 0; kind < TRANSFER_KINDS; kind++) {
        const import_counts *counts = &result->of[kind];

        if (!is_printed(kind, counts))
            continue;
        printf("%-*s  ", width, NAMES[kind][1]);
        if (kind != TRANSFER_OTHER)
            printf("%llu inserted, %llu unchanged, %llu repaired, ",
                   (unsigned long long)counts->inserted, (unsigned long long)counts->unchanged,
                   (unsigned long long)counts->repaired);
        printf("%llu refused\n", (unsigned long long)counts->refused);
    }
}

static cli_exit print_result(cli_call *call, const import_result *result)
{
    uint64_t refused = 0;
    buf json = BUF_INIT(4096);

    for (int kind = 0; kind < TRANSFER_KINDS; kind++)
        refused += result->of[kind].refused;
    import_result_json(&json, result);
    if (call->json)
        printf("{%s}\n", buf_str(&json));
    else
        print_summary(result);
    buf_free(&json);
    if (is_no_export(result))
        cli_note("no line is a row of an export; `cardbox session import` reads a session's file");
    if (result->ignored > 0)
        cli_warning("%llu unknown members were left out; the first is %s in line %llu",
                    (unsigned long long)result->ignored, result->ignored_name,
                    (unsigned long long)result->ignored_line);
    return refused > 0 ? CLI_FAILED : CLI_DONE;
}

/* --- the command --- */

/* With --tenant-from-rows, --project is an error, but a project from CARDBOX_PROJECT is ignored. */
static bool check_project(const cli_call *call)
{
    bool is_given = call->project != NULL && call->project != getenv("CARDBOX_PROJECT");

    if (call->tenant_from_rows ? !is_given : call->project != NULL)
        return true;
    return cli_error_and(false, "give either --project PROJECT or --tenant-from-rows");
}

static cli_exit import_project(cli_call *call)
{
    static import_run r;
    cli_exit status = CLI_FAILED;

    if (!source_open(&r.from, call->arguments[0]))
        return CLI_FAILED;
    r.call = call;
    r.progress = (term_progress){.label = "import", .unit = "lines", .total = r.from.size};
    line_reader_init(&r.reader, TRANSFER_LINE_MAX, line_reader_from_file, r.from.in);
    bool is_open = cli_open(call);
    if (is_open && import_new(&r.in, call->db, call->tenant_from_rows ? NULL : call->project,
                              report_refused, &r, &call->err) != CARDBOX_OK) {
        cli_failed(call);
    } else if (is_open) {
        status = import_lines(&r) ? CLI_DONE : CLI_FAILED;
        if (print_result(call, import_so_far(r.in)) != CLI_DONE)
            status = CLI_FAILED;
        import_free(r.in);
    }
    line_reader_free(&r.reader);
    source_close(&r.from);
    return status;
}

const cli_command cli_import = {
    .name = "import",
    .arguments = "[FILE]",
    .summary = "import a project from NDJSON",
    .description =
        "FILE has rows as `cardbox export` writes them; - (the default) is the standard input. Bad "
        "lines are reported with number and reason, and are not imported; the exit status is then "
        "1. If a file begins with other lines than rows, only the first five are reported. If the "
        "project has not changed since, importing a file again writes nothing. An export has no "
        "append keys and earlier versions of boxes: a new box begins at version 1.\n\nA row is "
        "{\"kind\":\"card\",\"card_id\":ID,\"content\":JSON,...} or "
        "{\"kind\":\"box\",\"box_id\":UUID,\"card_ids\":[ID,...],...}, or has the kind "
        "session_entry, session, task, message or call. With --tenant-from-rows, each row also "
        "needs \"tenant_id\":PROJECT. The section ROWS of cardbox(1) describes all members.",
    .examples = "import --project demo demo.ndjson\n"
                "import --project copy --json < demo.ndjson\n"
                "export --project demo | jq -c '.tenant_id = \"copy\"' |\n"
                "   cardbox import --tenant-from-rows",
    .options = CLI_IN_PROJECT(CLI_FLAG("tenant-from-rows", tenant_from_rows,
                                       "import each row into the project of its tenant_id")),
    .project_optional = true,
    .check = check_project,
    .without_database = true, /* import_project() opens the file before the database */
    .run = import_project,
};
