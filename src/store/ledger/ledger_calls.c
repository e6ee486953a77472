/*
 * ledger_calls.c: the public functions of <cardbox/ledger.h>.
 */
#include "cardbox/ledger.h"

#include "store/client/call.h"
#include "store/client/result.h"
#include "store/ledger/ledger_input.h"
#include "store/task/work.h"

/* --- saving --- */

static cardbox_status send_batch(cardbox *db, const ledger_batch *batch, cardbox_error *err)
{
    store_rows *rows = NULL;
    params p = PARAMS_INIT;
    ledger_save_params(&p, batch);
    cardbox_status status = client_run(db, STATEMENT_ledger_save, &p, RUN_AGAIN, &rows, err);
    if (status == CARDBOX_OK)
        status = ledger_save_status(rows, batch, err);
    rows_free(rows);
    return status;
}

cardbox_status cardbox_ledger_save(cardbox *db, const char *tenant,
                                   const cardbox_ledger_batch *batch, cardbox_error *err)
{
    arena memory = ARENA_INIT;
    ledger_batch made = {.tenant = slice_of(tenant)};
    cardbox_status status = check_call(db, tenant, err);
    if (status == CARDBOX_OK && (batch == NULL || batch->struct_size < sizeof(*batch)))
        status = error_set(err, CARDBOX_INVALID, "batch was not made by CARDBOX_LEDGER_BATCH_INIT");
    if (status != CARDBOX_OK)
        return status;
    made.task_count = batch->task_count;
    made.message_count = batch->message_count;
    made.call_count = batch->call_count;
    status = ledger_read_tasks(&made.tasks, &memory, batch->tasks, batch->task_count, err);
    if (status == CARDBOX_OK)
        status = ledger_read_messages(&made.messages, &memory, (slice){NULL, 0}, batch->messages,
                                      batch->message_count, err);
    if (status == CARDBOX_OK)
        status = ledger_read_calls(&made.calls, &memory, (slice){NULL, 0}, batch->calls,
                                   batch->call_count, err);
    if (status == CARDBOX_OK)
        status = ledger_check(&made, err);
    if (status == CARDBOX_OK)
        status = send_batch(db, &made, err);
    if (status == CARDBOX_OK && ledger_may_wake(&made))
        work_wake(db, made.tenant);
    arena_reset(&memory);
    return status;
}

cardbox_status cardbox_task_save(cardbox *db, const char *tenant, const cardbox_task *task,
                                 cardbox_error *err)
{
    cardbox_ledger_batch batch = CARDBOX_LEDGER_BATCH_INIT;
    batch.tasks = task;
    batch.task_count = 1;
    return cardbox_ledger_save(db, tenant, &batch, err);
}

cardbox_status cardbox_message_save(cardbox *db, const char *tenant, const cardbox_message *message,
                                    cardbox_error *err)
{
    cardbox_ledger_batch batch = CARDBOX_LEDGER_BATCH_INIT;
    batch.messages = message;
    batch.message_count = 1;
    return cardbox_ledger_save(db, tenant, &batch, err);
}

cardbox_status cardbox_call_save(cardbox *db, const char *tenant, const cardbox_call *call,
                                 cardbox_error *err)
{
    cardbox_ledger_batch batch = CARDBOX_LEDGER_BATCH_INIT;
    batch.calls = call;
    batch.call_count = 1;
    return cardbox_ledger_save(db, tenant, &batch, err);
}

/* --- results --- */

struct cardbox_ledger {
    result all;
};

static bool fill_task(void *entry, arena *memory, const store_rows *rows, int at)
{
    cardbox_task *out = entry;
    task_row row;
    bool is_task = task_row_read(&row, rows, at);
    *out = (cardbox_task)CARDBOX_TASK_INIT;
    out->task_id = row.task_id.ptr;
    out->parent_task_id = row.parent_id.ptr;
    out->completion_status = row.status.ptr;
    out->system_prompt = ledger_token_text(memory, row.prompt);
    out->system_prompt_json = row.prompt.ptr;
    out->created_at = row.created_ms;
    out->updated_at = row.updated_ms;
    out->goal = ledger_token_text(memory, row.goal);
    out->goal_json = ledger_token_json(memory, row.goal);
    out->cancel_reason = ledger_token_text(memory, row.reason);
    out->lease_owner = row.owner.ptr;
    out->wake_at = row.has_wake ? row.wake_micros / 1000 : 0;
    out->message_count = row.messages;
    out->event_count = row.events;
    out->attempts = row.attempts;
    out->box_id = row.box_id.ptr;
    out->context_box_id = row.context_box_id.ptr;
    out->router = row.router;
    out->state = is_task ? task_row_state(&row) : NULL;
    return is_task;
}

