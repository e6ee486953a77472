/*
 * ledger_rows.c: parameters and rows of the statements that read the ledger, and its entities as
 * JSON. Uses no connection.
 */
#include "store/ledger/ledger.h"

enum task_column {
    TASK_COL_ID,
    TASK_COL_PARENT,
    TASK_COL_STATUS,
    TASK_COL_PROMPT,
    TASK_COL_CREATED,
    TASK_COL_UPDATED,
    TASK_COL_REASON,
    TASK_COL_MESSAGES,
    TASK_COL_WAKE,
    TASK_COL_OWNER,
    TASK_COL_ATTEMPTS,
    TASK_COL_GOAL,
    TASK_COL_EVENTS,
    TASK_COL_BOX,
    TASK_COL_CONTEXT_BOX,
    TASK_COL_ROUTER,
    TASK_COL_LAST_MESSAGE,
    TASK_COL_TOTAL /* only of tasks_query */
};

enum message_column {
    MESSAGE_COL_ID,
    MESSAGE_COL_TASK,
    MESSAGE_COL_ROLE,
    MESSAGE_COL_TS,
    MESSAGE_COL_SEQ,
    MESSAGE_COL_CONTENT,
    MESSAGE_COL_METADATA,
    MESSAGE_COL_TOOL_CALLS,
    MESSAGE_COL_TOTAL /* only of messages_list */
};

enum call_column {
    CALL_COL_ID,
    CALL_COL_TASK,
    CALL_COL_ABILITY,
    CALL_COL_PARAMETERS,
    CALL_COL_STATUS,
    CALL_COL_DETAILS,
    CALL_COL_CREATED,
    CALL_COL_UPDATED,
    CALL_COL_START,
    CALL_COL_END,
    CALL_COL_SEQ
};

/* --- parameters --- */

void task_get_params(params *p, slice tenant, slice task_id)
{
    params_text(p, tenant);
    params_text(p, task_id);
}

void tasks_query_params(params *p, const task_query *query)
{
    params_text(p, query->tenant);
    if (query->active)
        params_bool(p, true);
    else
        params_null(p);
    params_text_or_null(p, query->status);
    params_text_or_null(p, query->parent_id);
    params_int8_or_null(p, query->has_from, query->from_ms);
    params_int8_or_null(p, query->has_to, query->to_ms);
    params_int8(p, query->limit);
    params_int8(p, query->offset);
    params_bool(p, query->goals);
    params_text_or_null(p, query->state);
}

void tasks_active_params(params *p, slice tenant, int64_t limit)
{
    params_text(p, tenant);
    params_int8(p, limit);
}

void messages_list_params(params *p, slice tenant, slice task_id, int64_t limit, int64_t offset)
{
    params_text(p, tenant);
    params_text(p, task_id);
    params_int8(p, limit);
    params_int8(p, offset);
}

void calls_list_params(params *p, slice tenant, slice task_id, const call_row *after, int64_t limit)
{
    params_text(p, tenant);
    params_text(p, task_id);
    params_int8(p, after != NULL ? after->created_ms : -1);
    params_int8(p, after != NULL ? after->seq : -1);
    params_int8(p, limit);
}

/* --- rows --- */

static int64_t read_total(const store_rows *rows, int column)
{
    return rows_count(rows) == 0 ? 0 : rows_int8(rows, 0, column);
}

int64_t tasks_query_total(const store_rows *rows)
{
    return read_total(rows, TASK_COL_TOTAL);
}

int64_t messages_list_total(const store_rows *rows)
{
    return read_total(rows, MESSAGE_COL_TOTAL);
}

slice ledger_text(slice content)
{
    scan_value whole = scan_whole(content);
    if (whole.kind == SCAN_OBJECT)
        whole = scan_find(whole, "text");
    return whole.kind == SCAN_STRING ? whole.text : SLICE("\"\"");
}

static slice read_text_content(const store_rows *rows, int row, int column)
{
    slice content = rows_text(rows, row, column);
    return content.ptr == NULL ? content : ledger_text(content);
}

bool task_row_read(task_row *out, const store_rows *rows, int row)
{
    *out = (task_row){
        .task_id = rows_text(rows, row, TASK_COL_ID),
        .parent_id = rows_text(rows, row, TASK_COL_PARENT),
        .status = rows_text(rows, row, TASK_COL_STATUS),
        .prompt = rows_text(rows, row, TASK_COL_PROMPT),
        .reason = rows_text(rows, row, TASK_COL_REASON),
        .goal = read_text_content(rows, row, TASK_COL_GOAL),
        .owner = rows_text(rows, row, TASK_COL_OWNER),
        .created_ms = rows_int8(rows, row, TASK_COL_CREATED),
        .updated_ms = rows_int8(rows, row, TASK_COL_UPDATED),
        .messages = rows_int8(rows, row, TASK_COL_MESSAGES),
        .events = rows_int8(rows, row, TASK_COL_EVENTS),
        .has_wake = !rows_null(rows, row, TASK_COL_WAKE),
        .wake_micros = rows_micros(rows, row, TASK_COL_WAKE),
        .attempts = rows_int4(rows, row, TASK_COL_ATTEMPTS),
        .box_id = rows_text(rows, row, TASK_COL_BOX),
        .context_box_id = rows_text(rows, row, TASK_COL_CONTEXT_BOX),
        .router = !rows_null(rows, row, TASK_COL_ROUTER) && rows_bool(rows, row, TASK_COL_ROUTER),
        .has_message = !rows_null(rows, row, TASK_COL_LAST_MESSAGE),
        .last_message_ms = rows_int8(rows, row, TASK_COL_LAST_MESSAGE),
    };
    return out->task_id.ptr != NULL;
}

