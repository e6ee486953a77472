/*
 * ledger.c: the abilities of ldg:*, which save tasks, calls and messages one at a time and query
 * them. Contents, parameters and details are sent to PostgreSQL as the JSON strings of the input.
 */
#include "bus/abilities.h"
#include "base/errors.h"
#include "store/ledger/ledger.h"

enum { QUERY_DEFAULT = 100, QUERY_MOST = 1000 };

#define MS_MAX INT64_C(253402300799999) /* the end of the year 9999 */

/* The task, message or call to save, as a batch of one. */
typedef struct saved_entity {
    ledger_batch batch;
    task_input task;
    message_input message;
    call_input call;
} saved_entity;

/* Returns a reader for the members of the object `name` in the input. */
static input_reader enter_member(const input_reader *in, const char *name)
{
    input_reader entity = *in;
    entity.object = input_value(in, name);
    return entity;
}

static void finish_save(input_reader *in, const input_reader *entity, saved_entity *saved)
{
    saved->batch.tenant = in->call->tenant;
    in->status =
        entity->status == CARDBOX_OK ? ledger_check(&saved->batch, in->err) : entity->status;
    in->call->wakes = ledger_may_wake(&saved->batch);
}

/* Builds the statement of the three abilities that save. */
BUS_BUILDS(ldg_save)
{
    const saved_entity *saved = call->plan;
    ledger_save_params(p, &saved->batch);
}

BUS_RENDERS(ldg_save)
{
    const saved_entity *saved = call->plan;
    cardbox_status status = ledger_save_status(rows, &saved->batch, err);
    if (status == CARDBOX_OK)
        buf_text(out, "{\"success\":true}");
    return status;
}

/* --- tasks --- */

BUS_READS(ldg_task_save)
{
    saved_entity *saved = in->call->plan;
    task_input *task = &saved->task;
    input_reader of = enter_member(in, "task");
    task->task_id = input_text(&of, "id");
    task->parent_id = input_text(&of, "parentTaskId");
    task->status = input_text(&of, "completionStatus");
    task->prompt = input_json(&of, "systemPrompt");
    task->created_ms = input_integer(&of, "createdAt", 0);
    task->updated_ms = input_integer(&of, "updatedAt", 0);
    task->box_id = input_text(&of, "boxId");
    task->context_box_id = input_text(&of, "contextBoxId");
    task->router = input_flag(&of, "router");
    saved->batch.tasks = task;
    saved->batch.task_count = 1;
    finish_save(in, &of, saved);
}

BUS_READS(ldg_task_get)
{
    slice *id = in->call->plan;
    *id = input_id(in, "taskId", CARDBOX_CARD_ID_MAX);
}

BUS_BUILDS(ldg_task_get)
{
    const slice *id = call->plan;
    task_get_params(p, call->tenant, *id);
}

BUS_RENDERS(ldg_task_get)
{
    task_row task;
    buf_text(out, "{\"task\":");
    if (rows_count(rows) > 0 && task_row_read(&task, rows, 0))
        task_json(out, &task);
    else
        buf_text(out, "null");
    buf_char(out, '}');
    return CARDBOX_OK;
}

BUS_READS(ldg_task_query)
{
    task_query *query = in->call->plan;
    query->tenant = in->call->tenant;
    slice status = input_text(in, "completionStatus");
    if (scan_find(in->object, "completionStatus").kind == SCAN_NULL)
        in->status = error_set(in->err, CARDBOX_INVALID,
                               "/completionStatus: send the text \"null\" for tasks in progress");
    query->active = slice_equal(status, SLICE("null"));
    if (!query->active)
        query->status = status;
    query->parent_id = input_id(in, "parentTaskId", CARDBOX_CARD_ID_MAX);
    query->has_from = input_value(in, "fromTime").kind != SCAN_NONE;
    query->has_to = input_value(in, "toTime").kind != SCAN_NONE;
    query->from_ms = input_within(in, "fromTime", 0, 0, MS_MAX);
    query->to_ms = input_within(in, "toTime", 0, 0, MS_MAX);
    query->goals = input_flag(in, "goals");
    query->state = input_text(in, "state");
    query->limit = input_within(in, "limit", QUERY_DEFAULT, 1, QUERY_MOST);
    query->offset = input_within(in, "offset", 0, 0, INT64_MAX);
}

BUS_BUILDS_FROM_PLAN(ldg_task_query, tasks_query_params)

BUS_RENDERS(ldg_task_query)
{
    task_row task;
    buf_text(out, "{\"tasks\":[");
    for (int row = 0; row < rows_count(rows); row++) {
        if (!task_row_read(&task, rows, row))
            continue;
        buf_comma(out);
        task_json(out, &task);
    }
    buf_text(out, "],\"total\":");
    buf_int(out, tasks_query_total(rows));
    buf_char(out, '}');
    return CARDBOX_OK;
}

/* --- calls --- */

/* Checks that the decoded text of a member is JSON. The store does not check this, because workers
 * save texts of models, which may not be JSON. */
