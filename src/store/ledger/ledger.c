/*
 * ledger.c: checks tasks, messages and calls before they are saved, builds the parameters of the
 * statements that save them, and maps outcomes to statuses. Uses no connection.
 */
#include "store/ledger/ledger.h"

#include <inttypes.h>
#include "cardbox/card.h"
#include "model/session/usage.h"
#include "store/client/check.h"
#include "base/errors.h"

/* the end of the year 9999: RFC 3339 has four digits for the year */
#define TIME_MS_MAX INT64_C(253402300799999)

/* --- checks --- */

cardbox_status ledger_check_ms(const char *what, int64_t ms, cardbox_error *err)
{
    if (ms >= 0 && ms <= TIME_MS_MAX)
        return CARDBOX_OK;
    return error_set(err, CARDBOX_INVALID,
                     "%s must be milliseconds since 1970, up to the year 9999, not %" PRId64, what,
                     ms);
}

static cardbox_status check_word(const char *what, slice text, const char *const *words,
                                 const char *listed, cardbox_error *err)
{
    for (; *words != NULL; words++)
        if (slice_equal(text, slice_of(*words)))
            return CARDBOX_OK;
    return error_set(err, CARDBOX_INVALID, "%s must be %s, not \"%.*s\"", what, listed,
                     error_shown(text), text.ptr == NULL ? "" : text.ptr);
}

static cardbox_status check_optional_id(const char *what, slice text, size_t max,
                                        cardbox_error *err)
{
    return text.ptr == NULL ? CARDBOX_OK : check_id_slice(what, text, max, err);
}

cardbox_status ledger_check_text(const char *what, slice token, cardbox_error *err)
{
    scan_value value;
    if (token.ptr == NULL)
        return error_set(err, CARDBOX_INVALID, "%s is missing", what);
    cardbox_status status = check_json(what, token, SCAN_NONE, &value, NULL, err);
    if (status == CARDBOX_OK && value.kind != SCAN_STRING)
        status = error_set(err, CARDBOX_INVALID, "%s must be a string, not %s", what,
                           scan_kind_name(value.kind));
    return status;
}

static cardbox_status check_box_id(const char *what, slice id, cardbox_error *err)
{
    uuid16 parsed;
    if (id.ptr == NULL || uuid16_parse(&parsed, id))
        return CARDBOX_OK;
    return error_set(err, CARDBOX_INVALID, "%s must be a UUID, not \"%.*s\"", what, error_shown(id),
                     id.ptr);
}

cardbox_status ledger_check_boxes(slice box_id, slice context_box_id, cardbox_error *err)
{
    uuid16 box, context;
    cardbox_status status = check_box_id("boxId", box_id, err);
    if (status == CARDBOX_OK)
        status = check_box_id("contextBoxId", context_box_id, err);
    if (status == CARDBOX_OK && uuid16_parse(&box, box_id) &&
        uuid16_parse(&context, context_box_id) && memcmp(&box, &context, sizeof(box)) == 0)
        status = error_set(err, CARDBOX_INVALID, "contextBoxId names the same box as boxId");
    return status;
}

cardbox_status ledger_check_status(slice text, cardbox_error *err)
{
    if (slice_equal(text, SLICE("null")))
        return error_set(
            err, CARDBOX_INVALID,
            "completionStatus is the text \"null\", which a query takes for active: leave "
            "it out, or say how the task ended");
    return check_text("completionStatus", text, CARDBOX_TASK_STATUS_MAX, err);
}