const char *task_row_state(const task_row *task)
{
    static const slice FAILED = {"failed", 6};
    slice status = task->status;
    if (status.ptr == NULL)
        return task->owner.ptr != NULL ? "running" : "waiting";
    bool failed = status.len >= FAILED.len && memcmp(status.ptr, FAILED.ptr, FAILED.len) == 0 &&
                  (status.len == FAILED.len || status.ptr[FAILED.len] == ':');
    return failed ? "failed" : "completed";
}

bool message_row_read(message_row *out, const store_rows *rows, int row)
{
    *out = (message_row){
        .message_id = rows_text(rows, row, MESSAGE_COL_ID),
        .task_id = rows_text(rows, row, MESSAGE_COL_TASK),
        .role = rows_text(rows, row, MESSAGE_COL_ROLE),
        .content = read_text_content(rows, row, MESSAGE_COL_CONTENT),
        .metadata = rows_jsonb(rows, row, MESSAGE_COL_METADATA),
        .tool_calls = rows_jsonb(rows, row, MESSAGE_COL_TOOL_CALLS),
        .ts_ms = rows_int8(rows, row, MESSAGE_COL_TS),
        .seq = rows_int8(rows, row, MESSAGE_COL_SEQ),
    };
    return out->message_id.ptr != NULL;
}

void call_row_read(call_row *out, const store_rows *rows, int row)
{
    *out = (call_row){
        .call_id = rows_text(rows, row, CALL_COL_ID),
        .task_id = rows_text(rows, row, CALL_COL_TASK),
        .ability = rows_text(rows, row, CALL_COL_ABILITY),
        .status = rows_text(rows, row, CALL_COL_STATUS),
        .parameters = rows_text(rows, row, CALL_COL_PARAMETERS),
        .details = rows_text(rows, row, CALL_COL_DETAILS),
        .start_id = rows_text(rows, row, CALL_COL_START),
        .end_id = rows_text(rows, row, CALL_COL_END),
        .created_ms = rows_int8(rows, row, CALL_COL_CREATED),
        .updated_ms = rows_int8(rows, row, CALL_COL_UPDATED),
        .seq = rows_int8(rows, row, CALL_COL_SEQ),
    };
}

/* --- JSON --- */

static void add_text(buf *out, const char *name, slice text)
{
    if (text.ptr != NULL)
        buf_member_text(out, name, text);
}

static void add_token(buf *out, const char *name, slice token)
{
    if (token.ptr != NULL)
        buf_member(out, name, token);
}

static void begin_object(buf *out, slice id)
{
    buf_char(out, '{');
    buf_member_text(out, "id", id);
}

static void add_state(buf *out, const task_row *task)
{
    add_text(out, "state", slice_of(task_row_state(task)));
    add_text(out, "leaseOwner", task->owner);
    if (task->has_message)
        buf_member_int(out, "lastMessageAt", task->last_message_ms);
    if (task->has_wake)
        buf_member_int(out, "wakeAt", task->wake_micros / 1000);
    add_text(out, "boxId", task->box_id);
    add_text(out, "contextBoxId", task->context_box_id);
    if (task->router)
        buf_member(out, "router", SLICE("true"));
}

void task_json(buf *out, const task_row *task)
{
    begin_object(out, task->task_id);
    add_text(out, "parentTaskId", task->parent_id);
    add_text(out, "completionStatus", task->status);
    add_token(out, "cancelReason", task->reason);
    add_token(out, "goal", task->goal);
    add_token(out, "systemPrompt", task->prompt);
    buf_member_int(out, "createdAt", task->created_ms);
    buf_member_int(out, "updatedAt", task->updated_ms);
    add_state(out, task);
    buf_char(out, '}');
}

void message_json(buf *out, const message_row *message, slice metadata)
{
    begin_object(out, message->message_id);
    add_text(out, "taskId", message->task_id);
    add_text(out, "role", message->role);
    add_token(out, "content", message->content);
    buf_member_int(out, "timestamp", message->ts_ms);
    add_token(out, "callId", message->call_id);
    if (metadata.ptr != NULL) {
        buf_name(out, "metadata");
        scan_compact(out, metadata);
    }
    buf_char(out, '}');
}

void call_json(buf *out, const call_row *call)
{
    begin_object(out, call->call_id);
    add_text(out, "taskId", call->task_id);
    add_text(out, "abilityName", call->ability);
    add_token(out, "parameters", call->parameters);
    add_text(out, "status", call->status);
    add_token(out, "details", call->details);
    buf_member_int(out, "createdAt", call->created_ms);
    buf_member_int(out, "updatedAt", call->updated_ms);
    add_text(out, "startMessageId", call->start_id);
    add_text(out, "endMessageId", call->end_id);
    buf_char(out, '}');
}

void active_task_json(buf *out, const task_row *task)
{
    begin_object(out, task->task_id);
    add_text(out, "parentTaskId", task->parent_id);
    add_token(out, "goal", task->goal.ptr == NULL ? SLICE("\"\"") : task->goal);
    buf_member_int(out, "createdAt", task->created_ms);
    buf_member_int(out, "updatedAt", task->updated_ms);
    buf_member_int(out, "messageCount", task->messages);
    add_state(out, task);
    buf_char(out, '}');
}