static void check_json(input_reader *in, const char *name)
{
    slice text = input_text(in, name);
    scan_error fault;
    if (text.ptr != NULL && !scan_check(text, CARDBOX_JSON_DEPTH_MAX, NULL, NULL, &fault))
        in->status = error_set(in->err, CARDBOX_INVALID,
                               "/call/%s: is a text that is not JSON at byte %zu: %s", name,
                               fault.position, fault.message);
}

BUS_READS(ldg_call_save)
{
    saved_entity *saved = in->call->plan;
    call_input *call = &saved->call;
    input_reader of = enter_member(in, "call");
    call->call_id = input_text(&of, "id");
    call->task_id = input_text(&of, "taskId");
    call->ability = input_text(&of, "abilityName");
    call->status = input_text(&of, "status");
    call->parameters = input_json(&of, "parameters");
    call->details = input_json(&of, "details");
    call->start_id = input_text(&of, "startMessageId");
    call->end_id = input_text(&of, "endMessageId");
    check_json(&of, "parameters");
    check_json(&of, "details");
    call->has_created = call->has_updated = true;
    call->created_ms = input_integer(&of, "createdAt", 0);
    call->updated_ms = input_integer(&of, "updatedAt", 0);
    saved->batch.calls = call;
    saved->batch.call_count = 1;
    finish_save(in, &of, saved);
}

BUS_BUILDS(ldg_call_list)
{
    const slice *id = call->plan;
    calls_list_params(p, call->tenant, *id, NULL, INT64_MAX);
}

BUS_RENDERS(ldg_call_list)
{
    buf_text(out, "{\"calls\":[");
    for (int row = 0; row < rows_count(rows); row++) {
        call_row listed;
        call_row_read(&listed, rows, row);
        buf_text(out, row == 0 ? "" : ",");
        call_json(out, &listed);
    }
    buf_text(out, "]}");
    return CARDBOX_OK;
}

/* --- messages --- */

BUS_READS(ldg_msg_save)
{
    saved_entity *saved = in->call->plan;
    message_input *message = &saved->message;
    input_reader of = enter_member(in, "message");
    message->message_id = input_text(&of, "id");
    message->task_id = input_text(&of, "taskId");
    message->role = input_text(&of, "role");
    message->content = input_json(&of, "content");
    message->has_ts = true;
    message->ts_ms = input_integer(&of, "timestamp", 0);
    saved->batch.messages = message;
    saved->batch.message_count = 1;
    finish_save(in, &of, saved);
}

BUS_RENDERS(ldg_msg_save)
{
    const saved_entity *saved = call->plan;
    cardbox_status status = ledger_save_status(rows, &saved->batch, err);
    if (status != CARDBOX_OK)
        return status;
    buf_text(out, "{\"success\":true,\"messageId\":");
    buf_json_string(out, saved->message.message_id);
    buf_char(out, '}');
    return CARDBOX_OK;
}

typedef struct message_page {
    slice task_id;
    int64_t limit, offset;
} message_page;

BUS_READS(ldg_msg_list)
{
    message_page *page = in->call->plan;
    page->task_id = input_id(in, "taskId", CARDBOX_CARD_ID_MAX);
    page->limit = input_within(in, "limit", INT32_MAX, 1, INT32_MAX);
    page->offset = input_within(in, "offset", 0, 0, INT64_MAX);
}

BUS_BUILDS(ldg_msg_list)
{
    const message_page *page = call->plan;
    messages_list_params(p, call->tenant, page->task_id, page->limit, page->offset);
}

BUS_RENDERS(ldg_msg_list)
{
    message_row message;
    buf_text(out, "{\"messages\":[");
    for (int row = 0; row < rows_count(rows); row++) {
        if (!message_row_read(&message, rows, row))
            continue;
        buf_comma(out);
        message_json(out, &message, (slice){0});
    }
    buf_text(out, "],\"total\":");
    buf_int(out, messages_list_total(rows));
    buf_char(out, '}');
    return CARDBOX_OK;
}

static const bus_ability TABLE[] = {
    BUS_ABILITY_WITH(ldg_task_save, WRITE, BUS_AGAIN, saved_entity, ledger_save, ldg_task_save,
                     ldg_save, ldg_save, NULL),
    BUS_ABILITY(ldg_task_get, READ, BUS_AGAIN, slice, task_get),
    BUS_ABILITY(ldg_task_query, READ, BUS_AGAIN, task_query, tasks_query),
    BUS_ABILITY_WITH(ldg_call_save, WRITE, BUS_AGAIN, saved_entity, ledger_save, ldg_call_save,
                     ldg_save, ldg_save, NULL),
    BUS_ABILITY_WITH(ldg_call_list, READ, BUS_AGAIN, slice, calls_list, ldg_task_get, ldg_call_list,
                     ldg_call_list, NULL),
    BUS_ABILITY_WITH(ldg_msg_save, WRITE, BUS_AGAIN, saved_entity, ledger_save, ldg_msg_save,
                     ldg_save, ldg_msg_save, NULL),
    BUS_ABILITY(ldg_msg_list, READ, BUS_AGAIN, message_page, messages_list),
};

const bus_table BUS_OF_LEDGER = BUS_TABLE(TABLE);
