/*
 * task_calls.c: the public functions of <cardbox/task.h> that create, steer and follow tasks. SQL
 * functions enforce the rules of tasks.
 */
#include "cardbox/task.h"

#include "store/client/call.h"
#include "store/client/result.h"
#include "store/ledger/ledger_input.h"
#include "store/task/work.h"

/* --- creating, sending to and cancelling tasks --- */

cardbox_status cardbox_workers_wake(cardbox *db, const char *tenant, cardbox_error *err)
{
    cardbox_status status = check_call(db, tenant, err);
    return status == CARDBOX_OK ? work_notify(db, slice_of(tenant), err) : status;
}

/* Sets the ids that the caller did not choose. The ids of the box and of the messages are derived
 * from the task's id or the goal's id, so that a retry uses the same ids. */
static void complete_ids(task_spawn *out, char ids[4][CARDBOX_UUID_SIZE],
                         const cardbox_spawn *spawn)
{
    cardbox_uuid7(ids[0]);
    out->task_id = slice_of(spawn->task_id == NULL ? ids[0] : spawn->task_id);
    cardbox_uuid7_from_key(ids[1], out->task_id.ptr, "goal");
    out->goal_id = slice_of(spawn->goal_id == NULL ? ids[1] : spawn->goal_id);
    cardbox_uuid7_from_key(ids[2], out->goal_id.ptr, "system");
    out->system_id = slice_of(ids[2]);
    cardbox_uuid7_from_key(ids[3], out->task_id.ptr, "box");
    out->box_id = slice_of(spawn->box_id == NULL ? ids[3] : spawn->box_id);
}

static cardbox_status run_spawn(cardbox *db, const task_spawn *spawn, client_safety safety,
                                cardbox_error *err)
{
    store_rows *rows = NULL;
    params p = PARAMS_INIT;
    cardbox_status status = task_spawn_check(spawn, err);
    if (status != CARDBOX_OK)
        return status;
    task_spawn_params(&p, spawn);
    status = client_run(db, STATEMENT_task_spawn, &p, safety, &rows, err);
    if (status == CARDBOX_OK)
        status = task_spawn_status(rows, spawn, err);
    rows_free(rows);
    return status;
}

cardbox_status cardbox_task_spawn(char task_id[CARDBOX_UUID_SIZE], cardbox *db, const char *tenant,
                                  const cardbox_spawn *spawn, cardbox_error *err)
{
    arena memory = ARENA_INIT;
    char ids[4][CARDBOX_UUID_SIZE];
    cardbox_status status = check_call(db, tenant, err);
    if (status == CARDBOX_OK && (spawn == NULL || spawn->struct_size < sizeof(*spawn)))
        status = error_set(err, CARDBOX_INVALID, "spawn was not made by CARDBOX_SPAWN_INIT");
    if (status != CARDBOX_OK)
        return status;
    task_spawn made = {
        .tenant = slice_of(tenant),
        .parent_id = slice_of(spawn->parent_task_id),
        .prompt = ledger_token(&memory, spawn->system_prompt, spawn->system_prompt_json),
        .goal = ledger_token(&memory, spawn->goal, spawn->goal_json),
        .context_box_id = slice_of(spawn->context_box_id),
        .router = spawn->router,
    };
    complete_ids(&made, ids, spawn);
    client_safety safety = spawn->task_id == NULL ? RUN_AGAIN_HERE : RUN_AGAIN;
    status = memory.failed ? error_nomem(err) : run_spawn(db, &made, safety, err);
    arena_reset(&memory);
    if (status != CARDBOX_OK)
        return status;
    if (task_id != NULL && spawn->task_id == NULL)
        memcpy(task_id, ids[0], CARDBOX_UUID_SIZE);
    work_wake(db, slice_of(tenant));
    return CARDBOX_OK;
}

static cardbox_status run_change(cardbox *db, statement_id id, params *p, client_safety safety,
                                 slice task_id, cardbox_error *err)
{
    store_rows *rows = NULL;
    cardbox_status status = client_run(db, id, p, safety, &rows, err);
    if (status == CARDBOX_OK)
        status = task_change_status(rows, task_id, err);
    rows_free(rows);
    return status;
}

cardbox_status cardbox_task_send(cardbox *db, const char *tenant, const cardbox_message *message,
                                 cardbox_error *err)
{
    arena memory = ARENA_INIT;
    char id[CARDBOX_UUID_SIZE];
    params p = PARAMS_INIT;
    cardbox_status status = check_call(db, tenant, err);
    if (status == CARDBOX_OK && (message == NULL || message->struct_size < sizeof(*message)))
        status = error_set(err, CARDBOX_INVALID, "message was not made by CARDBOX_MESSAGE_INIT");
    if (status == CARDBOX_OK)
        status = check_id("task_id", message->task_id, CARDBOX_CARD_ID_MAX, err);
    if (status != CARDBOX_OK)
        return status;
    cardbox_uuid7(id);
    task_send send = {
        .tenant = slice_of(tenant),
        .task_id = slice_of(message->task_id),
        .message_id = slice_of(message->message_id == NULL ? id : message->message_id),
        .content = ledger_token(&memory, message->content, message->content_json),
    };
    status = memory.failed ? error_nomem(err) : task_send_check(&send, err);
    if (status == CARDBOX_OK) {
        task_send_params(&p, &send);
        status =
            run_change(db, STATEMENT_task_send, &p,
                       message->message_id == NULL ? RUN_AGAIN_HERE : RUN_AGAIN, send.task_id, err);
    }
    arena_reset(&memory);
    if (status == CARDBOX_OK)
        work_wake(db, slice_of(tenant));
    return status;
}

