/*
 * sessions.c: session:*, what agents and services ask of sessions most: which there are, what one
 * has, and the messages that a model is given at an entry of it.
 */
#include "bus/abilities.h"
#include "base/errors.h"
#include "store/session/session_context.h"
#include "store/session/session_pages.h"

/* --- list --- */

typedef struct session_request {
    list_cursor from;
    int64_t limit;
    slice session;
} session_request;

BUS_READS(bus_session_list)
{
    session_request *plan = in->call->plan;
    plan->limit = input_limit(in);
    input_cursor(in, &plan->from, list_cursor_read);
}

BUS_BUILDS(bus_session_list)
{
    const session_request *plan = call->plan;
    sessions_list_params(p, call->tenant, &plan->from, plan->limit);
}

BUS_RENDERS(bus_session_list)
{
    const session_request *plan = call->plan;
    (void)err;
    session_list_json(out, rows, plan->limit, call->tenant, call->memory);
    return CARDBOX_OK;
}

/* --- get --- */

BUS_READS(bus_session_get)
{
    session_request *plan = in->call->plan;
    plan->session = input_id(in, "session_id", SESSION_ID_MAX);
}

BUS_BUILDS(bus_session_get)
{
    const session_request *plan = call->plan;
    session_get_params(p, call->tenant, plan->session);
}

BUS_RENDERS(bus_session_get)
{
    const session_request *plan = call->plan;
    session_row session;
    if (rows_count(rows) == 0)
        return session_none_such(plan->session, err);
    session_row_read(&session, rows, 0);
    session_row_json(out, &session, call->tenant);
    return CARDBOX_OK;
}

/* --- context --- */

BUS_READS(bus_session_context)
{
    session_context_request *plan = in->call->plan;
    plan->read.tenant = in->call->tenant;
    plan->read.session = input_id(in, "session_id", SESSION_ID_MAX);
    plan->read.bytes_max = (int64_t)CONTEXT_INPUT_MAX;
    plan->leaf = input_id(in, "entry_id", SESSION_ID_MAX);
    if (plan->leaf.ptr == NULL)
        plan->leaf = SLICE("");
    plan->compare = input_id(in, "compare", SESSION_ID_MAX);
    plan->leaf_name = "entry_id";
    plan->how = input_context(in);
    session_context_begin(plan);
}

BUS_BUILDS(bus_session_context)
{
    const session_context_request *plan = call->plan;
    session_context_params(p, &plan->read);
}

BUS_RENDERS(bus_session_context)
{
    bool more;
    cardbox_status status = session_context_answer(out, &more, call->plan, rows, call->memory, err);
    return status == CARDBOX_OK && more ? bus_next(call, &call->step) : status;
}

static const bus_ability TABLE[] = {
    {BUS_TEXT(session_list), BUS_READ, BUS_AGAIN, sizeof(session_request), STATEMENT_sessions_list,
     bus_session_list_read, bus_session_list_build, bus_session_list_render, NULL},
    {BUS_TEXT(session_get), BUS_READ, BUS_AGAIN, sizeof(session_request), STATEMENT_session_get,
     bus_session_get_read, bus_session_get_build, bus_session_get_render, NULL},
    {BUS_TEXT(session_context), BUS_READ, BUS_AGAIN, sizeof(session_context_request),
     STATEMENT_session_context, bus_session_context_read, bus_session_context_build,
     bus_session_context_render, NULL},
};

const bus_table BUS_OF_SESSIONS = BUS_TABLE(TABLE);
