/*
 * tasks.c: parameters, rows and outcomes of the statements of tasks.h. Uses no connection.
 */
#include "store/task/tasks.h"

#include <inttypes.h>
#include "store/client/check.h"
#include "model/content/class.h"
#include "base/errors.h"

/* --- creating, sending to and cancelling tasks --- */

/* Text of white space alone is rejected: workers omit such a message from the context, so the model
 * would have no message to answer. */
static cardbox_status check_said(const char *what, slice token, cardbox_error *err)
{
    cardbox_status status = ledger_check_text(what, token, err);
    if (status == CARDBOX_OK && content_is_blank(scan_inside(token)))
        status = error_set(err, CARDBOX_INVALID, "%s is blank: say what is to be done", what);
    return status;
}

static void first_messages(message_input out[2], const task_spawn *spawn, slice prompt)
{
    out[0] = (message_input){.message_id = spawn->system_id,
                             .task_id = spawn->task_id,
                             .role = SLICE("system"),
                             .content = prompt};
    out[1] = (message_input){.message_id = spawn->goal_id,
                             .task_id = spawn->task_id,
                             .role = SLICE("user"),
                             .content = spawn->goal};
}

/* Appends the system prompt as a token. The default names the task's id, which an agent needs if
 * other tasks are to send it messages. */
static void put_prompt(buf *out, const task_spawn *spawn)
{
    buf text = BUF_INIT(2 * (size_t)CARDBOX_CARD_ID_MAX);
    if (spawn->prompt.ptr != NULL && !content_is_blank(scan_inside(spawn->prompt))) {
        buf_slice(out, spawn->prompt);
        return;
    }
    buf_text(&text, "You are task ");
    buf_slice(&text, spawn->task_id);
    buf_char(&text, '.');
    buf_json_string(out, buf_as_slice(&text));
    buf_free(&text);
}

cardbox_status task_spawn_check(const task_spawn *spawn, cardbox_error *err)
{
    cardbox_status status = check_said("goal", spawn->goal, err);
    if (status == CARDBOX_OK && spawn->prompt.ptr != NULL)
        status = ledger_check_text("systemPrompt", spawn->prompt, err);
    if (status == CARDBOX_OK && spawn->parent_id.ptr != NULL)
        status = check_id_slice("parentTaskId", spawn->parent_id, CARDBOX_CARD_ID_MAX, err);
    if (status == CARDBOX_OK)
        status = check_id_slice("taskId", spawn->task_id, CARDBOX_CARD_ID_MAX, err);
    if (status == CARDBOX_OK)
        status = check_id_slice("the id of the goal's message", spawn->goal_id, CARDBOX_CARD_ID_MAX,
                                err);
    if (status == CARDBOX_OK)
        status = check_id_slice("the id of the system message", spawn->system_id,
                                CARDBOX_CARD_ID_MAX, err);
    return status == CARDBOX_OK ? ledger_check_boxes(spawn->box_id, spawn->context_box_id, err)
                                : status;
}

/* Adds the parameter `given` of the function create_task. */
static void put_given(params *p, const task_spawn *spawn)
{
    buf given = BUF_INIT(p->bytes.max);
    buf_text(&given, "{\"router\":");
    buf_text(&given, spawn->router ? "true" : "false");
    if (spawn->parent_id.ptr != NULL)
        buf_member_text(&given, "parent", spawn->parent_id);
    if (spawn->box_id.ptr != NULL)
        buf_member_text(&given, "box", spawn->box_id);
    if (spawn->context_box_id.ptr != NULL)
        buf_member_text(&given, "context", spawn->context_box_id);
    buf_char(&given, '}');
    params_jsonb(p, buf_as_slice(&given));
    params_made_of(p, &given);
    buf_free(&given);
}

void task_spawn_params(params *p, const task_spawn *spawn)
{
    message_input messages[2];
    buf prompt = BUF_INIT(p->bytes.max);
    put_prompt(&prompt, spawn);
    first_messages(messages, spawn, buf_as_slice(&prompt));
    params_text(p, spawn->tenant);
    params_text(p, spawn->task_id);
    put_given(p, spawn);
    params_text(p, buf_as_slice(&prompt));
    params_made_of(p, &prompt);
    ledger_put_messages(p, messages, 2);
    buf_free(&prompt);
}

static ledger_outcome only_outcome(const store_rows *rows)
{
    return rows_count(rows) == 0 ? 0 : (ledger_outcome)rows_int4(rows, 0, 0);
}