static cardbox_status check_task(const task_input *t, cardbox_error *err)
{
    cardbox_status status = check_id_slice("id", t->task_id, CARDBOX_CARD_ID_MAX, err);
    if (status == CARDBOX_OK)
        status = check_optional_id("parentTaskId", t->parent_id, CARDBOX_CARD_ID_MAX, err);
    if (status == CARDBOX_OK && t->parent_id.ptr != NULL && slice_equal(t->parent_id, t->task_id))
        status = error_set(err, CARDBOX_INVALID, "parentTaskId names the task itself");
    if (status == CARDBOX_OK && t->status.ptr != NULL)
        status = ledger_check_status(t->status, err);
    if (status == CARDBOX_OK)
        status = ledger_check_text("systemPrompt", t->prompt, err);
    if (status == CARDBOX_OK)
        status = ledger_check_boxes(t->box_id, t->context_box_id, err);
    if (status == CARDBOX_OK)
        status = ledger_check_ms("createdAt", t->created_ms, err);
    return status == CARDBOX_OK ? ledger_check_ms("updatedAt", t->updated_ms, err) : status;
}

static cardbox_status check_message(const message_input *m, cardbox_error *err)
{
    static const char *const ROLES[] = {"system", "user", "assistant", NULL};
    cardbox_status status = check_id_slice("id", m->message_id, CARDBOX_CARD_ID_MAX, err);
    if (status == CARDBOX_OK)
        status = check_id_slice("taskId", m->task_id, CARDBOX_CARD_ID_MAX, err);
    if (status == CARDBOX_OK)
        status = check_word("role", m->role, ROLES, "system, user or assistant", err);
    if (status == CARDBOX_OK)
        status = ledger_check_text("content", m->content, err);
    if (status == CARDBOX_OK && m->metadata.ptr != NULL)
        status = check_jsonb("metadata", m->metadata, SCAN_OBJECT, NULL, err);
    if (status == CARDBOX_OK && m->tool_calls.ptr != NULL)
        status = check_jsonb("toolCalls", m->tool_calls, SCAN_ARRAY, NULL, err);
    return status == CARDBOX_OK && m->has_ts ? ledger_check_ms("timestamp", m->ts_ms, err) : status;
}

static cardbox_status check_call_times(const call_input *c, cardbox_error *err)
{
    cardbox_status status = CARDBOX_OK;
    if (c->has_created)
        status = ledger_check_ms("createdAt", c->created_ms, err);
    if (status == CARDBOX_OK && c->has_updated)
        status = ledger_check_ms("updatedAt", c->updated_ms, err);
    return status;
}

static cardbox_status check_call(const call_input *c, cardbox_error *err)
{
    static const char *const STATES[] = {"pending", "in_progress", "completed", "failed", NULL};
    cardbox_status status = check_id_slice("id", c->call_id, CARDBOX_CARD_ID_MAX, err);
    if (status == CARDBOX_OK)
        status = check_id_slice("taskId", c->task_id, CARDBOX_CARD_ID_MAX, err);
    if (status == CARDBOX_OK)
        status = check_id_slice("abilityName", c->ability, CARDBOX_KEY_MAX, err);
    if (status == CARDBOX_OK)
        status = ledger_check_text("parameters", c->parameters, err);
    if (status == CARDBOX_OK)
        status = check_word("status", c->status, STATES,
                            "pending, in_progress, completed or failed", err);
    if (status == CARDBOX_OK && c->details.ptr != NULL)
        status = ledger_check_text("details", c->details, err);
    if (status == CARDBOX_OK)
        status = check_id_slice("startMessageId", c->start_id, CARDBOX_CARD_ID_MAX, err);
    if (status == CARDBOX_OK)
        status = check_optional_id("endMessageId", c->end_id, CARDBOX_CARD_ID_MAX, err);
    return status == CARDBOX_OK ? check_call_times(c, err) : status;
}

static cardbox_status blame(const char *kind, slice id, const cardbox_error *own,
                            cardbox_error *err)
{
    cardbox_status status = own->status;
    if (id.ptr == NULL || !slice_is_id(id, CARDBOX_CARD_ID_MAX))
        error_set(err, status, "%s: %s", kind, own->message);
    else
        error_set(err, status, "%s %.*s: %s", kind, error_shown(id), id.ptr, own->message);
    if (err != NULL)
        err->position = own->position;
    return status;
}

