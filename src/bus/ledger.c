/*
 * ledger.c: ldg:*: tasks, calls and messages, saved one at a time and read by all that they are
 * asked for. What people and models say goes through as JSON string tokens, to the byte.
 */
#include "bus/abilities.h"
#include "bus/input.h"
#include "store/errors.h"
#include "store/ledger.h"

enum { QUERY_DEFAULT = 100 };

/* The entity of the input, as a call whose input it is. */
static bus_call entity_of(const bus_call *call, const char *name)
{
    bus_call entity = *call;
    entity.input = input_value(call, name);
    return entity;
}

static ledger_batch *new_batch(bus_call *call)
{
    ledger_batch *batch = input_plan(call, sizeof(*batch));
    if (batch != NULL)
        batch->tenant = call->tenant;
    return batch;
}

static cardbox_status check_batch(const input_reader *in, const ledger_batch *batch)
{
    return in->status == CARDBOX_OK ? ledger_check(batch, in->err) : in->status;
}

/* Of all three. */
BUS_BUILDS(ldg_save)
{
    ledger_save_params(p, call->plan);
}

BUS_RENDERS(ldg_save)
{
    cardbox_status status = ledger_save_status(rows, call->plan, err);
    if (status == CARDBOX_OK)
        buf_text(out, "{\"success\":true}");
    return status;
}

/* --- tasks --- */

BUS_READS(ldg_task_save)
{
    bus_call entity = entity_of(call, "task");
    input_reader in = INPUT_OF(&entity, err);
    ledger_batch *batch = new_batch(call);
    task_input *task = arena_zeros(call->memory, 1, sizeof(*task));
    if (batch == NULL || task == NULL)
        return CARDBOX_NOMEM;
    task->task_id = input_text(&in, "id");
    task->parent_id = input_text(&in, "parentTaskId");
    task->status = input_text(&in, "completionStatus");
    task->prompt = input_json(&entity, "systemPrompt");
    task->created_ms = input_integer(&in, "createdAt", 0);
    task->updated_ms = input_integer(&in, "updatedAt", 0);
    batch->tasks = task;
    batch->task_count = 1;
    return check_batch(&in, batch);
}

BUS_READS(ldg_task_get)
{
    input_reader in = INPUT_OF(call, err);
    view *id = input_plan(call, sizeof(*id));
    if (id == NULL)
        return CARDBOX_NOMEM;
    *id = input_id(&in, "taskId", CARDBOX_CARD_ID_MAX);
    return in.status;
}

BUS_BUILDS(ldg_task_get)
{
    const view *id = call->plan;
    task_get_params(p, call->tenant, *id);
}

BUS_RENDERS(ldg_task_get)
{
    task_row task;
    (void)call, (void)err;
    buf_text(out, "{\"task\":");
    if (rows_count(rows) > 0 && task_row_read(&task, rows, 0))
        task_json(out, &task);
    else
        buf_text(out, "null");
    buf_char(out, '}');
    return CARDBOX_OK;
}

BUS_READS(ldg_task_query)
{
    input_reader in = INPUT_OF(call, err);
    task_query *query = input_plan(call, sizeof(*query));
    if (query == NULL)
        return CARDBOX_NOMEM;
    query->tenant = call->tenant;
    view status = input_text(&in, "completionStatus");
    query->active = view_equal(status, VIEW("null"));
    if (!query->active)
        query->status = status;
    query->parent_id = input_id(&in, "parentTaskId", CARDBOX_CARD_ID_MAX);
    query->has_from = input_value(call, "fromTime").kind != SCAN_NONE;
    query->has_to = input_value(call, "toTime").kind != SCAN_NONE;
    query->from_ms = input_integer(&in, "fromTime", 0);
    query->to_ms = input_integer(&in, "toTime", 0);
    query->limit = input_integer(&in, "limit", QUERY_DEFAULT);
    query->offset = input_integer(&in, "offset", 0);
    return in.status;
}

BUS_BUILDS(ldg_task_query)
{
    tasks_query_params(p, call->plan);
}

BUS_RENDERS(ldg_task_query)
{
    task_row task;
    const char *between = "";
    (void)call, (void)err;
    buf_text(out, "{\"tasks\":[");
    for (int row = 0; row < rows_count(rows); row++) {
        if (!task_row_read(&task, rows, row))
            continue;
        buf_text(out, between);
        task_json(out, &task);
        between = ",";
    }
    buf_text(out, "],\"total\":");
    buf_int(out, tasks_query_total(rows));
    buf_char(out, '}');
    return CARDBOX_OK;
}

