/*
 * projects.c: the list of projects: of all, for operators, or of the projects of a token.
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
