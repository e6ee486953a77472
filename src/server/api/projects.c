/*
 * projects.c: the list of projects: of all, for operators, or of the projects of a token; and the
 * counts of one project.
 */
#include "server/response/page.h"
#include "store/admin/projects.h"

HANDLER_PARAMS(build_projects, projects_params)

static void projects_list_response(request *r, const batch_rows *found)
{
    const project_list *list = r->ticket.keys;
    list_json_projects(request_body(r), found->rows, list->limit, &r->memory);
    request_finish(r);
}

void handle_projects_list(request *r)
{
    project_list *list = handler_take(r, 1, sizeof(*list));
    if (list == NULL || !page_read(r, &list->limit, &list->from, list_cursor_read))
        return;
    list->only = r->token_projects;
    list->only_count = r->token_project_count;
    handler_queue_single(r, BATCH_SINGLE_READ, STATEMENT_projects_list, build_projects, list,
                         projects_list_response);
}

static void project_get_response(request *r, const batch_rows *found)
{
    project_json(request_body(r), found->rows, 0);
    request_finish(r);
}

/* The statement returns one row, also for a project without contents. */
void handle_project_get(request *r)
{
    project_list *list = handler_no_query(r) ? handler_take(r, 1, sizeof(*list)) : NULL;
    slice *only = list == NULL ? NULL : arena_take(&r->memory, sizeof(*only));
    if (only == NULL) {
        if (list != NULL)
            http_error_send_no_memory(r);
        return;
    }
    *only = request_tenant(r);
    *list = (project_list){.only = only, .only_count = 1, .limit = 1};
    handler_queue_single(r, BATCH_SINGLE_READ, STATEMENT_projects_list, build_projects, list,
                         project_get_response);
}
