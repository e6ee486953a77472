/*
 * tasks.c: task:*: work is given, told more, taken back. A task that is not there or finished is an
 * output, not an error: who asked is often a model, and is to read why.
 */
#include "bus/abilities.h"
#include "bus/input.h"
#include "store/errors.h"
#include "store/tasks.h"

enum { ACTIVE_DEFAULT = 100 };

/* --- spawn --- */

/* The ids are made here, so that sending the statement again makes no second task. */
BUS_READS(task_spawn)
{
    input_reader in = INPUT_OF(call, err);
    task_spawn *spawn = input_plan(call, sizeof(*spawn));
    if (spawn == NULL)
        return CARDBOX_NOMEM;
    *spawn = (task_spawn){.tenant = call->tenant,
                          .task_id = uuid16_new(call->memory),
                          .parent_id = input_text(&in, "parentTaskId"),
                          .prompt = input_json(call, "systemPrompt"),
                          .system_id = uuid16_new(call->memory),
                          .goal = input_json(call, "goal"),
                          .goal_id = uuid16_new(call->memory)};
    if (call->memory->failed)
        return CARDBOX_NOMEM;
    return in.status == CARDBOX_OK ? task_spawn_check(spawn, err) : in.status;
}

BUS_BUILDS(task_spawn)
{
    task_spawn_params(p, call->plan);
}

BUS_RENDERS(task_spawn)
{
    const task_spawn *spawn = call->plan;
    cardbox_status status = task_spawn_status(rows, spawn, err);
    if (status != CARDBOX_OK)
        return status;
    buf_text(out, "{\"taskId\":");
    buf_json_string(out, spawn->task_id);
    buf_char(out, '}');
    return CARDBOX_OK;
}

/* --- send and cancel --- */

static cardbox_status render_done(buf *out, cardbox_status status, const cardbox_error *own)
{
    if (status != CARDBOX_OK && status != CARDBOX_NOT_FOUND && status != CARDBOX_CONFLICT)
        return status;
    buf_text(out, status == CARDBOX_OK ? "{\"success\":true" : "{\"success\":false,\"error\":");
    if (status != CARDBOX_OK)
        buf_json_string(out, view_of(own->message));
    buf_char(out, '}');
    return CARDBOX_OK;
}

BUS_READS(task_send)
{
    input_reader in = INPUT_OF(call, err);
    task_send *send = input_plan(call, sizeof(*send));
    if (send == NULL)
        return CARDBOX_NOMEM;
    *send = (task_send){.tenant = call->tenant,
                        .task_id = input_text(&in, "receiverId"),
                        .message_id = uuid16_new(call->memory),
                        .content = input_json(call, "message")};
    if (call->memory->failed)
        return CARDBOX_NOMEM;
    return in.status == CARDBOX_OK ? task_send_check(send, err) : in.status;
}

BUS_BUILDS(task_send)
{
    task_send_params(p, call->plan);
}

BUS_RENDERS(task_send)
{
    const task_send *send = call->plan;
    cardbox_error own = CARDBOX_ERROR_INIT;
    (void)err;
    return render_done(out, task_change_status(rows, send->task_id, &own), &own);
}

typedef struct task_cancel {
    view task_id;
    view reason; /* token */
} task_cancel;

BUS_READS(task_cancel)
{
    input_reader in = INPUT_OF(call, err);
    task_cancel *cancel = input_plan(call, sizeof(*cancel));
    if (cancel == NULL)
        return CARDBOX_NOMEM;
    cancel->task_id = input_id(&in, "taskId", CARDBOX_CARD_ID_MAX);
    cancel->reason = input_json(call, "reason");
    return in.status == CARDBOX_OK ? ledger_check_text("reason", cancel->reason, err) : in.status;
}

BUS_BUILDS(task_cancel)
{
    const task_cancel *cancel = call->plan;
    task_cancel_params(p, call->tenant, cancel->task_id, cancel->reason);
}

BUS_RENDERS(task_cancel)
{
    const task_cancel *cancel = call->plan;
    cardbox_error own = CARDBOX_ERROR_INIT;
    (void)err;
    return render_done(out, task_change_status(rows, cancel->task_id, &own), &own);
}

/* --- what is going on --- */

BUS_READS(task_active)
{
    const input_reader in = INPUT_OF(call, err);
    int64_t *limit = input_plan(call, sizeof(*limit));
    if (limit == NULL)
        return CARDBOX_NOMEM;
    *limit = input_integer(&in, "limit", ACTIVE_DEFAULT);
    return CARDBOX_OK;
}

BUS_BUILDS(task_active)
{
    const int64_t *limit = call->plan;
    tasks_active_params(p, call->tenant, *limit);
}

BUS_RENDERS(task_active)
{
    (void)call, (void)err;
    buf_text(out, "{\"tasks\":[");
    for (int row = 0; row < rows_count(rows); row++) {
        task_row task;
        if (!task_row_read(&task, rows, row))
            continue;
        buf_text(out, row == 0 ? "" : ",");
        active_task_json(out, &task);
    }
    buf_text(out, "]}");
    return CARDBOX_OK;
}