cardbox_status ledger_check(const ledger_batch *batch, cardbox_error *err)
{
    cardbox_error own = CARDBOX_ERROR_INIT;
    size_t count = batch->task_count + batch->message_count + batch->call_count;
    if (count > CARDBOX_LEDGER_BATCH_MAX)
        return error_set(err, CARDBOX_TOO_LARGE,
                         "%zu tasks, messages and calls in one batch, the limit is %d", count,
                         CARDBOX_LEDGER_BATCH_MAX);
    for (size_t i = 0; i < batch->task_count; i++)
        if (check_task(&batch->tasks[i], &own) != CARDBOX_OK)
            return blame("task", batch->tasks[i].task_id, &own, err);
    for (size_t i = 0; i < batch->message_count; i++)
        if (check_message(&batch->messages[i], &own) != CARDBOX_OK)
            return blame("message", batch->messages[i].message_id, &own, err);
    for (size_t i = 0; i < batch->call_count; i++)
        if (check_call(&batch->calls[i], &own) != CARDBOX_OK)
            return blame("call", batch->calls[i].call_id, &own, err);
    return CARDBOX_OK;
}

bool ledger_may_wake(const ledger_batch *batch)
{
    for (size_t i = 0; i < batch->task_count; i++)
        if (batch->tasks[i].parent_id.ptr != NULL && batch->tasks[i].status.ptr != NULL)
            return true;
    return false;
}

/* --- parameters --- */

/* Adds a member to one of the objects that are sent as a jsonb array. Ids and enumerated words need
 * no check: they contain nothing that jsonb can't hold. */
static void put_member(buf *json, const char *name, slice text)
{
    if (text.ptr == NULL)
        return;
    buf_printf(json, ",\"%s\":", name);
    buf_json_string(json, text);
}

static void put_ms(buf *json, const char *name, bool has, int64_t ms)
{
    if (has)
        buf_printf(json, ",\"%s\":%" PRId64, name, ms);
}

static void begin_object(buf *json, size_t index, slice id)
{
    buf_text(json, index == 0 ? "[{\"id\":" : ",{\"id\":");
    buf_json_string(json, id);
}

static void finish_objects(params *p, buf *json, size_t count)
{
    buf_text(json, count == 0 ? "[]" : "]");
    params_jsonb(p, buf_as_slice(json));
    params_made_of(p, json);
    buf_free(json);
}

static void put_tasks(params *p, const task_input *tasks, size_t count)
{
    buf json = BUF_INIT(p->bytes.max);
    for (size_t i = 0; i < count; i++) {
        begin_object(&json, i, tasks[i].task_id);
        put_member(&json, "parent", tasks[i].parent_id);
        put_member(&json, "status", tasks[i].status);
        put_member(&json, "box", tasks[i].box_id);
        put_member(&json, "context", tasks[i].context_box_id);
        if (tasks[i].router)
            buf_text(&json, ",\"router\":true");
        put_ms(&json, "created", true, tasks[i].created_ms);
        put_ms(&json, "updated", true, tasks[i].updated_ms);
        buf_char(&json, '}');
    }
    finish_objects(p, &json, count);
    params_column(p, PARAMS_JSON, tasks, count, PARAMS_FIELD(task_input, prompt));
}

static const char *type_of_role(slice role)
{
    if (slice_equal(role, SLICE("user")))
        return CARDBOX_TYPE_INSTRUCTION;
    return slice_equal(role, SLICE("system")) ? CARDBOX_TYPE_RENDERED_PROMPT : CARDBOX_TYPE_THOUGHT;
}

/* jsonb keeps the last of several members with the same name. So a `type` in the caller's metadata
 * replaces the type of the role, but a `role` or `task_id` in the caller's metadata has no effect.
 */
