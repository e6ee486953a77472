/*
 * work.c: runs the statements of workers: parameters, rows and outcomes.
 */
#include "store/task/work.h"

#include "base/errors.h"
#include "store/client/check.h"
#include "store/client/client.h"

/* --- claims and leases --- */

cardbox_status work_claim(store_rows **out, cardbox *db, const task_claim *claim,
                          cardbox_error *err)
{
    params p = PARAMS_INIT;
    tasks_tenants_params(&p, claim->tenants, claim->tenant_count);
    params_text(&p, claim->owner);
    params_int8(&p, claim->lease_ms);
    params_int4(&p, claim->most);
    params_int4(&p, claim->most_attempts);
    params_bool(&p, claim->take_over);
    return client_run(db, STATEMENT_tasks_claim, &p, RUN_ONCE, out, err);
}

void claimed_task_read(claimed_task *out, const store_rows *rows, int row)
{
    *out = (claimed_task){
        .tenant = rows_text(rows, row, 0),
        .task_id = rows_text(rows, row, 1),
        .epoch = rows_int8(rows, row, 2),
        .attempts = rows_int4(rows, row, 3),
        .given_up = rows_int4(rows, row, 4) == LEDGER_GIVEN_UP,
        .failed_calls = rows_int4(rows, row, 5),
        .parent_id = rows_text(rows, row, 6),
    };
}

cardbox_status work_renew(store_rows **out, cardbox *db, const task_lease *leases, size_t count,
                          int64_t lease_ms, cardbox_error *err)
{
    params p = PARAMS_INIT;
    params_column(&p, PARAMS_TEXT, leases, count, PARAMS_FIELD(task_lease, tenant));
    params_column(&p, PARAMS_TEXT, leases, count, PARAMS_FIELD(task_lease, task_id));
    params_column(&p, PARAMS_INT8, leases, count, PARAMS_FIELD(task_lease, epoch));
    params_int8(&p, lease_ms);
    return client_run(db, STATEMENT_tasks_renew, &p, RUN_AGAIN, out, err);
}

static cardbox_status lease_lost(slice task_id, cardbox_error *err)
{
    error_set(err, CARDBOX_CONFLICT,
              "the lease of task %.*s is lost: the task is finished, released or claimed again",
              (int)task_id.len, task_id.ptr);
    if (err != NULL)
        err->lease_lost = true;
    return CARDBOX_CONFLICT;
}

/* --- writing --- */

static cardbox_status check_write(const task_write *write, const ledger_batch *batch,
                                  cardbox_error *err)
{
    slice task = write->lease.task_id;
    for (size_t i = 0; i < write->message_count; i++)
        if (!slice_equal(write->messages[i].task_id, task))
            return error_set(err, CARDBOX_INVALID, "a message is not of the lease's task");
    for (size_t i = 0; i < write->call_count; i++)
        if (!slice_equal(write->calls[i].task_id, task))
            return error_set(err, CARDBOX_INVALID, "a call is not of the lease's task");
    if (write->ending == CARDBOX_FINISHED && check_text("the completion status", write->status,
                                                        CARDBOX_TASK_STATUS_MAX, err) != CARDBOX_OK)
        return CARDBOX_INVALID;
    if (ledger_check_ms("sleep_until", write->until_ms, err) != CARDBOX_OK)
        return CARDBOX_INVALID;
    return ledger_check(batch, err);
}

static void put_write(params *p, const task_write *write)
{
    params_text(p, write->lease.tenant);
    params_text(p, write->lease.task_id);
    params_int8(p, write->lease.epoch);
    ledger_put_messages(p, write->messages, write->message_count);
    ledger_put_calls(p, write->calls, write->call_count);
    params_int4(p, (int32_t)write->ending);
    if (write->ending == CARDBOX_FINISHED)
        params_text(p, write->status);
    else
        params_null(p);
    params_int8_or_null(p, write->seen >= 0, write->seen);
    params_bool(p, write->awaits);
    params_timestamptz_or_null(p, write->until_ms != 0, write->until_ms * 1000);
}

static cardbox_status read_write_outcome(ledger_outcome *ended, const store_rows *rows,
                                         const task_write *write, const ledger_batch *batch,
                                         cardbox_error *err)
{
    *ended = 0;
    for (int row = 0; row < rows_count(rows); row++)
        if (rows_int4(rows, row, SAVED_COL_KIND) == LEDGER_LEASE)
            *ended = (ledger_outcome)rows_int4(rows, row, SAVED_COL_OUTCOME);
    if (*ended == LEDGER_LEASE_LOST)
        return lease_lost(write->lease.task_id, err);
    return ledger_save_status(rows, batch, err);
}

