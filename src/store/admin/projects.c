/*
 * projects.c: parameters, rows and JSON of the list of projects.
 */
#include "store/admin/projects.h"

/* Columns of STATEMENT_projects_list. After the id two columns follow for each kind: the number of
 * live rows, and whether there are rows that were not examined. */
enum { COL_ID, COL_COUNTS };

static const char *const KIND_NAMES[] = {[PROJECT_CARDS] = "cards",
                                         [PROJECT_BOXES] = "boxes",
                                         [PROJECT_SESSIONS] = "sessions",
                                         [PROJECT_TASKS] = "tasks"};

void projects_params(params *p, const project_list *list)
{
    params_text_or_null(p, list->from.id);
    params_int8(p, list->limit + 1);
    params_int8(p, PROJECTS_COUNTED);
    if (list->only == NULL)
        params_null(p);
    else
        params_column(p, PARAMS_TEXT, list->only, list->only_count, sizeof(slice), 0);
}

const char *projects_next(const store_rows *rows, int64_t limit, arena *memory)
{
    if (rows_count(rows) <= limit)
        return NULL;
    return list_cursor_text(memory, 0, project_id(rows, (int)limit - 1));
}

slice project_id(const store_rows *rows, int row)
{
    return rows_text(rows, row, COL_ID);
}

int64_t project_count(const store_rows *rows, int row, project_kind kind, bool *more)
{
    int column = COL_COUNTS + 2 * (int)kind;
    *more = rows_bool(rows, row, column + 1);
    return rows_int8(rows, row, column);
}

void project_json(buf *out, const store_rows *rows, int row)
{
    const char *capped[PROJECT_KINDS];
    size_t count = 0;
    buf_char(out, '{');
    buf_member_text(out, "project_id", project_id(rows, row));
    for (int kind = 0; kind < PROJECT_KINDS; kind++) {
        bool more;
        int64_t live = project_count(rows, row, (project_kind)kind, &more);
        const char *name = KIND_NAMES[kind];
        buf_member_int(out, name, live);
        if (more)
            capped[count++] = name;
    }
    buf_text(out, ",\"capped\":[");
    for (size_t i = 0; i < count; i++) {
        buf_comma(out);
        buf_json_text(out, capped[i]);
    }
    buf_text(out, "]}");
}

void list_json_projects(buf *out, const store_rows *rows, int64_t limit, arena *memory)
{
    int count = rows_count(rows);
    buf_text(out, "{\"projects\":[");
    for (int row = 0; row < count && row < limit; row++) {
        buf_comma(out);
        project_json(out, rows, row);
    }
    list_json_end(out, projects_next(rows, limit, memory), memory);
}
