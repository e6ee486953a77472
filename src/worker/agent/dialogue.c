/*
 * dialogue.c: builds the messages for the model from the rows of a task. Functions of
 * model/session/context.h repair and write these messages.
 */
#include "worker/agent/dialogue.h"
#include "model/content/class.h"
#include "model/session/context.h"
#include "worker/tools/tools.h"

enum { DEPTH_MAX = 128, DETAILS_MAX = 64 * 1024 * 1024 };

/* State of dialogue_build. */
typedef struct builder {
    const dialogue_input *in;
    context ctx;
    arena memory;
    string_map by_message; /* maps ids of start and end messages to the indexes of their calls */
    string_map by_call;    /* maps ids of calls to indexes in in->calls */
    bool *is_added;        /* one element for each call: true after add_result() */
    bool has_system;
    bool needs_answer;
} builder;

static bool index_calls(builder *b)
{
    const dialogue_input *in = b->in;

    b->is_added = arena_zeros(&b->memory, in->call_count + 1, sizeof(bool));
    if (b->is_added == NULL || !string_map_init(&b->ctx.open_calls, in->call_count, &b->memory) ||
        !string_map_init(&b->by_message, 2 * in->call_count, &b->memory) ||
        !string_map_init(&b->by_call, in->call_count, &b->memory))
        return false;
    for (uint32_t i = 0; i < in->call_count; i++) {
        const call_row *call = &in->calls[i];
        string_map_set(&b->by_call, call->call_id, i);
        string_map_set(&b->by_message, call->start_id, i);
        if (call->end_id.len > 0)
            string_map_set(&b->by_message, call->end_id, i);
    }
    return !b->memory.failed;
}

/* --- calls --- */

/* Returns the details of a call as a value for the model. The worker stores details as a JSON
 * string whose text is JSON. If the text of such a string is JSON, this JSON is returned, otherwise
 * the string. */
static scan_value details_of(builder *b, slice details)
{
    buf text = BUF_INIT(DETAILS_MAX);
    scan_value value = scan_whole(details), inner;

    if (value.kind == SCAN_STRING && scan_decode(&text, details)) {
        const char *copy = arena_copy(&b->memory, buf_as_slice(&text));
        if (copy != NULL && scan_check((slice){copy, text.len}, DEPTH_MAX, &inner, NULL, NULL))
            value = inner;
    }
    buf_free(&text);
    return value;
}

/* Adds the result of a call that has ended. If the call has not ended, context_pair() later adds a
 * synthetic result. */
static void add_result(builder *b, size_t index, scan_value id, scan_value name)
{
    const call_row *call = &b->in->calls[index];
    bool has_failed = slice_equal(call->status, SLICE("failed"));

    b->is_added[index] = true;
    if (!has_failed && !slice_equal(call->status, SLICE("completed")))
        return;
    context_message *result =
        context_add(&b->ctx, CONTEXT_RESULT, CONTEXT_OF_CARD, call->call_id, call->details);
    if (result == NULL)
        return;
    result->is_error = has_failed;
    context_set_call(&b->ctx, result, id, name);
    context_add_value(&b->ctx, result, details_of(b, call->details));
}

/* Adds the calls in `list`, which is the tool_calls of an assistant's message, and then the results
 * of these calls. Returns false if the list contains no calls of functions. */
static bool add_listed_calls(builder *b, context_message *message, scan_value list)
{
    bool is_any = false;
    scan_value call;

    if (list.kind != SCAN_ARRAY)
        return false;
    scan_walk walk = scan_enter(list);
    while (scan_element(&walk, &call)) {
        scan_value function = scan_find(call, "function");
        if (function.kind != SCAN_OBJECT)
            continue;
        is_any = true;
        context_add_call(&b->ctx, message, scan_find(call, "id"), scan_find(function, "name"),
                         scan_find(function, "arguments"));
    }
    walk = scan_enter(list);
    while (scan_element(&walk, &call)) {
        scan_value function = scan_find(call, "function"), id = scan_find(call, "id");
        uint32_t index = string_map_get(&b->by_call, context_call_of(&b->ctx, id));
        if (function.kind == SCAN_OBJECT && index != STRING_MAP_NONE && !b->is_added[index])
            add_result(b, index, id, scan_find(function, "name"));
    }
    return is_any;
}

