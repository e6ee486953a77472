/*
 * project.c: `cardbox project list`: which projects there are, or which a worker's role may see.
 */
#include <inttypes.h>
#include "cli/commands.h"
#include "cli/view/listing.h"
#include "store/operate/projects.h"

static void add_object(buf *out, const void *given, size_t i)
{
    buf capped = BUF_INIT(256);

    buf_text(out, "{\"project_id\":");
    buf_json_string(out, project_id(given, i));
    for (int kind = 0; kind < PROJECT_KINDS; kind++) {
        bool more;
        int64_t count = project_count(given, i, (project_kind)kind, &more);
        const char *name = project_kind_name((project_kind)kind);

        buf_printf(out, ",\"%s\":%" PRId64, name, count);
        if (more)
            buf_printf(&capped, "%s\"%s\"", capped.len > 0 ? "," : "", name);
    }
    buf_printf(out, ",\"capped\":[%s]}", buf_str(&capped));
    buf_free(&capped);
}

static void add_row(table *rows, const void *given, size_t i)
{
    table_add(rows, project_id(given, i), STYLE_PLAIN);
    for (int kind = 0; kind < PROJECT_KINDS; kind++) {
        char number[TERM_NUMBER_SIZE], text[TERM_NUMBER_SIZE + 1];
        bool more;
        int64_t count = project_count(given, i, (project_kind)kind, &more);

        snprintf(text, sizeof(text), "%s%s", term_number(number, (uint64_t)count), more ? "+" : "");
        table_text(rows, text);
    }
}

static cli_exit run_list(const void *given, char **arguments, int count)
{
    static const table_column columns[] = {{"project", TABLE_WHOLE},
                                           {"cards", TABLE_RIGHT},
                                           {"boxes", TABLE_RIGHT},
                                           {"sessions", TABLE_RIGHT},
                                           {"tasks", TABLE_RIGHT}};
    static const cli_origin origins[] = {{"cursor", "--cursor"}, {0}};
    const cli_common *common = given;
    cardbox_error err = CARDBOX_ERROR_INIT;
    project_list list;
    cardbox *db = cli_open(common);
    cli_exit status;

    (void)arguments;
    (void)count;
    if (db == NULL)
        return CLI_FAILED;
    if (projects_list(&list, db, common->cursor, (unsigned)common->limit, &err) == CARDBOX_OK) {
        listing found = {.of = &list,
                         .count = list.count,
                         .add_object = add_object,
                         .add_row = add_row,
                         LISTING_COLUMNS(columns),
                         .cursor = list.cursor};
        status = listing_print(&found, common->json, "no projects");
    } else {
        status = cli_refused(&err, origins);
    }
    projects_free(&list);
    return status;
}

static const opt_spec list_specs[] = {CLI_DSN, CLI_CURSOR, CLI_LIMIT, CLI_JSON, CLI_OPTIONS_END};

const cli_command cli_project_list = {
    .name = "project list",
    .arguments = "",
    .summary = "list projects, by their ids",
    .description = "Those that have anything, and how much of it is live, among the first 1,000 of "
                   "each kind: with a + behind it, or in \"capped\" of --json, there are more. A "
                   "worker's role sees those that are granted to it.",
    .examples = "project list\n"
                "project list --json --limit 500",
    .options = list_specs,
    .size = sizeof(cli_common),
    .run = run_list,
};