static bool fill_message(void *entry, arena *memory, const store_rows *rows, int at)
{
    cardbox_message *out = entry;
    message_row row;
    bool is_message = message_row_read(&row, rows, at);
    *out = (cardbox_message)CARDBOX_MESSAGE_INIT;
    out->message_id = row.message_id.ptr;
    out->task_id = row.task_id.ptr;
    out->role = row.role.ptr;
    out->content = ledger_token_text(memory, row.content);
    out->content_json = ledger_token_json(memory, row.content);
    out->timestamp = row.ts_ms;
    out->metadata = row.metadata.ptr;
    out->tool_calls = row.tool_calls.ptr;
    out->seq = row.seq;
    return is_message;
}

static bool fill_call(void *entry, arena *memory, const store_rows *rows, int at)
{
    cardbox_call *out = entry;
    call_row row;
    call_row_read(&row, rows, at);
    *out = (cardbox_call)CARDBOX_CALL_INIT;
    out->call_id = row.call_id.ptr;
    out->task_id = row.task_id.ptr;
    out->ability_name = row.ability.ptr;
    out->parameters = ledger_token_text(memory, row.parameters);
    out->parameters_json = row.parameters.ptr;
    out->status = row.status.ptr;
    out->details = ledger_token_text(memory, row.details);
    out->details_json = row.details.ptr;
    out->created_at = row.created_ms;
    out->updated_at = row.updated_ms;
    out->start_message_id = row.start_id.ptr;
    out->end_message_id = row.end_id.ptr;
    return true;
}

static cardbox_status read_ledger(cardbox_ledger **out, cardbox *db, statement_id id, params *p,
                                  size_t size, result_fill *fill, cardbox_error *err)
{
    store_rows *rows = NULL;
    cardbox_status status = client_run(db, id, p, RUN_AGAIN, &rows, err);
    if (status != CARDBOX_OK)
        return status;
    *out = result_new(rows, SIZE_MAX, size, fill, err);
    return *out == NULL ? CARDBOX_NOMEM : CARDBOX_OK;
}

/* --- reading --- */

static cardbox_status begin_read(cardbox_ledger **out, cardbox *db, const char *tenant,
                                 const char *task_id, cardbox_error *err)
{
    cardbox_status status = check_read(out, db, tenant, err);
    if (status != CARDBOX_OK)
        return status;
    *out = NULL;
    if (task_id != NULL)
        status = check_id("task_id", task_id, CARDBOX_CARD_ID_MAX, err);
    return status;
}

static cardbox_status check_limit(unsigned *limit, cardbox_error *err)
{
    *limit = *limit == 0 ? 100 : *limit;
    return check_page(limit, err);
}

cardbox_status cardbox_task_get(cardbox_ledger **out, cardbox *db, const char *tenant,
                                const char *task_id, cardbox_error *err)
{
    params p = PARAMS_INIT;
    cardbox_status status = begin_read(out, db, tenant, task_id == NULL ? "" : task_id, err);
    if (status != CARDBOX_OK)
        return status;
    task_get_params(&p, slice_of(tenant), slice_of(task_id));
    status = read_ledger(out, db, STATEMENT_task_get, &p, sizeof(cardbox_task), fill_task, err);
    if (status != CARDBOX_OK || (*out)->all.count > 0)
        return status;
    cardbox_ledger_free(*out);
    *out = NULL;
    return error_set(err, CARDBOX_NOT_FOUND, "Task not found: %s", task_id);
}

