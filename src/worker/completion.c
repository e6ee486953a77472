/*
 * completion.c: reads the chunks of a chat completion. Lenient in what servers differ in (missing
 * members, repeated ids, calls without an index), strict in what decides: JSON, limits, an end.
 */
#include "worker/completion.h"
#include "worker/say.h"

void completion_init(completion *c)
{
    *c = (completion){.text = BUF_INIT(COMPLETION_TEXT_MAX), .usage = {-1, -1, -1}};
}

void completion_free(completion *c)
{
    buf_free(&c->text);
    for (size_t i = 0; i < c->call_count; i++) {
        buf_free(&c->calls[i].id);
        buf_free(&c->calls[i].name);
        buf_free(&c->calls[i].arguments);
    }
    c->call_count = 0;
}

static bool fail(completion *c, const char *reason)
{
    say(c->error, sizeof(c->error), "%s", reason);
    return false;
}

/* What is between the quotes; empty for anything but a string. */
static view inside(scan_value string)
{
    if (string.kind != SCAN_STRING)
        return (view){"", 0};
    return (view){string.text.ptr + 1, string.text.len - 2};
}

/* --- tool calls --- */

static completion_call *find_call(completion *c, int64_t index)
{
    for (size_t i = 0; i < c->call_count; i++)
        if (c->calls[i].index == index)
            return &c->calls[i];
    return NULL;
}

static completion_call *add_call(completion *c, int64_t index)
{
    if (c->call_count == COMPLETION_CALLS_MAX)
        return NULL;
    completion_call *call = &c->calls[c->call_count++];
    *call = (completion_call){index, BUF_INIT(COMPLETION_NAME_MAX), BUF_INIT(COMPLETION_NAME_MAX),
                              BUF_INIT(COMPLETION_ARGUMENTS_MAX)};
    return call;
}

/* The call that a piece belongs to. Some servers give no index: there an id begins the next call,
 * and what has none goes on with the last. */
static completion_call *call_of(completion *c, scan_value piece, view id)
{
    int64_t index;
    scan_value number = scan_find(piece, "index");

    if (number.kind == SCAN_NUMBER && scan_integer(number.text, &index)) {
        completion_call *found = find_call(c, index);
        return found != NULL ? found : add_call(c, index);
    }
    if (c->call_count > 0) {
        completion_call *last = &c->calls[c->call_count - 1];
        if (id.len == 0 || view_equal(id, (view){buf_str(&last->id), last->id.len}))
            return last;
    }
    return add_call(c, (int64_t)c->call_count);
}

/* Ids and names come whole, and from some servers with every piece: the first one counts. */
static void set_once(buf *out, view text)
{
    if (out->len == 0)
        buf_view(out, text);
}

static bool take_call(completion *c, scan_value piece)
{
    view id = inside(scan_find(piece, "id"));
    completion_call *call = call_of(c, piece, id);
    scan_value function = scan_find(piece, "function");

    if (call == NULL)
        return fail(c, "the model asked for more tool calls than a message may have");
    set_once(&call->id, id);
    if (function.kind == SCAN_OBJECT) {
        set_once(&call->name, inside(scan_find(function, "name")));
        buf_view(&call->arguments, inside(scan_find(function, "arguments")));
    }
    if (!buf_ok(&call->id) || !buf_ok(&call->name) || !buf_ok(&call->arguments))
        return fail(c, "a tool call of the model is too large");
    return true;
}

/* --- chunks --- */

static bool take_delta(completion *c, scan_value delta, view *piece)
{
    scan_value call, calls = scan_find(delta, "tool_calls");

    *piece = inside(scan_find(delta, "content"));
    buf_view(&c->text, *piece);
    if (!buf_ok(&c->text))
        return fail(c, "the model's message is too large");
    if (calls.kind != SCAN_ARRAY)
        return true;
    scan_walk walk = scan_enter(calls);
    while (scan_element(&walk, &call))
        if (call.kind == SCAN_OBJECT && !take_call(c, call))
            return false;
    return true;
}

