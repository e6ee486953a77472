/*
 * tasks.c: the abilities of task:*, which start, message, end and list tasks. For task:send,
 * task:cancel and task:finish, an unknown or finished task is an output and not an error, because
 * the caller is often a model that must read the reason.
 */
#include "bus/abilities.h"
#include "base/errors.h"
#include "store/task/tasks.h"

enum { ACTIVE_DEFAULT = 100, ACTIVE_MOST = 1000 };

/* --- spawn --- */

/* The ids of the task and of its messages are made before the statement is sent, so that sending
 * the statement again makes no second task. */
BUS_READS(task_spawn)
{
    task_spawn *spawn = in->call->plan;
    *spawn = (task_spawn){.tenant = in->call->tenant,
                          .task_id = uuid16_new(in->call->memory),
                          .parent_id = input_text(in, "parentTaskId"),
                          .prompt = input_json(in, "systemPrompt"),
                          .system_id = uuid16_new(in->call->memory),
                          .goal = input_json(in, "goal"),
                          .goal_id = uuid16_new(in->call->memory),
                          .box_id = input_text(in, "boxId"),
                          .context_box_id = input_text(in, "contextBoxId"),
                          .router = input_flag(in, "router")};
    if (spawn->box_id.ptr == NULL)
        spawn->box_id = uuid16_new(in->call->memory);
    if (in->status == CARDBOX_OK)
        in->status = task_spawn_check(spawn, in->err);
}

BUS_BUILDS_FROM_PLAN(task_spawn, task_spawn_params)

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

/* --- send, cancel and finish --- */

static cardbox_status render_done(buf *out, cardbox_status status, const cardbox_error *own)
{
    if (status != CARDBOX_OK && status != CARDBOX_NOT_FOUND && status != CARDBOX_CONFLICT)
        return status;
    buf_text(out, status == CARDBOX_OK ? "{\"success\":true" : "{\"success\":false,\"error\":");
    if (status != CARDBOX_OK)
        buf_json_string(out, slice_of(own->message));
    buf_char(out, '}');
    return CARDBOX_OK;
}

BUS_READS(task_send)
{
    task_send *send = in->call->plan;
    *send = (task_send){.tenant = in->call->tenant,
                        .task_id = input_text(in, "receiverId"),
                        .message_id = uuid16_new(in->call->memory),
                        .content = input_json(in, "message")};
    if (in->status == CARDBOX_OK)
        in->status = task_send_check(send, in->err);
}

BUS_BUILDS_FROM_PLAN(task_send, task_send_params)

BUS_RENDERS(task_send)
{
    const task_send *send = call->plan;
    cardbox_error own = CARDBOX_ERROR_INIT;
    return render_done(out, task_change_status(rows, send->task_id, &own), &own);
}

typedef struct task_cancel {
    slice task_id;
    slice reason; /* token */
} task_cancel;

BUS_READS(task_cancel)
{
    task_cancel *cancel = in->call->plan;
    cancel->task_id = input_id(in, "taskId", CARDBOX_CARD_ID_MAX);
    cancel->reason = input_json(in, "reason");
    if (in->status == CARDBOX_OK)
        in->status = ledger_check_text("reason", cancel->reason, in->err);
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
    return render_done(out, task_change_status(rows, cancel->task_id, &own), &own);
}

typedef struct task_finish {
    slice task_id, status;
} task_finish;

BUS_READS(task_finish)
{
    task_finish *finish = in->call->plan;
    finish->task_id = input_id(in, "taskId", CARDBOX_CARD_ID_MAX);
    finish->status = input_text(in, "completionStatus");
    if (finish->status.ptr == NULL)
        finish->status = SLICE("success");
    if (in->status == CARDBOX_OK)
        in->status = task_finish_check(finish->task_id, finish->status, in->err);
}

BUS_BUILDS(task_finish)
{
    const task_finish *finish = call->plan;
    task_finish_params(p, call->tenant, finish->task_id, finish->status);
}

BUS_RENDERS(task_finish)
{
    const task_finish *finish = call->plan;
    cardbox_error own = CARDBOX_ERROR_INIT;
    return render_done(out, task_change_status(rows, finish->task_id, &own), &own);
}

/* --- active tasks --- */

BUS_READS(task_active)
{
    int64_t *limit = in->call->plan;
    *limit = input_within(in, "limit", ACTIVE_DEFAULT, 1, ACTIVE_MOST);
}

BUS_BUILDS(task_active)
{
    const int64_t *limit = call->plan;
    tasks_active_params(p, call->tenant, *limit);
}

BUS_RENDERS(task_active)
{
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

static const bus_ability TABLE[] = {
    BUS_ABILITY(task_spawn, TASKS, BUS_AGAIN | BUS_WAKES, task_spawn, task_spawn),
    BUS_ABILITY(task_send, TASKS, BUS_AGAIN | BUS_WAKES, task_send, task_send),
    BUS_ABILITY(task_cancel, TASKS, BUS_WAKES, task_cancel, task_cancel),
    BUS_ABILITY(task_finish, TASKS, BUS_WAKES, task_finish, task_finish),
    BUS_ABILITY(task_active, TASKS, BUS_AGAIN, int64_t, tasks_active),
};

const bus_table BUS_OF_TASKS = BUS_TABLE(TABLE);
