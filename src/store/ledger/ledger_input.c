/*
 * ledger_input.c: converts the public structs of <cardbox/ledger.h> to the inputs of ledger.h.
 * Sends no statement.
 */
#include "store/ledger/ledger_input.h"

#include "base/errors.h"

slice ledger_token(arena *memory, const char *text, const char *json)
{
    buf token = BUF_INIT(6 * (size_t)CARDBOX_CONTENT_MAX);
    if (json != NULL || text == NULL)
        return slice_of(json);
    buf_json_string(&token, slice_of(text));
    return arena_keep(memory, &token);
}

const char *ledger_token_text(arena *memory, slice token)
{
    buf text = BUF_INIT(4 * (size_t)CARDBOX_CONTENT_MAX), plain = text;
    if (token.ptr == NULL)
        return NULL;
    if (!scan_decode(&text, token)) {
        scan_sanitise(&plain, token);
        scan_decode(&text, buf_as_slice(&plain));
        memory->failed = memory->failed || !buf_ok(&plain);
        buf_free(&plain);
    }
    return arena_keep(memory, &text).ptr;
}

const char *ledger_token_json(arena *memory, slice token)
{
    return token.ptr == NULL ? NULL : arena_copy(memory, token);
}

/* Returns an element of an array of structs. Each struct begins with its size, and all have the
 * size of the first. */
static const void *element_at(const void *first, size_t index)
{
    return (const char *)first + index * *(const size_t *)first;
}

/* Checks that all structs have the same size, of at least `least` bytes. Allocates `count` inputs.
 */
static cardbox_status begin_inputs(void **out, arena *memory, const char *kind, const void *first,
                                   size_t count, size_t least, size_t input_size,
                                   cardbox_error *err)
{
    *out = NULL;
    if (count == 0)
        return CARDBOX_OK;
    if (count > CARDBOX_LEDGER_BATCH_MAX)
        return error_set(err, CARDBOX_TOO_LARGE, "%zu %s in one call, the limit is %d", count, kind,
                         CARDBOX_LEDGER_BATCH_MAX);
    if (first == NULL)
        return error_set(err, CARDBOX_INVALID, "%s must not be NULL", kind);
    size_t size = *(const size_t *)first;
    for (size_t i = 0; i < count; i++)
        if (size < least || *(const size_t *)element_at(first, i) != size)
            return error_set(err, CARDBOX_INVALID, "%s[%zu] was not made by its _INIT macro", kind,
                             i);
    *out = arena_zeros(memory, count, input_size);
    return *out == NULL ? error_nomem(err) : CARDBOX_OK;
}

static cardbox_status finish_inputs(const arena *memory, cardbox_error *err)
{
    return memory->failed ? error_nomem(err) : CARDBOX_OK;
}

cardbox_status ledger_read_tasks(const task_input **out, arena *memory, const cardbox_task *tasks,
                                 size_t count, cardbox_error *err)
{
    void *inputs;
    cardbox_status status = begin_inputs(&inputs, memory, "tasks", tasks, count, sizeof(*tasks),
                                         sizeof(task_input), err);
    if (status != CARDBOX_OK)
        return status;
    task_input *made = inputs;
    for (size_t i = 0; i < count; i++) {
        const cardbox_task *t = element_at(tasks, i);
        made[i] = (task_input){
            .task_id = slice_of(t->task_id),
            .parent_id = slice_of(t->parent_task_id),
            .status = slice_of(t->completion_status),
            .prompt = ledger_token(memory, t->system_prompt, t->system_prompt_json),
            .created_ms = t->created_at,
            .updated_ms = t->updated_at,
            .box_id = slice_of(t->box_id),
            .context_box_id = slice_of(t->context_box_id),
            .router = t->router,
        };
    }
    *out = made;
    return finish_inputs(memory, err);
}

cardbox_status ledger_read_messages(const message_input **out, arena *memory, slice task_id,
                                    const cardbox_message *messages, size_t count,
                                    cardbox_error *err)
{
    void *inputs;
    cardbox_status status = begin_inputs(&inputs, memory, "messages", messages, count,
                                         sizeof(*messages), sizeof(message_input), err);
    if (status != CARDBOX_OK)
        return status;
    message_input *made = inputs;
    for (size_t i = 0; i < count; i++) {
        const cardbox_message *m = element_at(messages, i);
        made[i] = (message_input){
            .message_id = slice_of(m->message_id),
            .task_id = m->task_id == NULL ? task_id : slice_of(m->task_id),
            .role = slice_of(m->role),
            .content = ledger_token(memory, m->content, m->content_json),
            .metadata = slice_of(m->metadata),
            .tool_calls = slice_of(m->tool_calls),
            .has_ts = m->timestamp != 0,
            .ts_ms = m->timestamp,
        };
    }
    *out = made;
    return finish_inputs(memory, err);
}

cardbox_status ledger_read_calls(const call_input **out, arena *memory, slice task_id,
                                 const cardbox_call *calls, size_t count, cardbox_error *err)
{
    void *inputs;
    cardbox_status status = begin_inputs(&inputs, memory, "calls", calls, count, sizeof(*calls),
                                         sizeof(call_input), err);
    if (status != CARDBOX_OK)
        return status;
    call_input *made = inputs;
    for (size_t i = 0; i < count; i++) {
        const cardbox_call *c = element_at(calls, i);
        made[i] = (call_input){
            .call_id = slice_of(c->call_id),
            .task_id = c->task_id == NULL ? task_id : slice_of(c->task_id),
            .ability = slice_of(c->ability_name),
            .status = slice_of(c->status),
            .parameters = ledger_token(memory, c->parameters, c->parameters_json),
            .details = ledger_token(memory, c->details, c->details_json),
            .start_id = slice_of(c->start_message_id),
            .end_id = slice_of(c->end_message_id),
            .has_created = c->created_at != 0,
            .has_updated = c->updated_at != 0,
            .created_ms = c->created_at,
            .updated_ms = c->updated_at,
        };
    }
    *out = made;
    return finish_inputs(memory, err);
}
