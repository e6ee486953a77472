/*
 * project.c: `cardbox project list`: lists the projects that the role may see.
 */
#include "cli/view/table.h"
#include "store/client/client.h"
#include "base/errors.h"
#include "store/admin/projects.h"

static void add_project_object(buf *out, const void *rows, size_t i)
{
    project_json(out, rows, (int)i);
}

static void add_project_row(table *t, const void *rows, size_t i)
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

static cli_exit print_page(const store_rows *rows, int64_t limit, bool json, arena *memory)
{
    static const listing PROJECTS = {add_project_object,
                                     add_project_row,
                                     0,
                                     {{"project", TABLE_ID},
                                      {"cards", TABLE_RIGHT},
                                      {"boxes", TABLE_RIGHT},
                                      {"sessions", TABLE_RIGHT},
                                      {"tasks", TABLE_RIGHT}}};
    int64_t count = rows_count(rows);
    const char *next = projects_next(rows, limit, memory);

    cli_check_memory(!memory->failed);
    return listing_print(&PROJECTS, rows, (size_t)(count < limit ? count : limit), next, json,
                         "no projects");
}

static cli_exit list_projects(cli_call *call)
{
    project_list list = {.limit = call->limit > 0 ? call->limit : CARDBOX_PAGE_DEFAULT};
    store_rows *rows = NULL;
    params p = PARAMS_INIT;
    arena memory = ARENA_INIT;
    cli_exit status = CLI_FAILED;

    if (call->cursor != NULL && !list_cursor_read(&list.from, slice_of(call->cursor), &memory)) {
        cli_check_memory(!memory.failed);
        (void)error_cursor(&call->err, call->cursor);
        status = cli_failed(call);
        goto done;
    }
    projects_params(&p, &list);
    if (client_run(call->db, STATEMENT_projects_list, &p, RUN_AGAIN, &rows, &call->err) ==
        CARDBOX_OK)
        status = print_page(rows, list.limit, call->json, &memory);
    else
        status = cli_failed(call);
done:
    rows_free(rows);
    arena_reset(&memory);
    return status;
}

const cli_command cli_project_list = {
    .name = "project list",
    .summary = "list projects, by their ids",
    .description =
        "Lists projects with their numbers of live cards, boxes, sessions and tasks. A + "
        "after a number (\"capped\" in JSON) means that the project has more than 1,000 "
        "rows of this kind, deleted and expired ones included. The number may then be "
        "too small. A worker's role sees the projects that are granted to it.",
    .examples = "project list\n"
                "project list --json --limit 500",
    .options = CLI_IN_DATABASE(CLI_CURSOR, CLI_LIMIT),
    .run = list_projects,
};
