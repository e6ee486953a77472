/*
 * box_context.c: GET .../boxes/{b}/context: the messages for an LLM from a box's cards. The
 * statement returns the box with its cards. The functions of src/model/session make the messages.
 */
#include "server/api/box_query.h"
#include "server/api/context_view.h"
#include "store/box/box_context.h"

enum { C_AT_VERSION, C_AT_LENGTH, C_AT_TIME, C_LIMIT, C_FORMAT, C_REPAIR, C_COUNT };

static const field QUERY[C_COUNT] = {
    [C_AT_VERSION] = {BOX_AT_VERSION_FIELD},
    [C_AT_LENGTH] = {BOX_AT_LENGTH_FIELD},
    [C_AT_TIME] = {BOX_AT_TIME_FIELD},
    [C_LIMIT] = {"limit", FIELD_INTEGER, .least = 1, .most = BOX_CONTEXT_CARDS_MAX},
    [C_FORMAT] = {CONTEXT_FORMAT_FIELD},
    [C_REPAIR] = {CONTEXT_REPAIR_FIELD},
};

HANDLER_PARAMS(build_context, box_context_params)

static void box_context_response(request *r, const batch_rows *found)
{
    const box_context_request *asked = r->ticket.keys;
    cardbox_error err = CARDBOX_ERROR_INIT;
    box_head now;
    box_view box;
    if (!box_view_first(&box, &now, found->rows, &r->memory)) {
        http_error_send_no_memory(r);
        return;
    }
    if (!box_query_exists(r, &box, &now))
        return;
    cardbox_status status = box_context_answer(request_body(r), &box, asked, &r->memory, &err);
    context_view_answer(r, status, &err, "use ?limit= for the last cards only");
}

void handle_box_context(request *r)
{
    size_t count;
    field_value *query = handler_read_query(r, QUERY, C_COUNT, false);
    box_context_request *asked = query == NULL ? NULL : handler_take(r, 1, sizeof(*asked));
    box_read *reads = asked == NULL ? NULL : box_query_reads(r, query, &count);
    if (reads == NULL)
        return;
    *asked = (box_context_request){
        .reads = reads,
        .count = count,
        .how = context_request_of(&query[C_FORMAT], &query[C_REPAIR]),
        .whole = !query[C_LIMIT].given,
        .bytes_max = context_input_max(r),
    };
    reads->want = BOX_WANT_CARDS;
    if (asked->whole)
        reads->most = BOX_CONTEXT_CARDS_MAX;
    else
        reads->tail = query[C_LIMIT].number;
    handler_queue_single(r, BATCH_SINGLE_READ, STATEMENT_box_context, build_context, asked,
                         box_context_response);
}