static void put_metadata(buf *json, const message_input *m)
{
    scan_value given = scan_whole(m->metadata), value;
    slice key;
    buf_printf(json, "{\"type\":\"%s\"", type_of_role(m->role));
    if (given.kind == SCAN_OBJECT)
        for (scan_walk walk = scan_enter(given); scan_member(&walk, &key, &value);) {
            buf_char(json, ',');
            buf_slice(json, key);
            buf_char(json, ':');
            buf_slice(json, value.text);
        }
    put_member(json, "role", m->role);
    put_member(json, "task_id", m->task_id);
    buf_char(json, '}');
}

/* A MessageContent has the text too, so that readers of texts need not know APIs. */
static void put_content(buf *json, const message_input *m)
{
    bool is_text = m->api_message.ptr == NULL;
    buf_printf(json, "{\"__type__\":\"%s\"", is_text ? "TextContent" : "MessageContent");
    if (!is_text) {
        buf_member(json, "format", SLICE("\"openai\""));
        buf_member(json, "message", m->api_message);
    }
    buf_member(json, "text", m->content);
    buf_char(json, '}');
}

void ledger_message_card(buf *content, buf *metadata, const message_input *m)
{
    put_content(content, m);
    put_metadata(metadata, m);
}

static void put_cards(params *p, const message_input *messages, size_t count)
{
    buf content = BUF_INIT(2 * (size_t)CARDBOX_CONTENT_MAX);
    params_array(p, PARAMS_JSON);
    for (size_t i = 0; i < count; i++) {
        put_content(&content, &messages[i]);
        params_text(p, buf_as_slice(&content));
        params_made_of(p, &content);
        buf_reset(&content, SIZE_MAX);
    }
    params_array_end(p);
    buf_free(&content);
}

/* Adds what the metadata of an answer say about its usage. */
static void put_usage(buf *json, const message_input *m)
{
    static const char *const NAMES[] = {"usage", "model"};
    scan_value found[2];
    arena memory = ARENA_INIT;
    entry_usage used = {.model = {"", 0}};

    if (m->metadata.ptr == NULL || !slice_equal(m->role, SLICE("assistant")))
        return;
    session_pick(scan_whole(m->metadata), NAMES, found, 2);
    usage_read(&used.of, found[0]);
    if (!used.of.is_given)
        return;
    used.model = usage_model(found[1], &memory);
    buf_member(json, "usage", SLICE("{"));
    usage_put(json, &used);
    buf_char(json, '}');
    arena_reset(&memory);
}

void ledger_put_messages(params *p, const message_input *messages, size_t count)
{
    buf json = BUF_INIT(p->bytes.max);
    for (size_t i = 0; i < count; i++) {
        const message_input *m = &messages[i];
        begin_object(&json, i, m->message_id);
        put_member(&json, "task", m->task_id);
        put_member(&json, "role", m->role);
        put_ms(&json, "ts", m->has_ts, m->ts_ms);
        buf_text(&json, ",\"metadata\":");
        put_metadata(&json, m);
        if (m->tool_calls.ptr != NULL) {
            buf_text(&json, ",\"tool_calls\":");
            buf_slice(&json, m->tool_calls);
        }
        put_usage(&json, m);
        buf_char(&json, '}');
    }
    finish_objects(p, &json, count);
    put_cards(p, messages, count);
}

void ledger_put_calls(params *p, const call_input *calls, size_t count)
{
    buf json = BUF_INIT(p->bytes.max);
    for (size_t i = 0; i < count; i++) {
        const call_input *c = &calls[i];
        begin_object(&json, i, c->call_id);
        put_member(&json, "task", c->task_id);
        put_member(&json, "ability", c->ability);
        put_member(&json, "status", c->status);
        put_member(&json, "start", c->start_id);
        put_member(&json, "end", c->end_id);
        put_ms(&json, "created", c->has_created, c->created_ms);
        put_ms(&json, "updated", c->has_updated, c->updated_ms);
        buf_char(&json, '}');
    }
    finish_objects(p, &json, count);
    params_column(p, PARAMS_JSON, calls, count, PARAMS_FIELD(call_input, parameters));
    params_column(p, PARAMS_JSON, calls, count, PARAMS_FIELD(call_input, details));
}

