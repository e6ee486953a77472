/*
 * import_ledger.c: sends rows of the ledger and reads their outcomes. import.c decides what to do
 * about refused rows.
 */
#include "store/project/import_ledger.h"

#include <stdlib.h>
#include "store/client/call.h"

/* Points a batch at copies of the items' entities. The copies form arrays, the items do not. */
static void fill_batch(ledger_batch *out, void *copies, import_item *const *items, size_t count)
{
    task_input *tasks = copies;
    message_input *messages = copies;
    call_input *calls = copies;
    *out = (ledger_batch){.tenant = items[0]->ledger.tenant};
    for (size_t i = 0; i < count; i++) {
        if (items[0]->kind == TRANSFER_TASK)
            tasks[out->task_count++] = items[i]->ledger.task;
        else if (items[0]->kind == TRANSFER_MESSAGE)
            messages[out->message_count++] = items[i]->ledger.message;
        else
            calls[out->call_count++] = items[i]->ledger.call;
    }
    out->tasks = tasks;
    out->messages = messages;
    out->calls = calls;
}

cardbox_status import_ledger_send(cardbox *db, import_item *const *items, size_t count,
                                  store_rows **rows, cardbox_error *err)
{
    params p;
    ledger_batch batch;
    void *copies = calloc(count, sizeof(ledger_input));
    if (copies == NULL)
        return error_nomem(err);
    fill_batch(&batch, copies, items, count);
    params_init(&p, REQUEST_MAX);
    ledger_save_params(&p, &batch);
    cardbox_status status = client_run(db, STATEMENT_ledger_save, &p, RUN_AGAIN, rows, err);
    free(copies);
    return status;
}

cardbox_status import_ledger_outcomes(import_counts *counts, size_t *bad, const store_rows *rows,
                                      import_item *const *items, size_t count, cardbox_error *why)
{
    for (size_t row = 0; row < (size_t)rows_count(rows) && row < count; row++) {
        ledger_outcome outcome = (ledger_outcome)rows_int4(rows, (int)row, SAVED_COL_OUTCOME);
        ledger_batch one = item_ledger_batch(items[row]);
        if (outcome > LEDGER_UPDATED) {
            *bad = row;
            return ledger_entity_status(&one, rows_int4(rows, (int)row, SAVED_COL_KIND), 1, outcome,
                                        why);
        }
        uint64_t *counters[] = {&counts->inserted, &counts->unchanged, &counts->repaired};
        ++*counters[outcome - LEDGER_INSERTED];
    }
    return CARDBOX_OK;
}
