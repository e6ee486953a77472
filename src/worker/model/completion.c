/*
 * completion.c: reads the chunks of a chat completion. Lenient in what servers differ in (missing
 * members, repeated ids, calls without an index), strict in what decides: JSON, limits, an end.
 */
#include "worker/model/completion.h"
#include "model/content/class.h"
#include "worker/format_line.h"

/* Tokens of one request that are believed: sums of them stay numbers. */
#define TOKENS_MAX INT64_C(1000000000000)

/* Ends of a text that are not where the model wanted to end. */
static const struct {
    const char *finish_reason, *says;
} CUTS[] = {
    {"length", "the model stopped at its length limit"},
    {"content_filter", "the model's answer was cut by its content filter"},
};
enum { CUT_COUNT = sizeof(CUTS) / sizeof(CUTS[0]) };

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
    format_line(c->error, sizeof(c->error), "%s", reason);
    return false;
}

/* For limits of ours: a model that passes one would most often do so again, at the same price. */
static bool fail_for_good(completion *c, const char *reason)
{
    c->is_final = true;
    return fail(c, reason);
}

/* --- tool calls --- */

/* The last one: servers that number all of them alike are told apart by begins_anew. */
static completion_call *find_call(completion *c, int64_t index)
{
    for (size_t i = c->call_count; i-- > 0;)
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

static bool is_whole(const buf *arguments)
{
    scan_value value;
    buf token = BUF_INIT(COMPLETION_ARGUMENTS_MAX + 2), text = BUF_INIT(COMPLETION_ARGUMENTS_MAX);

    buf_json_quoted(&token, buf_as_view(arguments));
    bool good = scan_decode(&text, buf_as_view(&token)) &&
                scan_check(buf_as_view(&text), COMPLETION_DEPTH_MAX, &value, NULL, NULL);
    buf_free(&token);
    buf_free(&text);
    return good;
}

/* Whether a piece that seems to go on with a call, by an index or id that is the same for all or
 * not there at all, begins another one: it names another function, or names one and has arguments
 * though those of the call are whole. */
static bool begins_anew(const completion_call *call, scan_value piece)
{
    scan_value function = scan_find(piece, "function");

    if (function.kind != SCAN_OBJECT || call->name.len == 0)
        return false;
    view name = scan_string_inside(scan_find(function, "name"));
    scan_value arguments = scan_find(function, "arguments");
    if (name.len == 0)
        return false;
    if (!view_equal(name, buf_as_view(&call->name)))
        return true;
    bool has_arguments = arguments.kind == SCAN_OBJECT || scan_string_inside(arguments).len > 0;
    return has_arguments && is_whole(&call->arguments);
}

/* The call that a piece belongs to. Some servers give no index: there an id begins the next call,
 * and what has none goes on with the last, unless that came in the same chunk. */
static completion_call *call_of(completion *c, scan_value piece, view id, bool is_first)
{
    int64_t index;
    scan_value number = scan_find(piece, "index");

    if (number.kind == SCAN_NUMBER && scan_integer(number.text, &index)) {
        completion_call *found = find_call(c, index);
        return found != NULL && !begins_anew(found, piece) ? found : add_call(c, index);
    }
    if (c->call_count > 0 && is_first) {
        completion_call *last = &c->calls[c->call_count - 1];
        bool is_same = id.len == 0 || view_equal(id, buf_as_view(&last->id));
        if (is_same && !begins_anew(last, piece))
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

/* Some servers give arguments as an object instead of its text. */
static void put_arguments(buf *out, scan_value arguments)
{
    buf text = BUF_INIT(COMPLETION_ARGUMENTS_MAX);

    if (arguments.kind != SCAN_OBJECT) {
        buf_view(out, scan_string_inside(arguments));
        return;
    }
    buf_json_string(&text, arguments.text);
    if (buf_ok(&text))
        buf_add(out, buf_str(&text) + 1, text.len - 2);
    else
        out->failure = BUF_TOO_LARGE;
    buf_free(&text);
}

static bool take_function(completion *c, completion_call *call, view id, scan_value function)
{
    if (call == NULL)
        return fail_for_good(c, "the model asked for more tool calls than a message may have");
    set_once(&call->id, id);
    if (function.kind == SCAN_OBJECT) {
        set_once(&call->name, scan_string_inside(scan_find(function, "name")));
        put_arguments(&call->arguments, scan_find(function, "arguments"));
    }
    if (!buf_ok(&call->id) || !buf_ok(&call->name) || !buf_ok(&call->arguments))
        return fail_for_good(c, "a tool call of the model is too large");
    return true;
}

static bool take_calls(completion *c, scan_value calls)
{
    scan_value piece;
    bool is_first = true;
    scan_walk walk = scan_enter(calls);

    while (scan_element(&walk, &piece)) {
        if (piece.kind != SCAN_OBJECT)
            continue;
        view id = scan_string_inside(scan_find(piece, "id"));
        completion_call *call = call_of(c, piece, id, is_first);
        if (!take_function(c, call, id, scan_find(piece, "function")))
            return false;
        is_first = false;
    }
    return true;
}

/* --- chunks --- */

/* A text, or a list of parts of it; what a model says to refuse is its answer too. */
static void take_text(completion *c, scan_value delta)
{
    scan_value part, content = scan_find(delta, "content");

    buf_view(&c->text, scan_string_inside(content));
    if (content.kind == SCAN_ARRAY) {
        scan_walk walk = scan_enter(content);
        while (scan_element(&walk, &part)) {
            if (part.kind != SCAN_OBJECT)
                continue;
            buf_view(&c->text, scan_string_inside(scan_find(part, "text")));
            buf_view(&c->text, scan_string_inside(scan_find(part, "refusal")));
        }
    }
    buf_view(&c->text, scan_string_inside(scan_find(delta, "refusal")));
}

static bool take_delta(completion *c, scan_value delta, view *piece)
{
    scan_value calls = scan_find(delta, "tool_calls");
    scan_value function = scan_find(delta, "function_call"); /* how it was before tools */
    size_t before = c->text.len;

    take_text(c, delta);
    if (!buf_ok(&c->text))
        return fail_for_good(c, "the model's message is too large");
    *piece = buf_since(&c->text, before);
    if (calls.kind == SCAN_ARRAY && !take_calls(c, calls))
        return false;
    if (function.kind != SCAN_OBJECT)
        return true;
    completion_call *call = find_call(c, 0);
    return take_function(c, call != NULL ? call : add_call(c, 0), (view){"", 0}, function);
}

static void take_finish(completion *c, scan_value reason)
{
    view text = scan_string_inside(reason);

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

    if (value.kind != SCAN_NUMBER || !scan_integer(value.text, &count) || count < 0 ||
        count > TOKENS_MAX)
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
    format_line(c->error, sizeof(c->error), "the model's server reports an error: %s",
                buf_str(&text));
    buf_free(&text);
    return false;
}

/* Only one choice is asked for, and so only that of index 0 counts; without an index, the first. */
static bool find_choice(scan_value *choice, scan_value choices)
{
    int64_t index;
    scan_walk walk = scan_enter(choices);

    for (bool is_first = true; scan_element(&walk, choice); is_first = false) {
        if (choice->kind != SCAN_OBJECT)
            continue;
        scan_value number = scan_find(*choice, "index");
        if (number.kind == SCAN_NUMBER && scan_integer(number.text, &index) ? index == 0 : is_first)
            return true;
    }
    return false;
}

/* Some servers send a whole message instead of a piece of it. */
static bool take_choice(completion *c, scan_value choices, view *piece)
{
    scan_value choice;

    if (!find_choice(&choice, choices))
        return true;
    scan_value delta = scan_find(choice, "delta");
    if (delta.kind != SCAN_OBJECT)
        delta = scan_find(choice, "message");
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
    if (completion_is_blank(c) && c->call_count == 0 && completion_cut_reason(c) == NULL)
        return fail(c, "the model's answer is empty");
    return true;
}

bool completion_is_blank(const completion *c)
{
    return content_trim(buf_as_view(&c->text)).len == 0;
}

const char *completion_cut_reason(const completion *c)
{
    for (size_t i = 0; i < CUT_COUNT; i++)
        if (strcmp(c->finish_reason, CUTS[i].finish_reason) == 0)
            return CUTS[i].says;
    return NULL;
}
