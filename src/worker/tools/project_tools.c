/*
 * project_tools.c: adds the registered abilities of a project to the tools of all projects. An
 * ability that can't be a tool is left out and logged.
 */
#include "worker/tools/project_tools.h"
#include <stdlib.h>
#include "app/log.h"
#include "base/errors.h"

enum { JSON_MAX = 32 * 1024 * 1024 };

typedef struct project_tools_memory {
    tools list;
    registered_ability definitions[TOOLS_MAX];
    store_rows *rows; /* the texts of the definitions */
    buf json;
} project_tools_memory;

/* APIs of models require a schema with "type": "object". */
static bool is_object_schema(slice schema)
{
    return scan_string_is(scan_find(scan_whole(schema), "type").text, SLICE("object"));
}

static void add_ability(project_tools_memory *m, const registered_ability *definition,
                        slice project)
{
    char reason[256] = "its input schema lacks \"type\": \"object\"";
    const tool t = {.kind = TOOL_REGISTERED,
                    .name = arena_copy(&m->list.memory, definition->id),
                    .description = arena_copy(&m->list.memory, definition->description),
                    .parameters = tools_copy_schema(&m->list, definition->input_schema),
                    .unchecked = "",
                    .definition = definition};
    if (m->list.memory.failed || (is_object_schema(definition->input_schema) &&
                                  tools_add(&m->list, &t, reason, sizeof(reason))))
        return;
    log_warn("ability_not_offered", "project=%s ability=%s reason=%s", log_quoted(project),
             log_quoted(definition->id), log_quoted(slice_of(reason)));
}

static cardbox_status read_abilities(project_tools_memory *m, cardbox *db, slice project,
                                     cardbox_error *err)
{
    const registered_ids wanted = {project, m->list.allowed, m->list.allowed_count};
    cardbox_status status = registered_read(&m->rows, db, &wanted, err);
    if (status != CARDBOX_OK)
        return status;
    for (int row = 0; row < rows_count(m->rows) && row < TOOLS_MAX; row++) {
        registered_row(&m->definitions[row], m->rows, row);
        add_ability(m, &m->definitions[row], project);
    }
    tools_put_list(&m->json, &m->list);
    return m->list.memory.failed || !buf_ok(&m->json) ? error_nomem(err) : CARDBOX_OK;
}

cardbox_status project_tools_load(project_tools *out, const tools *all, slice json, cardbox *db,
                                  slice project, cardbox_error *err)
{
    *out = (project_tools){.list = all, .json = json};
    if (all->allowed_count == 0)
        return CARDBOX_OK;
    project_tools_memory *m = out->memory = calloc(1, sizeof(*m));
    if (m == NULL)
        return error_nomem(err);
    m->list = *all;
    m->list.memory = ARENA_INIT;
    m->json = BUF_INIT(JSON_MAX);
    cardbox_status status = read_abilities(m, db, project, err);
    out->list = &m->list;
    out->json = buf_as_slice(&m->json);
    return status;
}

void project_tools_free(project_tools *p)
{
    project_tools_memory *m = p->memory;
    if (m == NULL)
        return;
    tools_free(&m->list);
    buf_free(&m->json);
    rows_free(m->rows);
    free(m);
    p->memory = NULL;
}
