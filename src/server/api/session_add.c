/*
 * session_add.c: POST .../sessions/{s}/messages: messages as a model's API returned them. The
 * handler reads its request into the plan of the ability session:add.
 */
#include "bus/bus.h"
#include "model/session/api.h"
#include "server/api/handlers.h"
#include "store/session/session_add.h"

enum {
    F_FORMAT,
    F_MESSAGES,
    F_MODEL,
    F_USAGE,
    F_SYSTEM,
    F_TOOLS,
    F_PARAMETERS,
    F_PARENT,
    F_EXPECTED,
    F_CREATE,
    F_RESTORE,
    ADD_FIELDS
};

static const char *const FORMATS[API_FORMATS + 1] = {"openai", "responses", "anthropic", NULL};

static const field ADD[ADD_FIELDS] = {
    [F_FORMAT] = {"format", FIELD_CHOICE, .required = true, .choices = FORMATS},
    [F_MESSAGES] = {"messages", FIELD_ANY, .required = true},
    [F_MODEL] = {"model", FIELD_TEXT, .most = 512},
    [F_USAGE] = {.name = "usage", .kind = FIELD_OBJECT},
    [F_SYSTEM] = {.name = "system", .kind = FIELD_ANY},
    [F_TOOLS] = {.name = "tools", .kind = FIELD_ARRAY},
    [F_PARAMETERS] = {.name = "parameters", .kind = FIELD_OBJECT},
    [F_PARENT] = {"parent_id", FIELD_ID, .most = SESSION_ID_MAX},
    [F_EXPECTED] = {"expected_version", FIELD_INTEGER, .least = 1, .most = INT64_MAX},
    [F_CREATE] = {.name = "create", .kind = FIELD_BOOL},
    [F_RESTORE] = {.name = "restore", .kind = FIELD_BOOL},
};

static bool check_list(request *r, scan_value list)
{
    size_t count = list.kind == SCAN_ARRAY ? scan_count(list) : 1;

    if (list.kind != SCAN_ARRAY && list.kind != SCAN_OBJECT)
        return handler_refuse(r, "body", "messages", "value_error",
                              "Input should be a list of messages, or a message");
    if (count == 0)
        return handler_refuse(r, "body", "messages", "too_short",
                              "List should have at least 1 item");
    return count <= CARDBOX_ENTRIES_PER_APPEND_MAX ||
           http_error_send(r, HTTP_ERROR_BAD_REQUEST, NULL, "messages exceeds limit %d",
                           CARDBOX_ENTRIES_PER_APPEND_MAX);
}

/* The elements of tools are objects, and so are those of system if it is no text. */
static bool check_settings(request *r, const field_value *body)
{
    const struct {
        const char *name;
        scan_value value;
        bool may_be_text;
    } lists[] = {{"system", body[F_SYSTEM].json, true}, {"tools", body[F_TOOLS].json, false}};

    for (size_t i = 0; i < sizeof(lists) / sizeof(lists[0]); i++) {
        scan_value element, value = lists[i].value;
        scan_walk walk = scan_enter(value);
        bool ok = value.kind == SCAN_NONE || value.kind == SCAN_NULL || value.kind == SCAN_ARRAY ||
                  (lists[i].may_be_text && value.kind == SCAN_STRING);

        while (ok && value.kind == SCAN_ARRAY && scan_element(&walk, &element))
            ok = element.kind == SCAN_OBJECT;
        if (!ok)
            return handler_refuse(r, "body", lists[i].name, "value_error",
                                  lists[i].may_be_text
                                      ? "Input should be a string or a list of objects"
                                      : "Input should be a list of objects");
    }
    return true;
}

/* Adds the messages to the plan. False: the request was answered with an error. */
static bool add_messages(request *r, session_add *add)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    size_t bad = 0;
    cardbox_status status = session_add_messages(add, &bad, &err);
    bool is_list = add->messages.list.kind == SCAN_ARRAY && bad != SIZE_MAX;
    const validation_path at = {"body", is_list ? "messages" : NULL, bad};
    validation s;

    if (status != CARDBOX_INVALID)
        return http_error_check(r, status, &err);
    handler_validation(r, &s);
    validation_add(&s, &at, is_list ? NULL : "messages", -1, "value_error", err.message,
                   (slice){NULL, 0});
    return handler_end_validation(r, &s);
}

static slice json_of(const field_value *value)
{
    return value->given ? value->json.text : (slice){NULL, 0};
}

/* Returns a setting. JSON null clears it. */
static slice setting_of(const field_value *value)
{
    return value->json.kind == SCAN_NONE ? (slice){NULL, 0} : value->json.text;
}

static void set_messages(session_messages *out, const field_value *body)
{
    out->format = API_FORMAT_NUMBERS[body[F_FORMAT].number];
    out->list = body[F_MESSAGES].json;
    out->model = json_of(&body[F_MODEL]);
    out->usage = json_of(&body[F_USAGE]);
    out->system = setting_of(&body[F_SYSTEM]);
    out->tools = setting_of(&body[F_TOOLS]);
    out->parameters = setting_of(&body[F_PARAMETERS]);
    out->parent = body[F_PARENT].given ? body[F_PARENT].text : (slice){NULL, 0};
}

void handle_session_add(request *r)
{
    slice session;
    int64_t expected = 0;
    field_value *body = handler_read_change(r, ADD, ADD_FIELDS, false);
    if (body == NULL || !handler_id(r, &session, 1, "session") ||
        !handler_read_expected(r, &expected, &body[F_EXPECTED]) ||
        !check_list(r, body[F_MESSAGES].json) || !check_settings(r, body))
        return;
    session_add *add = handler_ability_plan(r, "session:add");
    if (add == NULL)
        return;
    if (!session_batch_init(&add->batch, request_tenant(r), session)) {
        http_error_send_no_memory(r);
        return;
    }
    set_messages(&add->messages, body);
    add->batch.expected_version = expected;
    add->batch.key = r->headers.idempotency_key;
    add->create.restore = body[F_RESTORE].number != 0;
    bool creates = !body[F_CREATE].given || body[F_CREATE].number != 0;
    if (creates && expected == 0 && r->headers.if_match.ptr == NULL)
        session_add_creates(add);
    if (!add_messages(r, add))
        return;
    bus_call *call = r->plan;
    call->step.statement = session_add_statement(add);
    r->ticket.replayable = session_append_is_repeatable(&add->batch);
    r->ticket.has_new_ids = add->batch.key.ptr == NULL;
    handler_run_ability(r);
}
