/*
 * tasks.c: task:*: starts tasks, sends messages to them and cancels them. An unknown or finished
 * task is an output, not an error: the caller is often a model, which has to read the reason.
 */
#include "bus/abilities.h"
#include "base/errors.h"
#include "store/task/tasks.h"

enum { ACTIVE_DEFAULT = 100 };

/* --- spawn --- */

/* The ids are made here, so that sending the statement again makes no second task. */
BUS_READS(task_spawn)
{
    task_spawn *spawn = in->call->plan;
    *spawn = (task_spawn){.tenant = in->call->tenant,
                          .task_id = uuid16_new(in->call->memory),
                          .parent_id = input_text(in, "parentTaskId"),
                          .prompt = input_json(in, "systemPrompt"),
                          .system_id = uuid16_new(in->call->memory),
                          .goal = input_json(in, "goal"),
                          .goal_id = uuid16_new(in->call->memory)};
    if (in->status == CARDBOX_OK)
        in->status = task_spawn_check(spawn, in->err);
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
    (void)err;
    return render_done(out, task_change_status(rows, cancel->task_id, &own), &own);
}

/* --- what is going on --- */

BUS_READS(task_active)
{
    int64_t *limit = in->call->plan;
    *limit = input_integer(in, "limit", ACTIVE_DEFAULT);
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

static const bus_ability TABLE[] = {
    {BUS_TEXT(task_spawn), BUS_TASKS, BUS_AGAIN | BUS_WAKES, sizeof(task_spawn),
     STATEMENT_task_spawn, task_spawn_read, task_spawn_build, task_spawn_render, NULL},
    {BUS_TEXT(task_send), BUS_TASKS, BUS_AGAIN | BUS_WAKES, sizeof(task_send), STATEMENT_task_send,
     task_send_read, task_send_build, task_send_render, NULL},
    {BUS_TEXT(task_cancel), BUS_TASKS, BUS_WAKES, sizeof(task_cancel), STATEMENT_task_cancel,
     task_cancel_read, task_cancel_build, task_cancel_render, NULL},
    {BUS_TEXT(task_active), BUS_TASKS, BUS_AGAIN, sizeof(int64_t), STATEMENT_tasks_active,
     task_active_read, task_active_build, task_active_render, NULL},
};

const bus_table BUS_OF_TASKS = BUS_TABLE(TABLE);
