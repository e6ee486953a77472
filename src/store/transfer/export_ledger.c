/*
 * export_ledger.c: tasks, messages and calls of an export, by the columns of the ledger that
 * CardBox replaces. Who runs a task and when it wakes stays here: only one of two copies may be at
 * work, and that is this one, so what is not finished arrives asleep, for somebody to send it a
 * message.
 */
#include "store/ledger.h"
#include "store/transfer/export_parts.h"

enum { TASK_ID, TASK_PARENT, TASK_STATUS, TASK_PROMPT, TASK_CREATED, TASK_UPDATED };

static cardbox_status give_task(exporter *x, const store_rows *rows, int row)
{
    buf *out = &x->line;
    buf_text(out, "{\"kind\":\"task\"");
    export_text(out, "id", rows_text(rows, row, TASK_ID));
    export_text(out, "parent_task_id", rows_text(rows, row, TASK_PARENT));
    export_text(out, "completion_status", rows_text(rows, row, TASK_STATUS));
    export_token(out, "system_prompt", rows_text(rows, row, TASK_PROMPT));
    export_int(out, "created_at", rows_int8(rows, row, TASK_CREATED));
    export_int(out, "updated_at", rows_int8(rows, row, TASK_UPDATED));
    return export_line(x, TRANSFER_TASK);
}

enum { MESSAGE_ID, MESSAGE_TASK, MESSAGE_ROLE, MESSAGE_TS, MESSAGE_SEQ, MESSAGE_CONTENT };

static cardbox_status give_message(exporter *x, const store_rows *rows, int row)
{
    buf *out = &x->line;
    buf_text(out, "{\"kind\":\"message\"");
    export_text(out, "id", rows_text(rows, row, MESSAGE_ID));
    export_text(out, "task_id", rows_text(rows, row, MESSAGE_TASK));
    export_text(out, "role", rows_text(rows, row, MESSAGE_ROLE));
    export_token(out, "content", ledger_text(rows_text(rows, row, MESSAGE_CONTENT)));
    export_int(out, "timestamp", rows_int8(rows, row, MESSAGE_TS));
    return export_line(x, TRANSFER_MESSAGE);
}

enum {
    CALL_ID,
    CALL_TASK,
    CALL_ABILITY,
    CALL_PARAMETERS,
    CALL_STATUS,
    CALL_DETAILS,
    CALL_CREATED,
    CALL_UPDATED,
    CALL_START,
    CALL_END,
    CALL_SEQ
};

static cardbox_status give_call(exporter *x, const store_rows *rows, int row)
{
    buf *out = &x->line;
    buf_text(out, "{\"kind\":\"call\"");
    export_text(out, "id", rows_text(rows, row, CALL_ID));
    export_text(out, "task_id", rows_text(rows, row, CALL_TASK));
    export_text(out, "ability_name", rows_text(rows, row, CALL_ABILITY));
    export_token(out, "parameters", rows_text(rows, row, CALL_PARAMETERS));
    export_text(out, "status", rows_text(rows, row, CALL_STATUS));
    export_token(out, "details", rows_text(rows, row, CALL_DETAILS));
    export_int(out, "created_at", rows_int8(rows, row, CALL_CREATED));
    export_int(out, "updated_at", rows_int8(rows, row, CALL_UPDATED));
    export_text(out, "start_message_id", rows_text(rows, row, CALL_START));
    export_text(out, "end_message_id", rows_text(rows, row, CALL_END));
    return export_line(x, TRANSFER_CALL);
}

cardbox_status export_ledger(exporter *x)
{
    static const export_source SOURCES[] = {
        {STATEMENT_tasks_export, {{PARAMS_TEXT, TASK_ID}}, 1, give_task},
        {STATEMENT_messages_export,
         {{PARAMS_TEXT, MESSAGE_TASK}, {PARAMS_INT8, MESSAGE_SEQ}},
         2,
         give_message},
        {STATEMENT_calls_export,
         {{PARAMS_TEXT, CALL_TASK}, {PARAMS_INT8, CALL_CREATED}, {PARAMS_INT8, CALL_SEQ}},
         3,
         give_call},
    };
    cardbox_status status = CARDBOX_OK;
    for (size_t i = 0; status == CARDBOX_OK && i < sizeof(SOURCES) / sizeof(SOURCES[0]); i++)
        if (!x->stopped)
            status = export_rows(x, &SOURCES[i]);
    return status;
}
