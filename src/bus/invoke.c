/*
 * invoke.c: cardbox_invoke, which runs an ability on a database handle of the SDK and blocks until
 * the ability has ended.
 */
#include "bus/registered.h"
#include "cardbox/bus.h"
#include "store/client/call.h"
#include "store/task/work.h"

/* Maximum bytes of an output. */
#define OUTPUT_MAX ((size_t)1024 * 1024 * 1024)

static cardbox_status check_name(const char *what, const char *text, cardbox_error *err)
{
    return text == NULL ? CARDBOX_OK : check_id(what, text, CARDBOX_KEY_MAX, err);
}

static cardbox_status run_statement(const bus_call *call, cardbox *db, store_rows **rows,
                                    cardbox_error *err)
{
    const bus_step *step = &call->step;
    params p = PARAMS_INIT;
    bool is_offline = db == NULL && (call->ability->traits & BUS_OFFLINE) != 0;
    if (step->statement == BUS_NO_STATEMENT || is_offline)
        return CARDBOX_OK;
    if (db == NULL)
        return error_set(err, CARDBOX_INVALID, "db must not be NULL");
    step->build(&p, call);
    /* client_run may send the same ids again; a new call of the ability could make other ids */
    client_safety write = call->again ? RUN_AGAIN_HERE : RUN_ONCE;
    return client_run(db, step->statement, &p, step->writes ? write : RUN_AGAIN, rows, err);
}

static cardbox_status run_step(bus_call *call, cardbox *db, buf *out, cardbox_error *err)
{
    store_rows *rows = NULL;
    cardbox_status status = run_statement(call, db, &rows, err);
    if (status == CARDBOX_OK)
        status = bus_render(call, rows, out, err);
    rows_free(rows);
    return status;
}

static cardbox_status run_steps(char **out, cardbox *db, bus_call *call, cardbox_error *err)
{
    buf text = BUF_INIT(OUTPUT_MAX);
    cardbox_status status = run_step(call, db, &text, err);
    while (status == CARDBOX_OK && call->more)
        status = run_step(call, db, &text, err);
    if (status == CARDBOX_OK && !buf_ok(&text))
        status = error_buf(err, &text, "the output");
    if (status == CARDBOX_OK && (*out = buf_take(&text)) == NULL)
        status = error_nomem(err);
    if (status == CARDBOX_OK && call->wakes)
        work_wake(db, call->tenant);
    buf_free(&text);
    return status;
}

static cardbox_status no_ability(slice id, cardbox_error *err)
{
    return error_set(err, CARDBOX_NOT_FOUND, "there is no ability %.*s%s", (int)slice_cut(id, 80),
                     id.ptr,
                     registered_is_possible(id)
                         ? "; abilities that a project has registered are invoked over HTTP"
                         : "");
}

cardbox_status cardbox_invoke(char **out, cardbox *db, const char *tenant, const char *ability_id,
                              const char *call_id, const char *caller_id, const char *input,
                              cardbox_error *err)
{
    arena memory = ARENA_INIT;
    bus_call call = {.ability = NULL};
    scan_value value = {SCAN_NONE, {NULL, 0}};
    scan_error fault;
    if (out == NULL || ability_id == NULL)
        return error_set(err, CARDBOX_INVALID, "out and ability_id must not be NULL");
    *out = NULL;
    cardbox_status status = check_id("tenant", tenant, CARDBOX_TENANT_MAX, err);
    if (status == CARDBOX_OK)
        status = check_name("call_id", call_id, err);
    if (status == CARDBOX_OK)
        status = check_name("caller_id", caller_id, err);
    if (status != CARDBOX_OK)
        return status;
    const bus_ability *ability = bus_find(slice_of(ability_id));
    if (ability == NULL)
        return no_ability(slice_of(ability_id), err);
    if (slice_of(input).len > 0 &&
        !scan_check(slice_of(input), BUS_DEPTH_MAX, &value, NULL, &fault))
        return error_json(err, "the input", &fault);
    status = bus_begin(&call, ability, slice_of(tenant), value, &memory, err);
    if (status == CARDBOX_OK)
        status = run_steps(out, db, &call, err);
    bus_end(&call);
    arena_reset(&memory);
    return status;
}
