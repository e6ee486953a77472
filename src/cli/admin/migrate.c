/*
 * migrate.c: `cardbox migrate`. What a migration is and how it is applied is the store's.
 */
#include "store/admin/migrate.h"

#include "cli/commands.h"
#include "cli/view/table.h"

typedef struct migrate_options {
    cli_common common;
    bool dry_run;
    long wait_s;
} migrate_options;

typedef struct migrate_lines {
    const migrate_options *options;
    table rows;
    buf json;
    unsigned applied;
} migrate_lines;

static void report(void *arg, const migration *m, bool applied_now)
{
    migrate_lines *lines = arg;
    const char *pending = lines->options->dry_run ? "pending" : "applied";
    const char *state = applied_now ? pending : "present";

    lines->applied += applied_now;
    table_int(&lines->rows, m->version);
    table_text(&lines->rows, m->name);
    table_add(&lines->rows, view_of(state), applied_now ? STYLE_GREEN : STYLE_DIM);
    buf_printf(&lines->json, "%s{\"version\":%d,\"name\":\"%s\",\"state\":\"%s\"}",
               lines->json.len > 0 ? "," : "", m->version, m->name, state);
}

static void print_result(const migrate_lines *lines)
{
    const migrate_options *options = lines->options;
    const char *plural = lines->applied == 1 ? "" : "s";

    if (options->common.json) {
        printf("{\"version\":%d,\"dry_run\":%s,\"applied\":%u,\"migrations\":[%s]}\n",
               migrations_newest(), options->dry_run ? "true" : "false",
               options->dry_run ? 0 : lines->applied, buf_str(&lines->json));
        return;
    }
    table_print(stdout, &lines->rows, 2, term_width());
    if (lines->applied == 0)
        printf("nothing to do: the database is at migration %d\n", migrations_newest());
    else if (options->dry_run)
        printf("%u migration%s would be applied\n", lines->applied, plural);
    else
        printf("%u migration%s applied: the database is at migration %d\n", lines->applied, plural,
               migrations_newest());
}

static cli_exit run(const void *given, char **arguments)
{
    static const table_column columns[] = {
        {"#", TABLE_RIGHT}, {"name", TABLE_LEFT}, {"state", TABLE_LEFT}};
    const migrate_options *options = given;
    migrate_lines lines = {.options = options, .json = BUF_INIT(1 << 20)};
    migrate_how how = {options->dry_run, (unsigned)options->wait_s, report, &lines};
    cardbox_error err = CARDBOX_ERROR_INIT;
    char storage[DEV_DSN_SIZE];
    const char *dsn = NULL;
    cli_exit status = CLI_DONE;

    (void)arguments;
    table_init(&lines.rows, columns, 3);
    if (cli_dsn(&dsn, &options->common, storage, &err) &&
        migrate_run(dsn, &how, &err) == CARDBOX_OK) {
        print_result(&lines);
    } else {
        /* Those that were applied before the failure stay. */
        if (!options->common.json && lines.rows.count > 0)
            table_print(stdout, &lines.rows, 2, term_width());
        status = cli_failed(&err);
    }
    table_free(&lines.rows);
    buf_free(&lines.json);
    return status;
}

static const opt_spec specs[] = {
    CLI_DSN,
    CLI_FLAG(migrate_options, "dry-run", dry_run, "only show what would be applied"),
    CLI_INT(migrate_options, "wait-s", wait_s, "N",
            "seconds to wait for each lock that another session has (default 60)", 0, 86400),
    CLI_JSON,
    CLI_OPTIONS_END,
};

static const migrate_options defaults = {.wait_s = MIGRATE_WAIT_S};

const cli_command cli_migrate = {
    .name = "migrate",
    .arguments = "",
    .summary = "bring the database to the schema of this version",
    .description = "Run it as the role that owns (or will own) the schema cardbox. Any number of "
                   "processes may run it at once: one works, the others wait and find it done. Who "
                   "waits in vain is told which session has the lock.",
    .examples = "migrate --dsn 'host=db user=cardbox dbname=cardbox'\n"
                "migrate --dry-run --json",
    .options = specs,
    .defaults = &defaults,
    .size = sizeof(migrate_options),
    .run = run,
};