/* --- calls --- */

BUS_READS(ldg_call_save)
{
    bus_call entity = entity_of(call, "call");
    input_reader in = INPUT_OF(&entity, err);
    ledger_batch *batch = new_batch(call);
    call_input *saved = arena_zeros(call->memory, 1, sizeof(*saved));
    if (batch == NULL || saved == NULL)
        return CARDBOX_NOMEM;
    saved->call_id = input_text(&in, "id");
    saved->task_id = input_text(&in, "taskId");
    saved->ability = input_text(&in, "abilityName");
    saved->status = input_text(&in, "status");
    saved->parameters = input_json(&entity, "parameters");
    saved->details = input_json(&entity, "details");
    saved->start_id = input_text(&in, "startMessageId");
    saved->end_id = input_text(&in, "endMessageId");
    saved->has_created = saved->has_updated = true;
    saved->created_ms = input_integer(&in, "createdAt", 0);
    saved->updated_ms = input_integer(&in, "updatedAt", 0);
    batch->calls = saved;
    batch->call_count = 1;
    return check_batch(&in, batch);
}

BUS_BUILDS(ldg_call_list)
{
    const view *id = call->plan;
    calls_list_params(p, call->tenant, *id);
}

BUS_RENDERS(ldg_call_list)
{
    (void)call, (void)err;
    buf_text(out, "{\"calls\":[");
    for (int row = 0; row < rows_count(rows); row++) {
        call_row listed;
        call_row_read(&listed, rows, row);
        buf_text(out, row == 0 ? "" : ",");
        call_json(out, &listed);
    }
    buf_text(out, "]}");
    return CARDBOX_OK;
}

/* --- messages --- */

BUS_READS(ldg_msg_save)
{
    bus_call entity = entity_of(call, "message");
    input_reader in = INPUT_OF(&entity, err);
    ledger_batch *batch = new_batch(call);
    message_input *message = arena_zeros(call->memory, 1, sizeof(*message));
    if (batch == NULL || message == NULL)
        return CARDBOX_NOMEM;
    message->message_id = input_text(&in, "id");
    message->task_id = input_text(&in, "taskId");
    message->role = input_text(&in, "role");
    message->content = input_json(&entity, "content");
    message->has_ts = true;
    message->ts_ms = input_integer(&in, "timestamp", 0);
    batch->messages = message;
    batch->message_count = 1;
    return check_batch(&in, batch);
}

BUS_RENDERS(ldg_msg_save)
{
    const ledger_batch *batch = call->plan;
    cardbox_status status = ledger_save_status(rows, batch, err);
    if (status != CARDBOX_OK)
        return status;
    buf_text(out, "{\"success\":true,\"messageId\":");
    buf_json_string(out, batch->messages->message_id);
    buf_char(out, '}');
    return CARDBOX_OK;
}

typedef struct message_page {
    view task_id;
    int64_t limit, offset;
} message_page;

BUS_READS(ldg_msg_list)
{
    input_reader in = INPUT_OF(call, err);
    message_page *page = input_plan(call, sizeof(*page));
    if (page == NULL)
        return CARDBOX_NOMEM;
    page->task_id = input_id(&in, "taskId", CARDBOX_CARD_ID_MAX);
    page->limit = input_integer(&in, "limit", INT32_MAX);
    page->offset = input_integer(&in, "offset", 0);
    return in.status;
}

BUS_BUILDS(ldg_msg_list)
{
    const message_page *page = call->plan;
    messages_list_params(p, call->tenant, page->task_id, page->limit, page->offset);
}

BUS_RENDERS(ldg_msg_list)
{
    message_row message;
    const char *between = "";
    (void)call, (void)err;
    buf_text(out, "{\"messages\":[");
    for (int row = 0; row < rows_count(rows); row++) {
        if (!message_row_read(&message, rows, row))
            continue;
        buf_text(out, between);
        message_json(out, &message);
        between = ",";
    }
    buf_text(out, "],\"total\":");
    buf_int(out, messages_list_total(rows));
    buf_char(out, '}');
    return CARDBOX_OK;
}