cardbox_status cardbox_task_cancel(cardbox *db, const char *tenant, const char *task_id,
                                   const char *reason, cardbox_error *err)
{
    arena memory = ARENA_INIT;
    params p = PARAMS_INIT;
    cardbox_status status = check_call(db, tenant, err);
    if (status == CARDBOX_OK)
        status = check_id("task_id", task_id, CARDBOX_CARD_ID_MAX, err);
    if (status != CARDBOX_OK)
        return status;
    slice token = ledger_token(&memory, reason == NULL ? "" : reason, NULL);
    status = memory.failed ? error_nomem(err) : ledger_check_text("reason", token, err);
    if (status == CARDBOX_OK) {
        task_cancel_params(&p, slice_of(tenant), slice_of(task_id), token);
        status = run_change(db, STATEMENT_task_cancel, &p, RUN_AGAIN, slice_of(task_id), err);
    }
    arena_reset(&memory);
    if (status == CARDBOX_OK)
        work_wake(db, slice_of(tenant));
    return status;
}

cardbox_status cardbox_task_finish(cardbox *db, const char *tenant, const char *task_id,
                                   const char *completion_status, cardbox_error *err)
{
    params p = PARAMS_INIT;
    cardbox_status status = check_call(db, tenant, err);
    if (status == CARDBOX_OK)
        status = check_id("task_id", task_id, CARDBOX_CARD_ID_MAX, err);
    slice word = slice_of(completion_status == NULL ? "success" : completion_status);
    if (status == CARDBOX_OK)
        status = task_finish_check(slice_of(task_id), word, err);
    if (status != CARDBOX_OK)
        return status;
    task_finish_params(&p, slice_of(tenant), slice_of(task_id), word);
    status = run_change(db, STATEMENT_task_finish, &p, RUN_AGAIN, slice_of(task_id), err);
    if (status == CARDBOX_OK)
        work_wake(db, slice_of(tenant));
    return status;
}

/* --- following --- */

/* Limit for the bytes of one read, which the last event may exceed. */
enum { FOLLOW_BYTES = 16 * 1024 * 1024 };

/* A row "more" makes no event: callers of cardbox_task_follow read until the result is empty. */
static bool fill_event(void *entry, arena *memory, const store_rows *rows, int row)
{
    task_event event;
    task_event_read(&event, rows, row);
    *(cardbox_task_event *)entry = (cardbox_task_event){
        .n = event.n,
        .what = event.what.ptr,
        .ref = event.ref.ptr,
        .how = event.how.ptr,
        .at = event.at_ms,
        .text = ledger_token_text(memory, event.text),
        .text_json = ledger_token_json(memory, event.text),
        .call = event.call.ptr,
        .metadata = event.metadata.ptr,
    };
    return !slice_equal(event.what, SLICE("more"));
}

cardbox_status cardbox_task_follow(cardbox_task_events **out, cardbox *db, const char *tenant,
                                   const cardbox_follow *follow, cardbox_error *err)
{
    store_rows *rows = NULL;
    params p = PARAMS_INIT;
    cardbox_status status = check_read(out, db, tenant, err);
    if (status == CARDBOX_OK && (follow == NULL || follow->struct_size < sizeof(*follow)))
        status = error_set(err, CARDBOX_INVALID, "follow was not made by CARDBOX_FOLLOW_INIT");
    if (status != CARDBOX_OK)
        return status;
    *out = NULL;
    unsigned limit = follow->limit;
    status = check_id("task_id", follow->task_id, CARDBOX_CARD_ID_MAX, err);
    if (status == CARDBOX_OK)
        status = check_page(&limit, err);
    if (status != CARDBOX_OK)
        return status;
    const task_follow one = {
        .tenant = slice_of(tenant),
        .task_id = slice_of(follow->task_id),
        .after = follow->after,
        .message_id = slice_of(follow->message_id),
        .after_chunk = follow->after_chunk,
    };
    tasks_follow_params(
        &p, &one, 1,
        &(follow_limits){.most = limit, .page_bytes = FOLLOW_BYTES, .all_bytes = FOLLOW_BYTES});
    status = client_run(db, STATEMENT_tasks_follow, &p, RUN_AGAIN, &rows, err);
    if (status != CARDBOX_OK)
        return status;
    *out = result_new(rows, SIZE_MAX, sizeof(cardbox_task_event), fill_event, err);
    return *out == NULL ? CARDBOX_NOMEM : CARDBOX_OK;
}

size_t cardbox_task_events_count(const cardbox_task_events *events)
{
    return result_count(events);
}

const cardbox_task_event *cardbox_task_events_at(const cardbox_task_events *events, size_t index)
{
    return result_at(events, index);
}

void cardbox_task_events_free(cardbox_task_events *events)
{
    result_free(events);
}
