/*
 * projects.c: the pages of projects, for operators: of all tenants at once, as no other list is.
 */
#include "server/request/page.h"
#include "store/list_json.h"
#include "store/operate/projects.h"

static void build(params *p, const void *keys)
{
    projects_params(p, keys);
}

static void render(request *r, const join_rows *found)
{
    const project_list *list = r->ticket.keys;
    list_json_projects(request_body(r), found->rows, list->limit, &r->memory);
    page_answer(r);
}

void handle_list_projects(request *r)
{
    enum { LIMIT, CURSOR, FIELDS };
    static const field QUERY[FIELDS] = {[LIMIT] = PAGE_LIMIT_FIELD, [CURSOR] = PAGE_CURSOR_FIELD};
    field_value *query = handler_read_query(r, QUERY, FIELDS, false);
    project_list *list = query == NULL ? NULL : handler_take(r, 1, sizeof(*list));
    if (list == NULL)
        return;
    list->limit = page_limit(&query[LIMIT]);
    if (page_cursor(r, &list->from, &query[CURSOR], list_cursor_read))
        handler_run(r, JOIN_READ_ALONE, STATEMENT_projects_list, build, list, render);
}