/* Adds a call that was in no tool_calls so far, as in an imported ledger. An assistant's message
 * with this call replaces the start or end message of the call. */
static void add_unlisted_call(builder *b, size_t index)
{
    enum { OFFERED_MAX = 1024 };
    const call_row *call = &b->in->calls[index];
    buf api_name = BUF_INIT(OFFERED_MAX);
    scan_value id = context_token(&b->ctx, call->call_id);

    tools_put_api_name(&api_name, call->ability);
    scan_value name = context_token(&b->ctx, buf_as_slice(&api_name));
    buf_free(&api_name);
    context_message *message =
        context_add(&b->ctx, CONTEXT_ASSISTANT, CONTEXT_OF_CARD, call->start_id, call->parameters);
    if (message == NULL)
        return;
    context_add_call(&b->ctx, message, id, name, scan_whole(call->parameters));
    add_result(b, index, id, name);
    b->needs_answer = true;
}

/* --- messages --- */

static context_role role_of(slice role)
{
    if (slice_equal(role, SLICE("assistant")))
        return CONTEXT_ASSISTANT;
    return slice_equal(role, SLICE("system")) ? CONTEXT_SYSTEM : CONTEXT_USER;
}

/* Returns the number "seen" in the metadata of an assistant's message, which agent.c writes for
 * answers of the model; -1: the message has no such number. */
static int64_t seen_by(const message_row *row)
{
    int64_t seen;
    scan_value value = scan_find(scan_whole(row->metadata), "seen");

    if (!slice_equal(row->role, SLICE("assistant")) || value.kind != SCAN_NUMBER ||
        !scan_integer(value.text, &seen))
        return -1;
    return seen;
}

static void add_note(builder *b, context_message *message)
{
    if (b->in->note.len > 0)
        context_add_value(&b->ctx, message, context_token(&b->ctx, b->in->note));
}

/* Blank messages of a user are not sent to the model, so they need no answer. */
static bool is_blank_user_message(const message_row *row)
{
    return slice_equal(row->role, SLICE("user")) &&
           content_trim(scan_string_inside(scan_whole(row->content))).len == 0;
}

/* Updates needs_answer for an assistant's message. The message counts as an answer of the model if
 * it has tool calls or a number "seen". */
static void add_answer(builder *b, context_message *message, const message_row *row)
{
    bool has_calls =
        row->tool_calls.len > 0 && add_listed_calls(b, message, scan_whole(row->tool_calls));

    if (has_calls || seen_by(row) >= 0)
        b->needs_answer = has_calls;
}

static void add_message(builder *b, size_t number)
{
    const message_row *row = &b->in->messages[number];
    uint32_t call = string_map_get(&b->by_message, row->message_id);

    /* A user's message is added even if it is the start or end message of a call. */
    if (call != STRING_MAP_NONE && !slice_equal(row->role, SLICE("user"))) {
        if (!b->is_added[call])
            add_unlisted_call(b, call);
        return;
    }
    if (is_blank_user_message(row))
        return;
    context_message *message =
        context_add(&b->ctx, role_of(row->role), CONTEXT_OF_CARD, row->message_id, row->content);
    if (message == NULL)
        return;
    context_add_value(&b->ctx, message, scan_whole(row->content));
    if (message->role == CONTEXT_SYSTEM && !b->has_system) {
        b->has_system = true;
        add_note(b, message);
    }
    if (message->role == CONTEXT_ASSISTANT)
        add_answer(b, message, row);
    else if (message->role == CONTEXT_USER)
        b->needs_answer = true;
}

/* --- their order --- */

/* Returns true for a user's message that arrived while the model wrote its next answer, so that the
 * model had not read the message. */
static bool is_late(const builder *b, size_t number, const int64_t *next_seen)
{
    const message_row *row = &b->in->messages[number];

    return slice_equal(row->role, SLICE("user")) && next_seen[number] >= 0 &&
           row->seq > next_seen[number];
}