cardbox_status task_spawn_status(const store_rows *rows, const task_spawn *spawn,
                                 cardbox_error *err)
{
    ledger_outcome outcome = only_outcome(rows);
    slice parent = spawn->parent_id, id = spawn->task_id;
    if (outcome == LEDGER_INSERTED || outcome == LEDGER_UNCHANGED)
        return CARDBOX_OK;
    if (outcome == LEDGER_NO_TASK)
        return error_set(err, CARDBOX_NOT_FOUND, "Task not found: %.*s", (int)parent.len,
                         parent.ptr);
    if (outcome == LEDGER_BOX_DELETED)
        return error_set(err, CARDBOX_GONE, "box %.*s was deleted", (int)spawn->box_id.len,
                         spawn->box_id.ptr);
    if (outcome == LEDGER_BOX_SEALED)
        return error_set(err, CARDBOX_CONFLICT, "box %.*s is sealed", (int)spawn->box_id.len,
                         spawn->box_id.ptr);
    if (outcome == LEDGER_NO_CONTEXT_BOX)
        return error_set(err, CARDBOX_NOT_FOUND, "context box not found: %.*s",
                         (int)spawn->context_box_id.len, spawn->context_box_id.ptr);
    return error_set(err, CARDBOX_CONFLICT, "task %.*s exists", (int)id.len, id.ptr);
}

cardbox_status task_send_check(const task_send *send, cardbox_error *err)
{
    cardbox_status status = check_id_slice("receiverId", send->task_id, CARDBOX_CARD_ID_MAX, err);
    if (status == CARDBOX_OK)
        status = check_id_slice("the message's id", send->message_id, CARDBOX_CARD_ID_MAX, err);
    return status == CARDBOX_OK ? check_said("message", send->content, err) : status;
}

void task_send_params(params *p, const task_send *send)
{
    buf content = BUF_INIT(2 * (size_t)CARDBOX_CONTENT_MAX);
    buf metadata = BUF_INIT(p->bytes.max);
    const message_input message = {.message_id = send->message_id,
                                   .task_id = send->task_id,
                                   .role = SLICE("user"),
                                   .content = send->content};
    ledger_message_card(&content, &metadata, &message);
    params_text(p, send->tenant);
    params_text(p, send->task_id);
    params_text(p, send->message_id);
    params_text(p, buf_as_slice(&content));
    params_jsonb(p, buf_as_slice(&metadata));
    params_made_of(p, &content);
    params_made_of(p, &metadata);
    buf_free(&content);
    buf_free(&metadata);
}

void task_cancel_params(params *p, slice tenant, slice task_id, slice reason)
{
    params_text(p, tenant);
    params_text(p, task_id);
    params_text(p, reason);
}

cardbox_status task_finish_check(slice task_id, slice status, cardbox_error *err)
{
    cardbox_status checked = check_id_slice("taskId", task_id, CARDBOX_CARD_ID_MAX, err);
    return checked == CARDBOX_OK ? ledger_check_status(status, err) : checked;
}

void task_finish_params(params *p, slice tenant, slice task_id, slice status)
{
    params_text(p, tenant);
    params_text(p, task_id);
    params_text(p, status);
}

cardbox_status task_change_status(const store_rows *rows, slice task_id, cardbox_error *err)
{
    int len = (int)task_id.len;
    switch ((int)only_outcome(rows)) {
    case LEDGER_INSERTED:
    case LEDGER_UNCHANGED:
    case LEDGER_UPDATED:
        return CARDBOX_OK;
    case LEDGER_NO_TASK:
        return error_set(err, CARDBOX_NOT_FOUND, "Task not found: %.*s", len, task_id.ptr);
    case LEDGER_FINISHED:
        return error_set(err, CARDBOX_CONFLICT, "Task %.*s is already completed", len, task_id.ptr);
    default:
        return error_set(err, CARDBOX_CONFLICT, "another message has the id of this one");
    }
}

void tasks_tenants_params(params *p, const slice *tenants, size_t count)
{
    if (count == 0) {
        params_null(p);
        return;
    }
    params_column(p, PARAMS_TEXT, tenants, count, sizeof(slice), 0);
}

/* --- for followers --- */

void tasks_follow_params(params *p, const task_follow *follows, size_t count,
                         const follow_limits *limits)
{
    params_column(p, PARAMS_TEXT, follows, count, PARAMS_FIELD(task_follow, tenant));
    params_column(p, PARAMS_TEXT, follows, count, PARAMS_FIELD(task_follow, task_id));
    params_column(p, PARAMS_INT8, follows, count, PARAMS_FIELD(task_follow, after));
    params_column(p, PARAMS_TEXT, follows, count, PARAMS_FIELD(task_follow, message_id));
    params_column(p, PARAMS_INT8, follows, count, PARAMS_FIELD(task_follow, after_chunk));
    params_int8(p, limits->most);
    params_int8(p, limits->page_bytes);
    params_int8(p, limits->all_bytes);
}

void task_event_read(task_event *out, const store_rows *rows, int row)
{
    *out = (task_event){
        .ord = rows_int8(rows, row, 0),
        .n = rows_int8(rows, row, 1),
        .what = rows_text(rows, row, 2),
        .ref = rows_text(rows, row, 3),
        .how = rows_text(rows, row, 4),
        .at_ms = rows_int8(rows, row, 5),
        .text = rows_text(rows, row, 6),
        .metadata = rows_jsonb(rows, row, 7),
        .call = rows_text(rows, row, 8),
    };
    if (out->text.ptr != NULL)
        out->text = ledger_text(out->text);
}
