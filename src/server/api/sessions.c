/*
 * sessions.c: lists, reads, creates, forks and deletes sessions, and moves their heads. Each
 * handler reads its request into the plan of an ability.
 */
#include "bus/plans.h"
#include "server/response/page.h"
#include "store/session/session_write.h"

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

/* --- create --- */

enum { N_DIALECT, N_HEADER, N_CWD, N_STRICT, CREATE_FIELDS };

static const field CREATE[CREATE_FIELDS] = {
    [N_DIALECT] = {"dialect", FIELD_CHOICE, .choices = SESSION_DIALECTS},
    [N_HEADER] = {.name = "header", .kind = FIELD_OBJECT},
    [N_CWD] = {"cwd", FIELD_TEXT, .most = 4096},
    [N_STRICT] = {.name = "strict", .kind = FIELD_BOOL},
};

static bool has_contradiction(const field_value *body)
{
    bool is_plain = body[N_DIALECT].given && body[N_DIALECT].number == SESSION_PLAIN;
    return (is_plain && (body[N_HEADER].given || body[N_CWD].given)) ||
           (body[N_HEADER].given && body[N_CWD].given);
}

static bool take_header(request *r, session_create *create, const field_value *body)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    if (has_contradiction(body))
        return handler_refuse(r, "body", NULL, "value_error",
                              "Give a header or a cwd, and neither with dialect plain");
    create->dialect = body[N_DIALECT].given ? (int)body[N_DIALECT].number : -1;
    if (body[N_HEADER].given || body[N_CWD].given)
        create->dialect = SESSION_PI;
    if (create->dialect != SESSION_PI)
        return true;
    if (body[N_HEADER].given)
        create->header = body[N_HEADER].json.text;
    cardbox_status status = session_header_prepare(&create->header, create->session,
                                                   body[N_CWD].text, &r->memory, &err);
    return http_error_check(r, status, &err);
}

void handle_session_create(request *r)
{
    field_value *body = handler_read_change(r, CREATE, CREATE_FIELDS, true);
    session_create *create = body == NULL ? NULL : handler_ability_plan(r, "session:create");
    if (create == NULL)
        return;
    *create = (session_create){.tenant = request_tenant(r),
                               .session = r->match.params[1],
                               .may_exist = body[N_STRICT].number == 0};
    if (!slice_is_id(create->session, SESSION_ID_MAX)) {
        handler_refuse(r, "path", "session_id", "value_error",
                       "Input should be 1 to 512 bytes of text without control characters");
        return;
    }
    if (!take_header(r, create, body))
        return;
    r->ticket.replayable = create->may_exist;
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
    if (move == NULL || !handler_id(r, &move->session, 1, "session"))
        return;
    move->tenant = request_tenant(r);
    move->entry = body[H_ENTRY].text;
    if (body[H_EXPECTED].given)
        move->expected = body[H_EXPECTED].text;
    move->expected_version = body[H_VERSION].number;
    r->ticket.replayable = !body[H_EXPECTED].given && !body[H_VERSION].given;
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