static void take_finish(completion *c, scan_value reason)
{
    view text = inside(reason);

    if (text.len == 0)
        return;
    size_t len = text.len < sizeof(c->finish_reason) ? text.len : sizeof(c->finish_reason) - 1;
    for (size_t i = 0; i < len; i++) {
        char letter = text.ptr[i];
        bool is_plain = (letter >= 'a' && letter <= 'z') || letter == '_';
        c->finish_reason[i] = is_plain ? letter : '?';
    }
    c->finish_reason[len] = '\0';
}

static int64_t tokens(scan_value usage, const char *name, int64_t before)
{
    int64_t count;
    scan_value value = scan_find(usage, name);

    if (value.kind != SCAN_NUMBER || !scan_integer(value.text, &count) || count < 0)
        return before;
    return count;
}

/* Some servers repeat the counts in every chunk: the last ones count. */
static void take_usage(completion *c, scan_value usage)
{
    if (usage.kind != SCAN_OBJECT)
        return;
    c->usage.prompt_tokens = tokens(usage, "prompt_tokens", c->usage.prompt_tokens);
    c->usage.completion_tokens = tokens(usage, "completion_tokens", c->usage.completion_tokens);
    c->usage.total_tokens = tokens(usage, "total_tokens", c->usage.total_tokens);
}

static bool take_error(completion *c, scan_value error)
{
    buf text = BUF_INIT(COMPLETION_TEXT_MAX);
    scan_value message = error.kind == SCAN_OBJECT ? scan_find(error, "message") : error;

    if (message.kind != SCAN_STRING || !scan_decode(&text, message.text) || text.len == 0) {
        buf_reset(&text, SIZE_MAX);
        buf_text(&text, "it says no more");
    }
    say(c->error, sizeof(c->error), "the model's server reports an error: %s", buf_str(&text));
    buf_free(&text);
    return false;
}

/* Only the first choice is asked for, and so the only one that counts. */
static bool take_choice(completion *c, scan_value choices, view *piece)
{
    scan_value choice;
    scan_walk walk = scan_enter(choices);

    if (!scan_element(&walk, &choice) || choice.kind != SCAN_OBJECT)
        return true;
    scan_value delta = scan_find(choice, "delta");
    if (delta.kind == SCAN_OBJECT && !take_delta(c, delta, piece))
        return false;
    take_finish(c, scan_find(choice, "finish_reason"));
    return true;
}

bool completion_take(completion *c, view data, view *piece)
{
    scan_value chunk;

    *piece = (view){"", 0};
    if (c->is_done || c->error[0] != '\0')
        return false;
    if (view_equal(data, VIEW("[DONE]"))) {
        c->is_done = true;
        return false;
    }
    if (!scan_check(data, COMPLETION_DEPTH_MAX, &chunk, NULL, NULL) || chunk.kind != SCAN_OBJECT)
        return fail(c, "the model's server sent a chunk that is no JSON object");
    scan_value error = scan_find(chunk, "error");
    if (error.kind != SCAN_NONE && error.kind != SCAN_NULL)
        return take_error(c, error);
    scan_value choices = scan_find(chunk, "choices");
    if (choices.kind == SCAN_ARRAY && !take_choice(c, choices, piece))
        return false;
    take_usage(c, scan_find(chunk, "usage"));
    return true;
}

/* The reason for the end comes behind the last piece: with it the message is whole, even from a
 * server that never says [DONE]; without it, nobody knows what is missing. */
bool completion_end(completion *c)
{
    if (c->error[0] != '\0')
        return false;
    if (c->finish_reason[0] == '\0')
        return fail(c, "the model's answer was cut off before its end");
    for (size_t i = 0; i < c->call_count; i++)
        if (c->calls[i].name.len == 0)
            return fail(c, "the model asked for a tool without naming it");
    return true;
}