cardbox_status work_write(ledger_outcome *ended, cardbox *db, const task_write *write,
                          cardbox_error *err)
{
    const ledger_batch batch = {.tenant = write->lease.tenant,
                                .messages = write->messages,
                                .calls = write->calls,
                                .message_count = write->message_count,
                                .call_count = write->call_count};
    store_rows *rows = NULL;
    params p = PARAMS_INIT;
    cardbox_status status = check_write(write, &batch, err);
    if (status != CARDBOX_OK)
        return status;
    put_write(&p, write);
    status = client_run(db, STATEMENT_task_write, &p, RUN_AGAIN, &rows, err);
    if (status == CARDBOX_OK)
        status = read_write_outcome(ended, rows, write, &batch, err);
    rows_free(rows);
    return status;
}

cardbox_status work_chunk(cardbox *db, const task_lease *lease, slice message_id, int64_t n,
                          slice chunk, cardbox_error *err)
{
    store_rows *rows = NULL;
    params p = PARAMS_INIT;
    params_text(&p, lease->tenant);
    params_text(&p, lease->task_id);
    params_int8(&p, lease->epoch);
    params_text(&p, message_id);
    params_int8(&p, n);
    params_text(&p, chunk);
    cardbox_status status = client_run(db, STATEMENT_task_chunk, &p, RUN_AGAIN, &rows, err);
    if (status == CARDBOX_OK && rows_count(rows) == 0)
        status = lease_lost(lease->task_id, err);
    rows_free(rows);
    return status;
}

/* --- the beginning of a turn --- */

static cardbox_status turn_status(int outcome, const cardbox_turn *turn, slice task_id,
                                  cardbox_error *err)
{
    enum { TURN_FILLED = 1, TURN_NO_BOX = 3 };
    if (outcome == TURN_FILLED)
        return CARDBOX_OK;
    if (outcome == LEDGER_LEASE_LOST)
        return lease_lost(task_id, err);
    if (outcome == TURN_NO_BOX)
        return error_set(err, CARDBOX_GONE, "the task's box %s was deleted", turn->box_id);
    if (outcome == LEDGER_NO_CONTEXT_BOX)
        return error_set(err, CARDBOX_NOT_FOUND, "the task's context box %s does not exist",
                         turn->context_box_id);
    return error_set(err, CARDBOX_CONFLICT, "the task's box %s is sealed", turn->box_id);
}

static int64_t version_or_none(const store_rows *rows, int column)
{
    return rows_null(rows, 0, column) ? 0 : rows_int8(rows, 0, column);
}

cardbox_status work_turn(cardbox_turn *out, cardbox *db, const task_lease *lease,
                         cardbox_error *err)
{
    enum { OUTCOME, BOX, VERSION, CONTEXT_BOX, CONTEXT_VERSION, SEEN, IS_ROUTER, HAS_MESSAGE };
    store_rows *rows = NULL;
    params p = PARAMS_INIT;
    uuid16 new_box;
    *out = (cardbox_turn){.version = 0};
    uuid16_v7(&new_box);
    params_text(&p, lease->tenant);
    params_text(&p, lease->task_id);
    params_int8(&p, lease->epoch);
    params_uuid(&p, &new_box);
    cardbox_status status = client_run(db, STATEMENT_task_turn, &p, RUN_AGAIN, &rows, err);
    if (status == CARDBOX_OK && !rows_null(rows, 0, BOX)) {
        uuid16 box = rows_uuid(rows, 0, BOX);
        uuid16_format(out->box_id, &box);
        if (!rows_null(rows, 0, CONTEXT_BOX)) {
            box = rows_uuid(rows, 0, CONTEXT_BOX);
            uuid16_format(out->context_box_id, &box);
        }
        out->version = version_or_none(rows, VERSION);
        out->context_version = version_or_none(rows, CONTEXT_VERSION);
        out->seen = rows_int8(rows, 0, SEEN);
        out->router = rows_bool(rows, 0, IS_ROUTER);
        out->has_message = rows_bool(rows, 0, HAS_MESSAGE);
    }
    if (status == CARDBOX_OK)
        status = turn_status(rows_int4(rows, 0, OUTCOME), out, lease->task_id, err);
    rows_free(rows);
    return status;
}

cardbox_status work_notify(cardbox *db, slice tenant, cardbox_error *err)
{
    params p = PARAMS_INIT;
    tasks_tenants_params(&p, &tenant, 1);
    return client_run(db, STATEMENT_tasks_notify, &p, RUN_AGAIN, NULL, err);
}

void work_wake(cardbox *db, slice tenant)
{
    if (db->kind == CLIENT_POOL)
        (void)work_notify(db, tenant, NULL);
}
