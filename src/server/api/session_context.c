/*
 * session_context.c: GET .../sessions/{s}/context: the messages for an LLM from the path to an
 * entry, and the first message that differs in the context of another entry. The functions of
 * src/store/session write the answer.
 */
#include "server/api/session_context.h"
#include "server/api/context_view.h"
#include "store/session/session_context.h"

enum { C_LEAF = CONTEXT_FIELDS, C_BRANCH_LEAF, C_COMPARE, C_COUNT };

static const field QUERY[C_COUNT] = {
    [C_LEAF] = {"leaf", FIELD_ID, .most = SESSION_ID_MAX},
    [C_BRANCH_LEAF] = {"branchLeafId", FIELD_ID, .most = SESSION_ID_MAX},
    [C_COMPARE] = {"compare", FIELD_ID, .most = SESSION_ID_MAX},
    CONTEXT_FIELDS_AT(0),
};

static void build_context(params *p, const void *keys)
{
    const session_context_request *plan = keys;
    session_context_params(p, &plan->read);
}

static void run_statement(request *r);

static void session_context_response(request *r, const batch_rows *found)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    bool more;
    cardbox_status status =
        session_context_answer(request_body(r), &more, r->plan, found->rows, &r->memory, &err);
    if (status == CARDBOX_OK && more)
        run_statement(r);
    else
        context_view_answer(
            r, status, &err,
            ((session_context_request *)r->plan)->messages_only
                ? "use `cardbox session export --format`, or read the context "
                  "with limit"
                : "read the newest messages with limit or token_budget, or add a compaction");
}

static void run_statement(request *r)
{
    handler_queue_single(r, BATCH_SINGLE_READ, STATEMENT_session_context, build_context, r->plan,
                         session_context_response);
}

void handle_session_context(request *r)
{
    field_value *query = handler_read_query(r, QUERY, C_COUNT, false);
    session_context_request *plan = query == NULL ? NULL : handler_take(r, 1, sizeof(*plan));
    if (plan == NULL || !handler_id(r, &plan->read.session, 1, "session"))
        return;
    const field_value *leaf = &query[query[C_LEAF].given ? C_LEAF : C_BRANCH_LEAF];
    if (query[C_BRANCH_LEAF].given && !slice_equal(leaf->text, query[C_BRANCH_LEAF].text)) {
        handler_refuse(r, "query", "branchLeafId", "value_error",
                       "branchLeafId is another name for leaf: give one of them");
        return;
    }
    plan->read.tenant = request_tenant(r);
    plan->read.bytes_max = (int64_t)context_input_max(r);
    plan->leaf = leaf->given ? leaf->text : SLICE("");
    plan->compare = query[C_COMPARE].text;
    plan->leaf_name = "leaf";
    plan->how = context_request_of(query);
    session_context_begin(plan);
    r->plan = plan;
    run_statement(r);
}

void handle_session_messages(request *r, slice session, slice leaf, cardbox_format format)
{
    session_context_request *plan = handler_take(r, 1, sizeof(*plan));
    if (plan == NULL)
        return;
    plan->read.tenant = request_tenant(r);
    plan->read.session = session;
    plan->read.bytes_max = (int64_t)context_input_max(r);
    plan->leaf = leaf;
    plan->messages_only = true;
    plan->how = (context_request){.format = format, .repair = true};
    session_context_begin(plan);
    r->plan = plan;
    run_statement(r);
}
