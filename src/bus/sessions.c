/*
 * sessions.c: the abilities session:list, session:get and session:context.
 */
#include "bus/abilities.h"
#include "base/errors.h"
#include "bus/plans.h"
#include "store/session/session_context.h"

/* --- list --- */

BUS_READS(session_list)
{
    session_list *plan = in->call->plan;
    plan->limit = input_limit(in);
    input_cursor(in, &plan->from, list_cursor_read);
}

BUS_BUILDS(session_list)
{
    const session_list *plan = call->plan;
    sessions_list_params(p, call->tenant, &plan->from, plan->limit, plan->preview);
}

BUS_RENDERS(session_list)
{
    const session_list *plan = call->plan;
    session_list_json(out, rows, plan->limit, plan->preview, call->tenant, call->memory);
    return CARDBOX_OK;
}

/* --- get --- */

BUS_READS(session_get)
{
    slice *session = in->call->plan;
    *session = input_id(in, "session_id", SESSION_ID_MAX);
}

BUS_BUILDS(session_get)
{
    const slice *session = call->plan;
    session_params(p, call->tenant, *session);
}

BUS_RENDERS(session_get)
{
    const slice *session = call->plan;
    session_row row;
    if (rows_count(rows) == 0)
        return session_not_found(*session, err);
    session_row_read(&row, rows, 0);
    session_row_json(out, &row, call->tenant);
    call->version = row.version;
    return CARDBOX_OK;
}

/* --- context --- */

BUS_READS(session_context)
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

BUS_BUILDS(session_context)
{
    const session_context_request *plan = call->plan;
    session_context_params(p, &plan->read);
}

BUS_RENDERS(session_context)
{
    bool more;
    cardbox_status status = session_context_answer(out, &more, call->plan, rows, call->memory, err);
    return status == CARDBOX_OK && more ? bus_next(call, &call->step) : status;
}

static const bus_ability TABLE[] = {
    BUS_ABILITY(session_list, READ, BUS_AGAIN, session_list, sessions_list),
    BUS_ABILITY(session_get, READ, BUS_AGAIN, slice, session_get),
    BUS_ABILITY(session_context, READ, BUS_AGAIN, session_context_request, session_context),
};

const bus_table BUS_OF_SESSIONS = BUS_TABLE(TABLE);
