/*
 * sessions.c: lists and reads sessions. session_change.c and session_append.c change them.
 */
#include "bus/plans.h"
#include "server/response/page.h"

void handle_sessions_list(request *r)
{
    session_list *list = handler_ability_plan(r, "session:list");
    if (list != NULL && page_read(r, &list->limit, &list->from, list_cursor_read))
        handler_run_ability(r);
}

void handle_session_get(request *r)
{
    slice *session = handler_no_query(r) ? handler_ability_plan(r, "session:get") : NULL;
    if (session == NULL || !handler_id(r, session, 1, "session"))
        return;
    request_tag(r, 0);
    handler_run_ability(r);
}
