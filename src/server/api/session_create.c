/*
 * session_create.c: PUT .../sessions/{s}, and the member `create` of an append. The handler reads
 * its request into the plan of an ability.
 */
#include "server/api/session_create.h"

/* An append accepts the fields before N_STRICT. */
enum { N_DIALECT, N_HEADER, N_CWD, N_STRICT, CREATE_FIELDS };

static const field CREATE[CREATE_FIELDS] = {
    [N_DIALECT] = {"dialect", FIELD_CHOICE, .choices = SESSION_DIALECTS},
    [N_HEADER] = {.name = "header", .kind = FIELD_OBJECT},
    [N_CWD] = {"cwd", FIELD_TEXT, .most = 4096},
    [N_STRICT] = {.name = "strict", .kind = FIELD_BOOL},
};

static const validation_path IN_APPEND = {"body", "create", SIZE_MAX};

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

bool session_create_read_member(request *r, session_create *out, scan_value member)
{
    field_value *values = handler_take(r, N_STRICT, sizeof(*values));
    validation s;
    if (values == NULL)
        return false;
    handler_validation(r, &s);
    fields_read_object(values, CREATE, N_STRICT, member, &IN_APPEND, &s);
    return handler_end_validation(r, &s) && take_header(r, out, values);
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