cardbox_status cardbox_tasks_query(cardbox_ledger **out, cardbox *db, const char *tenant,
                                   const cardbox_task_filter *filter, cardbox_error *err)
{
    const cardbox_task_filter all = CARDBOX_TASK_FILTER_INIT;
    params p = PARAMS_INIT;
    filter = filter == NULL ? &all : filter;
    unsigned limit = filter->limit;
    cardbox_status status = begin_read(out, db, tenant, filter->parent_task_id, err);
    if (status == CARDBOX_OK)
        status = CHECK_MADE(filter, "CARDBOX_TASK_FILTER_INIT", err);
    if (status == CARDBOX_OK)
        status = check_limit(&limit, err);
    if (status == CARDBOX_OK && filter->offset > INT64_MAX)
        status = error_set(err, CARDBOX_INVALID, "offset is too large");
    if (status == CARDBOX_OK && filter->completion_status != NULL)
        status = check_text("completion_status", slice_of(filter->completion_status),
                            CARDBOX_TASK_STATUS_MAX, err);
    if (status != CARDBOX_OK)
        return status;
    const task_query query = {
        .tenant = slice_of(tenant),
        .active = filter->active,
        .status = slice_of(filter->completion_status),
        .parent_id = slice_of(filter->parent_task_id),
        .has_from = filter->from_time >= 0,
        .has_to = filter->to_time >= 0,
        .from_ms = filter->from_time,
        .to_ms = filter->to_time,
        .limit = limit,
        .offset = (int64_t)filter->offset,
        .goals = filter->goals,
    };
    tasks_query_params(&p, &query);
    status = read_ledger(out, db, STATEMENT_tasks_query, &p, sizeof(cardbox_task), fill_task, err);
    if (status == CARDBOX_OK)
        (*out)->all.total = tasks_query_total((*out)->all.rows);
    return status;
}

cardbox_status cardbox_tasks_active(cardbox_ledger **out, cardbox *db, const char *tenant,
                                    unsigned limit, cardbox_error *err)
{
    params p = PARAMS_INIT;
    cardbox_status status = begin_read(out, db, tenant, NULL, err);
    if (status == CARDBOX_OK)
        status = check_limit(&limit, err);
    if (status != CARDBOX_OK)
        return status;
    tasks_active_params(&p, slice_of(tenant), limit);
    return read_ledger(out, db, STATEMENT_tasks_active, &p, sizeof(cardbox_task), fill_task, err);
}

cardbox_status cardbox_messages_list(cardbox_ledger **out, cardbox *db, const char *tenant,
                                     const char *task_id, uint64_t limit, uint64_t offset,
                                     cardbox_error *err)
{
    params p = PARAMS_INIT;
    cardbox_status status = begin_read(out, db, tenant, task_id == NULL ? "" : task_id, err);
    if (status == CARDBOX_OK && (limit > INT64_MAX || offset > INT64_MAX))
        status = error_set(err, CARDBOX_INVALID, "limit and offset must be below 2^63");
    if (status != CARDBOX_OK)
        return status;
    messages_list_params(&p, slice_of(tenant), slice_of(task_id),
                         limit == 0 ? INT64_MAX : (int64_t)limit, (int64_t)offset);
    status = read_ledger(out, db, STATEMENT_messages_list, &p, sizeof(cardbox_message),
                         fill_message, err);
    if (status == CARDBOX_OK)
        (*out)->all.total = messages_list_total((*out)->all.rows);
    return status;
}

cardbox_status cardbox_calls_list(cardbox_ledger **out, cardbox *db, const char *tenant,
                                  const char *task_id, cardbox_error *err)
{
    params p = PARAMS_INIT;
    cardbox_status status = begin_read(out, db, tenant, task_id == NULL ? "" : task_id, err);
    if (status != CARDBOX_OK)
        return status;
    calls_list_params(&p, slice_of(tenant), slice_of(task_id), NULL, INT64_MAX);
    return read_ledger(out, db, STATEMENT_calls_list, &p, sizeof(cardbox_call), fill_call, err);
}

/* --- the members of a result --- */

size_t cardbox_ledger_count(const cardbox_ledger *ledger)
{
    return result_count(ledger);
}

int64_t cardbox_ledger_total(const cardbox_ledger *ledger)
{
    return ledger == NULL ? 0 : ledger->all.total;
}

/* Returns an entry if `fill` has filled the entries of the result, else NULL. */
static const void *entry_at(const cardbox_ledger *ledger, result_fill *fill, size_t index)
{
    return ledger != NULL && ledger->all.fill == fill ? result_at(ledger, index) : NULL;
}

const cardbox_task *cardbox_ledger_task(const cardbox_ledger *ledger, size_t index)
{
    return entry_at(ledger, fill_task, index);
}

const cardbox_message *cardbox_ledger_message(const cardbox_ledger *ledger, size_t index)
{
    return entry_at(ledger, fill_message, index);
}

const cardbox_call *cardbox_ledger_call(const cardbox_ledger *ledger, size_t index)
{
    return entry_at(ledger, fill_call, index);
}

void cardbox_ledger_free(cardbox_ledger *ledger)
{
    result_free(ledger);
}
