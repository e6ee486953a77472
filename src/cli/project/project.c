/*
 * project.c: `cardbox project list`: which projects there are, or which a worker's role may see.
 */
#include "cli/commands.h"
#include "cli/view/listing.h"
#include "store/client/client.h"
#include "base/errors.h"
#include "store/admin/projects.h"

static void add_object(buf *out, const void *rows, size_t i)
{
    project_json(out, rows, (int)i);
}

static void add_row(table *t, const void *rows, size_t i)
{
    table_add(t, project_id(rows, (int)i), STYLE_PLAIN);
    for (int kind = 0; kind < PROJECT_KINDS; kind++) {
        char number[TERM_NUMBER_SIZE], text[TERM_NUMBER_SIZE + 1];
        bool more;
        int64_t count = project_count(rows, (int)i, (project_kind)kind, &more);

        snprintf(text, sizeof(text), "%s%s", term_number(number, (uint64_t)count), more ? "+" : "");
        table_text(t, text);
    }
}

static cardbox_status ask(store_rows **out, cardbox *db, const project_list *list,
                          cardbox_error *err)
{
    params p;

    params_init(&p, 4096);
    projects_params(&p, list);
    return client_run(db, STATEMENT_projects_list, &p, RUN_AGAIN, out, err);
}

static cli_exit print_page(const store_rows *rows, int64_t limit, bool json, arena *memory)
{
    static const table_column columns[] = {{"project", TABLE_ID},
                                           {"cards", TABLE_RIGHT},
                                           {"boxes", TABLE_RIGHT},
                                           {"sessions", TABLE_RIGHT},
                                           {"tasks", TABLE_RIGHT}};
    int64_t count = rows_count(rows);
    listing found = {.of = rows,
                     .count = (size_t)(count < limit ? count : limit),
                     .add_object = add_object,
                     .add_row = add_row,
                     LISTING_COLUMNS(columns),
                     .cursor = projects_next(rows, limit, memory)};

    return memory->failed ? cli_nomem() : listing_print(&found, json, "no projects");
}

static cli_exit run_list(const void *given, char **arguments)
{
    const cli_common *common = given;
    cardbox_error err = CARDBOX_ERROR_INIT;
    project_list list = {.limit = common->limit > 0 ? common->limit : CARDBOX_PAGE_DEFAULT};
    store_rows *rows = NULL;
    arena memory = ARENA_INIT;
    cardbox *db = NULL;
    cli_exit status = CLI_FAILED;

    (void)arguments;
    if (common->cursor != NULL &&
        !list_cursor_read(&list.from, slice_of(common->cursor), &memory)) {
        (void)error_cursor(&err, common->cursor);
        status = memory.failed ? cli_nomem() : cli_failed(&err);
        goto done;
    }
    db = cli_open(common);
    if (db == NULL)
        goto done;
    if (ask(&rows, db, &list, &err) == CARDBOX_OK)
        status = print_page(rows, list.limit, common->json, &memory);
    else
        status = cli_failed(&err);
done:
    rows_free(rows);
    arena_reset(&memory);
    return status;
}

static const opt_spec list_specs[] = {CLI_DSN, CLI_CURSOR, CLI_LIMIT, CLI_JSON, CLI_OPTIONS_END};

const cli_command cli_project_list = {
    .name = "project list",
    .summary = "list projects, by their ids",
    .description = "Those that have anything, and how much of it is live, among the first 1,000 of "
                   "each kind: with a + behind it, or in \"capped\" of --json, there are more. A "
                   "worker's role sees those that are granted to it.",
    .examples = "project list\n"
                "project list --json --limit 500",
    .options = list_specs,
    .alone = run_list,
};