void ledger_save_params(params *p, const ledger_batch *batch)
{
    params_text(p, batch->tenant);
    put_tasks(p, batch->tasks, batch->task_count);
    ledger_put_messages(p, batch->messages, batch->message_count);
    ledger_put_calls(p, batch->calls, batch->call_count);
}

/* --- outcomes --- */

static const struct {
    int kind;
    ledger_outcome outcome;
    cardbox_status status;
    const char *message; /* rest of the message, which begins with the kind and id of the entity,
                            such as "task X " */
} FAILURES[] = {
    {LEDGER_TASK, LEDGER_DIFFERS, CARDBOX_CONFLICT,
     "exists: only its completionStatus and updatedAt can change"},
    {LEDGER_TASK, LEDGER_NO_TASK, CARDBOX_NOT_FOUND, "names a parent that does not exist"},
    {LEDGER_TASK, LEDGER_STALE, CARDBOX_CONFLICT,
     "is already completed: only a save with a later updatedAt can change that, and a cancelled "
     "task can only be reopened"},
    {LEDGER_MESSAGE, LEDGER_DIFFERS, CARDBOX_CONFLICT,
     "exists with other content: messages never change"},
    {LEDGER_MESSAGE, LEDGER_NO_TASK, CARDBOX_NOT_FOUND, "names a task that does not exist"},
    {LEDGER_CALL, LEDGER_DIFFERS, CARDBOX_CONFLICT,
     "exists: only its status, details, updatedAt and endMessageId can change"},
    {LEDGER_CALL, LEDGER_NO_TASK, CARDBOX_NOT_FOUND, "names a task that does not exist"},
    {LEDGER_CALL, LEDGER_NO_MESSAGE, CARDBOX_NOT_FOUND,
     "names a start or end message that its task does not have"},
    {LEDGER_CALL, LEDGER_FINISHED, CARDBOX_CONFLICT,
     "belongs to a task that is already completed: there a call can only be completed or failed"},
    {LEDGER_CALL, LEDGER_STALE, CARDBOX_CONFLICT,
     "has a later or another final status: the order is pending, in_progress, completed or failed"},
};

static slice entity_id(const ledger_batch *batch, int kind, size_t index)
{
    if (kind == LEDGER_TASK && index < batch->task_count)
        return batch->tasks[index].task_id;
    if (kind == LEDGER_MESSAGE && index < batch->message_count)
        return batch->messages[index].message_id;
    if (kind == LEDGER_CALL && index < batch->call_count)
        return batch->calls[index].call_id;
    return SLICE("?");
}

cardbox_status ledger_entity_status(const ledger_batch *batch, int kind, int ord,
                                    ledger_outcome outcome, cardbox_error *err)
{
    static const char *const KINDS[] = {"lease", "task", "message", "call"};
    slice id = entity_id(batch, kind, (size_t)ord - 1);
    for (size_t i = 0; i < sizeof(FAILURES) / sizeof(FAILURES[0]); i++)
        if (FAILURES[i].kind == kind && FAILURES[i].outcome == outcome)
            return error_set(err, FAILURES[i].status, "%s %.*s %s", KINDS[kind], (int)id.len,
                             id.ptr, FAILURES[i].message);
    return error_set(err, CARDBOX_INTERNAL, "the database returned the outcome %d", (int)outcome);
}

cardbox_status ledger_save_status(const store_rows *rows, const ledger_batch *batch,
                                  cardbox_error *err)
{
    for (int row = 0; row < rows_count(rows); row++) {
        int kind = rows_int4(rows, row, SAVED_COL_KIND);
        ledger_outcome outcome = (ledger_outcome)rows_int4(rows, row, SAVED_COL_OUTCOME);
        if (kind >= LEDGER_TASK && kind <= LEDGER_CALL && outcome > LEDGER_UPDATED)
            return ledger_entity_status(batch, kind, rows_int4(rows, row, SAVED_COL_ORD), outcome,
                                        err);
    }
    return CARDBOX_OK;
}
