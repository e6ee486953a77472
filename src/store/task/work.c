/*
 * work.c: the worker's statements. Knows nothing of what a worker does between them.
 */
#include "store/task/work.h"

#include "store/client/client.h"

cardbox_status work_claim(store_rows **out, cardbox *db, const task_claim *claim,
                          cardbox_error *err)
{
    params p;
    params_init(&p, REQUEST_MAX);
    tasks_claim_params(&p, claim);
    return client_run(db, STATEMENT_tasks_claim, &p, RUN_ONCE, out, err);
}

cardbox_status work_renew(store_rows **out, cardbox *db, const task_lease *leases, size_t count,
                          int64_t lease_ms, cardbox_error *err)
{
    params p;
    params_init(&p, REQUEST_MAX);
    tasks_renew_params(&p, leases, count, lease_ms);
    return client_run(db, STATEMENT_tasks_renew, &p, RUN_AGAIN, out, err);
}

cardbox_status work_write(ledger_outcome *ended, cardbox *db, const task_write *write,
                          cardbox_error *err)
{
    store_rows *rows = NULL;
    params p;
    cardbox_status status = task_write_check(write, err);
    if (status != CARDBOX_OK)
        return status;
    params_init(&p, REQUEST_MAX);
    task_write_params(&p, write);
    status = client_run(db, STATEMENT_task_write, &p, RUN_AGAIN, &rows, err);
    if (status == CARDBOX_OK)
        status = task_write_status(ended, rows, write, err);
    rows_free(rows);
    return status;
}

cardbox_status work_chunk(cardbox *db, const task_lease *lease, slice message_id, int64_t n,
                          slice chunk, cardbox_error *err)
{
    store_rows *rows = NULL;
    params p;
    params_init(&p, REQUEST_MAX);
    task_chunk_params(&p, lease, message_id, n, chunk);
    cardbox_status status = client_run(db, STATEMENT_task_chunk, &p, RUN_AGAIN, &rows, err);
    if (status == CARDBOX_OK && rows_count(rows) == 0)
        status = task_lease_lost(lease->task_id, err);
    rows_free(rows);
    return status;
}

cardbox_status work_task(store_rows **out, cardbox *db, slice tenant, slice task_id,
                         cardbox_error *err)
{
    params p;
    params_init(&p, REQUEST_MAX);
    task_get_params(&p, tenant, task_id);
    return client_run(db, STATEMENT_task_get, &p, RUN_AGAIN, out, err);
}

cardbox_status work_messages(store_rows **out, cardbox *db, slice tenant, slice task_id,
                             int64_t after, int64_t limit, cardbox_error *err)
{
    params p;
    params_init(&p, REQUEST_MAX);
    messages_read_params(&p, tenant, task_id, after, limit);
    return client_run(db, STATEMENT_messages_read, &p, RUN_AGAIN, out, err);
}

cardbox_status work_calls(store_rows **out, cardbox *db, slice tenant, slice task_id,
                          const call_row *after, int64_t limit, cardbox_error *err)
{
    params p;
    params_init(&p, REQUEST_MAX);
    calls_list_params(&p, tenant, task_id, after, limit);
    return client_run(db, STATEMENT_calls_list, &p, RUN_AGAIN, out, err);
}

cardbox_status work_notify(cardbox *db, const slice *tenants, size_t count, cardbox_error *err)
{
    params p;
    params_init(&p, REQUEST_MAX);
    tasks_tenants_params(&p, tenants, count);
    return client_run(db, STATEMENT_tasks_notify, &p, RUN_AGAIN, NULL, err);
}

void work_wake(cardbox *db, slice tenant)
{
    if (db->kind == CLIENT_POOL)
        (void)work_notify(db, &tenant, 1, NULL);
}
