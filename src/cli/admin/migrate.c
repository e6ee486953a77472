/*
 * migrate.c: `cardbox migrate`: calls migrate_run(), and prints the results.
 */
#include "store/admin/migrate.h"

#include "cli/view/table.h"

/* The results for migrations, or for functions. */
typedef struct migrate_kind {
    unsigned applied;
    json_t *steps; /* array with an object for each migration or function */
} migrate_kind;

typedef struct migrate_lines {
    bool dry_run;
    bool is_new; /* the database had no migration before */
    table rows;
    migrate_kind migrations, functions;
} migrate_lines;

static void add_step_row(migrate_lines *lines, const migrate_step *step, const char *state)
{
    if (step->version > 0)
        table_int(&lines->rows, step->version);
    else
        table_text(&lines->rows, "");
    table_text(&lines->rows, step->version > 0 ? "migration" : "function");
    table_text(&lines->rows, step->name);
    table_add(&lines->rows, slice_of(state), step->applied_now ? STYLE_GREEN : STYLE_DIM);
}

/* Adds a migration or a function to the JSON, and to the table. The table does not contain
 * functions that the database has already. For a new database it contains no functions: more than a
 * hundred lines would hide the migrations. */
static void report_step(void *arg, const migrate_step *step)
{
    migrate_lines *lines = arg;
    migrate_kind *kind = step->version > 0 ? &lines->migrations : &lines->functions;
    const char *pending = lines->dry_run ? "pending" : "applied";
    const char *state = step->applied_now ? pending : "present";

    kind->applied += step->applied_now;
    lines->is_new = lines->is_new || (step->version == 1 && step->applied_now);
    if (step->version > 0 || (step->applied_now && !lines->is_new))
        add_step_row(lines, step, state);
    json_t *version = step->version > 0 ? json_integer(step->version) : NULL;
    cli_check_memory(
        json_array_append_new(kind->steps, json_pack("{s:o*, s:s, s:s}", "version", version, "name",
                                                     step->name, "state", state)) == 0);
}

static cli_exit print_json(const migrate_lines *lines)
{
    return cli_print_json(
        json_pack("{s:i, s:b, s:i, s:i, s:O, s:O}", "version", schema_newest(), "dry_run",
                  lines->dry_run, "applied", lines->dry_run ? 0 : (int)lines->migrations.applied,
                  "functions_applied", lines->dry_run ? 0 : (int)lines->functions.applied,
                  "migrations", lines->migrations.steps, "functions", lines->functions.steps));
}

static void print_result(const migrate_lines *lines)
{
    unsigned migrations = lines->migrations.applied, functions = lines->functions.applied;

    if (migrations + functions == 0) {
        printf("nothing to do: the database is at migration %d\n", schema_newest());
        return;
    }
    printf("%u migration%s and %u function%s ", migrations, migrations == 1 ? "" : "s", functions,
           functions == 1 ? "" : "s");
    if (lines->dry_run)
        printf("would be applied\n");
    else
        printf("applied: the database is at migration %d\n", schema_newest());
}

static cli_exit run_migrate(cli_call *call)
{
    static const table_column columns[] = {
        {"#", TABLE_RIGHT}, {"kind", TABLE_LEFT}, {"name", TABLE_LEFT}, {"state", TABLE_LEFT}};
    migrate_lines lines = {.dry_run = call->dry_run,
                           .migrations = {.steps = json_array()},
                           .functions = {.steps = json_array()}};
    migrate_how plan = {call->dry_run, (unsigned)call->wait_s, report_step, &lines};
    char storage[DEV_DSN_SIZE];
    const char *dsn = NULL;
    cli_exit status = CLI_DONE;

    table_init(&lines.rows, columns, 4);
    bool is_done =
        cli_dsn(&dsn, call, storage) && migrate_run(dsn, &plan, &call->err) == CARDBOX_OK;
    /* The table is also printed after a failure, which does not undo earlier migrations. */
    if (call->json)
        table_free(&lines.rows);
    else
        table_finish(&lines.rows, 2);
    if (!is_done)
        status = cli_failed(call);
    else if (call->json)
        status = print_json(&lines);
    else
        print_result(&lines);
    json_decref(lines.migrations.steps);
    json_decref(lines.functions.steps);
    return status;
}

const cli_command cli_migrate = {
    .name = "migrate",
    .summary = "bring the database to the schema of this version",
    .description = "Run the command as the role that owns (or will own) the schema cardbox. If "
                   "several processes migrate a database, one works and the others wait. If a "
                   "newer release has migrated the database, nothing is changed.",
    .examples = "migrate --dsn 'host=db user=cardbox dbname=cardbox'\n"
                "migrate --dry-run --json",
    .options = CLI_IN_DATABASE(
        CLI_FLAG("dry-run", dry_run, "only show what would be applied"),
        CLI_INT("wait-s", wait_s, "N",
                "seconds to wait for each lock of another connection (default 60)", 0, 86400)),
    .without_database = true,
    .run = run_migrate,
};
