/*
 * abilities.c: lists, describes and invokes abilities. The functions of src/bus read the input and
 * write the output of a built-in ability, and this file queues the statements of the ability.
 * Handlers of other routes that answer with the output of a built-in ability read their request
 * into the plan of the ability. ability_register.c and ability_calls.c have the registered
 * abilities.
 */
#include "bus/describe.h"
#include "server/background/background.h"
#include "server/request/headers.h"
#include "server/api/handlers.h"

route_scope ability_scope(const request *r)
{
    static const route_scope SCOPES[] = {
        [BUS_READ] = SCOPE_READ, [BUS_WRITE] = SCOPE_WRITE, [BUS_TASKS] = SCOPE_TASKS};
    if (r->match.route->scope != SCOPE_ABILITY)
        return r->match.route->scope;
    const slice id = r->match.params[1];
    const bus_ability *ability = bus_find(id);
    if (ability == NULL)
        return registered_is_possible(id) ? SCOPES[REGISTERED_SCOPE] : SCOPE_READ;
    return SCOPES[ability->scope];
}

bool handler_answer_no_ability(request *r)
{
    const slice id = r->match.params[1];
    return http_error_send(r, HTTP_ERROR_NO_ABILITY, "GET .../abilities lists them",
                           "there is no ability %.*s", (int)slice_cut(id, 80), id.ptr);
}

/* --- descriptions --- */

static void list_params(params *p, const void *keys)
{
    params_text(p, request_tenant(keys));
}

static void answer_list(request *r, const batch_rows *found)
{
    describe_all(request_body(r), found->rows);
    request_tag(r, 0);
    request_finish(r);
}

void handle_abilities_list(request *r)
{
    if (handler_no_query(r))
        handler_queue_single(r, BATCH_SINGLE_READ, STATEMENT_abilities_list, list_params, r,
                             answer_list);
}

void handle_ability_get(request *r)
{
    const bus_ability *ability = bus_find(r->match.params[1]);
    if (!handler_no_query(r))
        return;
    if (ability == NULL) {
        handler_describe_registered(r);
        return;
    }
    const ability_view view = view_built_in(ability);
    describe_whole(request_body(r), &view);
    request_tag(r, 0);
    request_finish(r);
}

/* --- invocations --- */

static void drop_call(void *plan)
{
    bus_end(plan);
}

static void build_step(params *p, const void *keys)
{
    const bus_call *call = keys;
    call->step.build(p, call);
}

static void answer_error(request *r, const cardbox_error *err)
{
    const bus_call *call = r->plan;
    if (err->status == CARDBOX_NOMEM)
        http_error_send_no_memory(r);
    else if (r->match.route->scope == SCOPE_ABILITY)
        http_error_send_ability(r, err, call->faults);
    else
        http_error_send_status(r, handler_change_error(r, err->status, call->precondition_failed),
                               err);
}

static void answer_call(request *r, const store_rows *rows)
{
    bus_call *call = r->plan;
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_status status = bus_render(call, rows, request_body(r), &err);
    if (status != CARDBOX_OK) {
        answer_error(r, &err);
    } else if (call->more) {
        handler_run_ability(r);
    } else {
        if (call->is_replayed && r->match.route->scope != SCOPE_ABILITY)
            request_header(r, "Idempotent-Replayed", "true");
        if (call->wakes)
            notifier_add(r->server->notifier, call->tenant);
        r->answer.version = call->version; /* part of the ETag, if the answer has one */
        request_finish(r);
    }
}

static void ability_invoke_response(request *r, const batch_rows *found)
{
    if (rows_bytes(found->rows) <= (size_t)r->server->set->response_max)
        answer_call(r, found->rows);
    else
        http_error_send_over_budget(r);
}

void *handler_ability_plan(request *r, const char *ability_id)
{
    bus_call *call = handler_take(r, 1, sizeof(*call));
    if (call == NULL)
        return NULL;
    r->plan = call;
    r->drop_plan = drop_call;
    void *plan = bus_plan(call, bus_find(slice_of(ability_id)), request_tenant(r), &r->memory);
    if (plan == NULL)
        http_error_send_no_memory(r);
    return plan;
}

void handler_run_ability(request *r)
{
    const bus_call *call = r->plan;
    if (call->step.statement == BUS_NO_STATEMENT)
        answer_call(r, NULL);
    else
        handler_queue_single(r, call->step.writes ? BATCH_SINGLE_WRITE : BATCH_SINGLE_READ,
                             call->step.statement, build_step, call, ability_invoke_response);
}

static bool check_names(request *r)
{
    return (headers_is_key(r->headers.caller_id) && headers_is_key(r->headers.call_id)) ||
           http_error_send(r, HTTP_ERROR_BAD_REQUEST, NULL,
                           "X-Caller-Id and X-Call-Id accept one value of 1 to 512 visible ASCII "
                           "characters or blanks");
}

static bool read_input(request *r, scan_value *input)
{
    scan_error reason;
    slice body = buf_as_slice(&r->body);
    *input = (scan_value){SCAN_NONE, {NULL, 0}};
    return body.len == 0 || scan_check(body, BUS_DEPTH_MAX, input, NULL, &reason) ||
           http_error_send(r, HTTP_ERROR_BAD_REQUEST, NULL,
                           "the body is not valid JSON at byte %zu: %s", reason.position,
                           reason.message);
}

static bool begin_call(request *r, bus_call *call, const bus_ability *ability, scan_value input)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    r->plan = call;
    r->drop_plan = drop_call;
    cardbox_status status = bus_begin(call, ability, request_tenant(r), input, &r->memory, &err);
    if (status != CARDBOX_OK)
        answer_error(r, &err);
    return status == CARDBOX_OK;
}

void handle_ability_invoke(request *r)
{
    const bus_ability *ability = bus_find(r->match.params[1]);
    scan_value input;
    if (ability == NULL && !registered_is_possible(r->match.params[1])) {
        handler_answer_no_ability(r);
        return;
    }
    if (!check_names(r) || !handler_no_query(r) || !read_input(r, &input))
        return;
    if (ability == NULL) {
        handler_invoke_registered(r, input);
        return;
    }
    bus_call *call = handler_take(r, 1, sizeof(*call));
    if (call == NULL || !begin_call(r, call, ability, input))
        return;
    r->ticket.replayable = call->again;
    r->ticket.has_new_ids = true; /* the ability may make new ids, such as the id of a task */
    handler_run_ability(r);
}
