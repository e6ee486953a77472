/*
 * sessions.c: lists, reads, forks and deletes sessions, and moves their heads. Each handler reads
 * its request into the plan of an ability.
 */
#include "bus/plans.h"
#include "server/response/page.h"
#include "store/session/session_write.h"

void handle_sessions_list(request *r)
{
    session_list *list = handler_ability_plan(r, "session:list");
    if (list != NULL &&
        page_read_with_preview(r, &list->limit, &list->from, &list->preview, list_cursor_read))
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

/* --- the head --- */

enum { H_ENTRY, H_EXPECTED, H_VERSION, HEAD_FIELDS };

static const field HEAD[HEAD_FIELDS] = {
    [H_ENTRY] = {"entry_id", FIELD_ID, .required = true, .most = SESSION_ID_MAX},
    [H_EXPECTED] = {"expected_head", FIELD_TEXT, .most = SESSION_ID_MAX},
    [H_VERSION] = {"expected_version", FIELD_INTEGER, .least = 1, .most = INT64_MAX},
};

void handle_session_move_head(request *r)
{
    field_value *body = handler_read_change(r, HEAD, HEAD_FIELDS, false);
    session_move *move = body == NULL ? NULL : handler_ability_plan(r, "session:head");
    if (move == NULL || !handler_id(r, &move->session, 1, "session") ||
        !handler_read_expected(r, &move->expected_version, &body[H_VERSION]))
        return;
    move->tenant = request_tenant(r);
    move->entry = body[H_ENTRY].text;
    if (body[H_EXPECTED].given)
        move->expected = body[H_EXPECTED].text;
    r->ticket.replayable = !body[H_EXPECTED].given && move->expected_version == 0;
    handler_run_ability(r);
}

/* --- fork --- */

enum { F_SESSION, F_ENTRY, FORK_FIELDS };

static const field FORK[FORK_FIELDS] = {
    [F_SESSION] = {"session_id", FIELD_ID, .most = SESSION_ID_MAX},
    [F_ENTRY] = {"entry_id", FIELD_ID, .most = SESSION_ID_MAX},
};

void handle_session_fork(request *r)
{
    field_value *body = handler_read_change(r, FORK, FORK_FIELDS, true);
    session_fork *fork = body == NULL ? NULL : handler_ability_plan(r, "session:fork");
    if (fork == NULL || !handler_id(r, &fork->session, 1, "session"))
        return;
    fork->tenant = request_tenant(r);
    fork->entry = body[F_ENTRY].given ? body[F_ENTRY].text : SLICE("");
    fork->new_session = body[F_SESSION].given ? body[F_SESSION].text : uuid16_new(&r->memory);
    if (fork->new_session.ptr == NULL) {
        http_error_send_no_memory(r);
        return;
    }
    handler_run_ability(r);
}

/* --- delete --- */

/* A long session is deleted by several statements, each with the time limit of a request. If the
 * request ends before the last statement, gc deletes the remaining lines of the session later. */
void handle_session_delete(request *r)
{
    session_deletion *deletion =
        handler_no_query(r) ? handler_ability_plan(r, "session:delete") : NULL;
    if (deletion == NULL || !handler_id(r, &deletion->session, 1, "session"))
        return;
    deletion->tenant = request_tenant(r);
    handler_run_ability(r);
}
