/*
 * session_create.c: PUT .../sessions/{s}, and the member `create` of an append. The handler reads
 * its request into the plan of an ability.
 */
#include "server/api/session_create.h"

/* `create` of an append has the fields before F_STRICT. */
enum { F_DIALECT, F_HEADER, F_CWD, F_RESTORE, F_STRICT, CREATE_FIELDS };

/* Sessions of other dialects are imported. */
static const char *const DIALECTS[] = {[SESSION_PLAIN] = "plain", [SESSION_PI] = "pi", NULL};

static const field CREATE[CREATE_FIELDS] = {
    [F_DIALECT] = {"dialect", FIELD_CHOICE, .choices = DIALECTS},
    [F_HEADER] = {.name = "header", .kind = FIELD_OBJECT},
    [F_CWD] = {"cwd", FIELD_TEXT, .most = 4096},
    [F_RESTORE] = {.name = "restore", .kind = FIELD_BOOL},
    [F_STRICT] = {.name = "strict", .kind = FIELD_BOOL},
};

static const validation_path IN_APPEND = {"body", "create", SIZE_MAX};

/* `member`: name of the object in the body that has the fields; NULL: the body. */
static bool set_members(request *r, session_create *create, const field_value *values,
                        const char *member)
{
    int dialect = values[F_DIALECT].given ? (int)values[F_DIALECT].number : -1;
    slice header = values[F_HEADER].given ? values[F_HEADER].json.text : (slice){NULL, 0};
    cardbox_error err = CARDBOX_ERROR_INIT;
    create->restore = values[F_RESTORE].number != 0;
    cardbox_status status =
        session_create_set(create, dialect, header, values[F_CWD].text, &r->memory, &err);
    return status == CARDBOX_INVALID ? handler_refuse(r, "body", member, "value_error", err.message)
                                     : http_error_check(r, status, &err);
}

bool session_create_read_member(request *r, session_create *out, scan_value member)
{
    field_value *values = handler_take(r, F_STRICT, sizeof(*values));
    validation s;
    if (values == NULL)
        return false;
    handler_validation(r, &s);
    fields_read_object(values, CREATE, F_STRICT, member, &IN_APPEND, &s);
    return handler_end_validation(r, &s) && set_members(r, out, values, "create");
}

void handle_session_create(request *r)
{
    field_value *body = handler_read_change(r, CREATE, CREATE_FIELDS, true);
    session_create *create = body == NULL ? NULL : handler_ability_plan(r, "session:create");
    if (create == NULL)
        return;
    *create = (session_create){.tenant = request_tenant(r),
                               .session = r->match.params[1],
                               .may_exist = body[F_STRICT].number == 0};
    if (!slice_is_id(create->session, SESSION_ID_MAX)) {
        handler_refuse(r, "path", "session_id", "value_error",
                       "Input should be 1 to 512 bytes of text without control characters");
        return;
    }
    if (!set_members(r, create, body, NULL))
        return;
    r->ticket.replayable = create->may_exist;
    handler_run_ability(r);
}