/* If is_late() is true for a message, it is added after the answer during which it arrived. */
static bool add_messages(builder *b)
{
    size_t count = b->in->message_count, late_count = 0, still;
    int64_t *next_seen = arena_zeros(&b->memory, count + 1, sizeof(*next_seen));
    size_t *late = arena_zeros(&b->memory, count + 1, sizeof(*late));

    if (next_seen == NULL || late == NULL)
        return false;
    next_seen[count] = -1;
    for (size_t i = count; i-- > 0;) {
        int64_t seen = seen_by(&b->in->messages[i]);
        next_seen[i] = seen >= 0 ? seen : next_seen[i + 1];
    }
    for (size_t i = 0; i < count; i++) {
        if (is_late(b, i, next_seen)) {
            late[late_count++] = i;
            continue;
        }
        add_message(b, i);
        if (seen_by(&b->in->messages[i]) < 0)
            continue;
        still = 0;
        for (size_t k = 0; k < late_count; k++) {
            if (b->in->messages[late[k]].seq > next_seen[i + 1] && next_seen[i + 1] >= 0)
                late[still++] = late[k];
            else
                add_message(b, late[k]);
        }
        late_count = still;
    }
    return true;
}

/* Finds the last message that is a user's or has tool calls, and moves the later messages, except
 * results, to before this message. The reason: some servers reject a request whose last message is
 * an assistant's or a system message. */
static void move_question_last(context_list *list)
{
    context_message **question = NULL, **link = &list->first;

    for (; *link != NULL; link = &(*link)->next)
        if ((*link)->role == CONTEXT_USER || (*link)->calls != NULL)
            question = link;
    if (question == NULL)
        return;
    list->last = *question;
    for (link = &(*question)->next; *link != NULL;) {
        context_message *message = *link;
        if (message->role == CONTEXT_RESULT) {
            list->last = message;
            link = &message->next;
            continue;
        }
        *link = message->next;
        message->next = *question;
        *question = message;
        question = &message->next;
    }
}

bool dialogue_has_system(const dialogue_input *in)
{
    for (size_t i = 0; i < in->message_count; i++)
        if (slice_equal(in->messages[i].role, SLICE("system")))
            return true;
    return false;
}

static void add_prompt(builder *b)
{
    const dialogue_input *in = b->in;

    if (dialogue_has_system(in) || (in->prompt.len <= 2 && in->note.len == 0))
        return;
    context_message *message =
        context_add(&b->ctx, CONTEXT_SYSTEM, CONTEXT_OF_CARD, SLICE("prompt"), in->prompt);
    b->has_system = true;
    if (message == NULL)
        return;
    if (in->prompt.len > 2)
        context_add_value(&b->ctx, message, scan_whole(in->prompt));
    add_note(b, message);
}

cardbox_status dialogue_build(dialogue *out, const dialogue_input *input)
{
    builder b = {.in = input, .memory = ARENA_INIT};
    context_output written = {.count = 0};
    cardbox_status status = CARDBOX_NOMEM;

    *out = (dialogue){.messages = BUF_INIT(0)};
    if (input->message_count > 0)
        out->seen = input->messages[input->message_count - 1].seq;
    b.ctx = (context){.memory = &b.memory, .most = CONTEXT_BYTES_MAX};
    if (!index_calls(&b))
        goto done;
    add_prompt(&b);
    if (!add_messages(&b))
        goto done;
    b.ctx.before = b.ctx.list.count;
    context_pair(&b.ctx);
    if (b.needs_answer)
        move_question_last(&b.ctx.list);
    if (b.memory.failed) {
        if (b.ctx.is_over)
            status = CARDBOX_TOO_LARGE;
        goto done;
    }
    if (!context_write(&written, &b.ctx, CARDBOX_FORMAT_OPENAI)) {
        if (written.messages.failure == BUF_TOO_LARGE)
            status = CARDBOX_TOO_LARGE;
        goto done;
    }
    out->needs_answer = b.needs_answer;
    out->messages = written.messages;
    written.messages = BUF_INIT(0);
    status = CARDBOX_OK;
done:
    context_output_free(&written);
    arena_reset(&b.memory);
    return status;
}

void dialogue_free(dialogue *d)
{
    buf_free(&d->messages);
}
