/*
 * sessions_add.c: the ability that appends messages of models' APIs to a session.
 */
#include "bus/abilities.h"
#include "base/errors.h"
#include "store/session/session_add.h"

static cardbox_status of_message(cardbox_status status, size_t place, cardbox_error *err)
{
    if (err == NULL || status == CARDBOX_OK || status == CARDBOX_NOMEM)
        return status;
    cardbox_error own = *err;
    if (place == SIZE_MAX)
        return error_set(err, status, "/messages: %s", own.message);
    return error_set(err, status, "/messages/%zu: %s", place, own.message);
}

/* Reads the members of the input. The schema has checked their types. */
static void read_members(session_add *add, input_reader *in)
{
    slice format = input_text(in, "format");
    scan_value create = input_value(in, "create");

    context_format_of(&add->messages.format, format);
    add->messages.list = input_value(in, "messages");
    add->messages.model = input_json(in, "model");
    add->messages.usage = input_json(in, "usage");
    add->messages.system = scan_find(in->object, "system").text; /* null clears a setting */
    add->messages.tools = scan_find(in->object, "tools").text;
    add->messages.parameters = scan_find(in->object, "parameters").text;
    add->messages.parent = input_id(in, "parent_id", SESSION_ID_MAX);
    add->batch.expected_version = input_integer(in, "expected_version", 0);
    add->batch.key = input_id(in, "idempotency_key", CARDBOX_KEY_MAX);
    add->create.restore = input_flag(in, "restore");
    if (create.kind != SCAN_FALSE && add->batch.expected_version == 0)
        session_add_creates(add);
}

BUS_READS(session_add)
{
    session_add *add = in->call->plan;
    slice session = input_id(in, "session_id", SESSION_ID_MAX);
    size_t bad = 0;

    if (!session_batch_init(&add->batch, in->call->tenant, session)) {
        in->status = error_nomem(in->err);
        return;
    }
    read_members(add, in);
    if (in->status == CARDBOX_OK) {
        cardbox_status status = session_add_messages(add, &bad, in->err);
        in->status = of_message(status, bad, in->err);
    }
    in->call->again = session_append_is_repeatable(&add->batch);
    in->call->step.statement = session_add_statement(add);
}

static void bus_session_add_drop(void *plan)
{
    session_add *add = plan;
    session_batch_free(&add->batch);
}

BUS_BUILDS(session_add)
{
    session_add_params(p, call->plan);
}

static void build_read(params *p, const bus_call *call)
{
    const session_add *add = call->plan;
    session_context_params(p, &add->read);
}

static cardbox_status render_read(bus_call *call, const store_rows *rows, buf *out,
                                  cardbox_error *err)
{
    bool more;
    cardbox_status status = session_add_answer(out, &more, call->plan, rows, call->memory, err);
    return status == CARDBOX_OK && more ? bus_next(call, &call->step) : status;
}

/* The step that follows the append. */
static const bus_step READ = {STATEMENT_session_context, false, build_read, render_read};

BUS_RENDERS(session_add)
{
    session_add *add = call->plan;
    cardbox_status status = session_add_appended(add, rows, err);
    call->precondition_failed = session_precondition_failed(rows_text(rows, 0, 1));
    call->is_replayed = add->is_replayed;
    return status == CARDBOX_OK ? bus_next(call, &READ) : status;
}

static const bus_ability TABLE[] = {
    BUS_ABILITY_WITH(session_add, WRITE, BUS_ONCE, session_add, session_append, session_add,
                     session_add, session_add, bus_session_add_drop),
};

const bus_table BUS_OF_SESSION_MESSAGES = BUS_TABLE(TABLE);
