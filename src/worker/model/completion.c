/*
 * completion.c: reads the chunks of a chat completion. Lenient where servers differ (missing
 * members, repeated ids, calls without an index), strict about JSON, limits and the end.
 */
#include "worker/model/completion.h"
#include "app/json_text.h"
#include "base/scan.h"
#include "model/content/class.h"
#include "worker/format_line.h"
#include "worker/model/half_pairs.h"

/* Limit of integers in a chunk, far above any count of tokens: doubles hold them exactly, and sums
 * of them fit. */
#define INTEGER_MAX INT64_C(1000000000000)

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

/* --- values --- */

/* An integer, which may be a real such as 2.0. False: it is none, or too large. */
static bool read_integer(int64_t *out, const json_t *value)
{
    double number = json_number_value(value);

    if (!json_is_number(value) || number < (double)-INTEGER_MAX || number > (double)INTEGER_MAX)
        return false;
    *out = (int64_t)number;
    return (double)*out == number;
}

static void add_string(buf *out, const json_t *object, const char *name)
{
    buf_slice(out, json_text_of(json_object_get(object, name)));
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

/* Whether a piece that seems to continue a call, since its index or id is the same or missing,
 * begins another one: it names another function, or names one and has arguments although those of
 * the call are complete. */
static bool begins_anew(const completion_call *call, const json_t *piece)
{
    const json_t *function = json_object_get(piece, "function");
    const json_t *arguments = json_object_get(function, "arguments");
    slice name = json_text_of(json_object_get(function, "name"));

    if (name.len == 0 || call->name.len == 0)
        return false;
    if (!slice_equal(name, buf_as_slice(&call->name)))
        return true;
    bool has_arguments = json_is_object(arguments) || json_string_length(arguments) > 0;
    return has_arguments &&
           scan_check(buf_as_slice(&call->arguments), COMPLETION_DEPTH_MAX, NULL, NULL, NULL);
}

/* The call that a piece belongs to. Some servers give no index: there an id begins the next call,
 * and a piece without one continues the last call, unless that came in the same chunk. */
static completion_call *call_of(completion *c, const json_t *piece, slice id, bool is_first)
{
    int64_t index;

    if (read_integer(&index, json_object_get(piece, "index"))) {
        completion_call *found = find_call(c, index);
        return found != NULL && !begins_anew(found, piece) ? found : add_call(c, index);
    }
    if (c->call_count > 0 && is_first) {
        completion_call *last = &c->calls[c->call_count - 1];
        bool is_same = id.len == 0 || slice_equal(id, buf_as_slice(&last->id));
        if (is_same && !begins_anew(last, piece))
            return last;
    }
    return add_call(c, (int64_t)c->call_count);
}

/* Ids and names come whole, and from some servers with every piece: the first one counts. */
static void set_once(buf *out, slice text)
{
    if (out->len == 0)
        buf_slice(out, text);
}

/* Some servers give arguments as an object instead of its text. */
static bool take_function(completion *c, completion_call *call, slice id, const json_t *function)
{
    json_t *arguments = json_object_get(function, "arguments");

    if (call == NULL)
        return fail_for_good(c, "the model asked for more tool calls than a message may have");
    set_once(&call->id, id);
    set_once(&call->name, json_text_of(json_object_get(function, "name")));
    if (json_is_object(arguments))
        buf_json_take(&call->arguments, json_incref(arguments));
    else
        buf_slice(&call->arguments, json_text_of(arguments));
    if (!buf_ok(&call->id) || !buf_ok(&call->name) || !buf_ok(&call->arguments))
        return fail_for_good(c, "a tool call of the model is too large");
    return true;
}

static bool take_calls(completion *c, const json_t *calls)
{
    const json_t *piece;
    size_t i;
    bool is_first = true;

    json_array_foreach (calls, i, piece) {
        if (!json_is_object(piece))
            continue;
        slice id = json_text_of(json_object_get(piece, "id"));
        completion_call *call = call_of(c, piece, id, is_first);
        if (!take_function(c, call, id, json_object_get(piece, "function")))
            return false;
        is_first = false;
    }
    return true;
}

/* --- chunks --- */

/* A text, or a list of parts of it; a refusal of the model is its answer too. */
static void take_text(completion *c, const json_t *delta)
{
    const json_t *part, *content = json_object_get(delta, "content");
    size_t i;

    buf_slice(&c->text, json_text_of(content));
    json_array_foreach (content, i, part) {
        add_string(&c->text, part, "text");
        add_string(&c->text, part, "refusal");
    }
    add_string(&c->text, delta, "refusal");
}

static bool take_delta(completion *c, const json_t *delta, slice *piece)
{
    const json_t *function = json_object_get(delta, "function_call"); /* the form before tools */
    size_t before = c->text.len;

    take_text(c, delta);
    if (!buf_ok(&c->text))
        return fail_for_good(c, "the model's message is too large");
    *piece = buf_since(&c->text, before);
    if (!take_calls(c, json_object_get(delta, "tool_calls")))
        return false;
    if (!json_is_object(function))
        return true;
    completion_call *call = find_call(c, 0);
    return take_function(c, call != NULL ? call : add_call(c, 0), (slice){"", 0}, function);
}

static void take_finish(completion *c, slice text)
{
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

/* Some servers repeat the counts in every chunk: the last ones count. */
static void take_count(int64_t *out, const json_t *usage, const char *name)
{
    int64_t count;

    if (read_integer(&count, json_object_get(usage, name)) && count >= 0)
        *out = count;
}

static bool take_error(completion *c, const json_t *error)
{
    const json_t *message = json_is_object(error) ? json_object_get(error, "message") : error;

    format_line(c->error, sizeof(c->error), "the model's server reports an error: %s",
                json_string_length(message) > 0 ? json_string_value(message) : "it gives no text");
    return false;
}

/* Only one choice is asked for, so only the one of index 0 counts; without an index, the first. */
static const json_t *find_choice(const json_t *choices)
{
    const json_t *choice;
    size_t i;
    int64_t index;

    json_array_foreach (choices, i, choice) {
        if (!json_is_object(choice))
            continue;
        if (read_integer(&index, json_object_get(choice, "index")) ? index == 0 : i == 0)
            return choice;
    }
    return NULL;
}

static bool take_chunk(completion *c, const json_t *chunk, slice *piece)
{
    const json_t *error = json_object_get(chunk, "error");
    const json_t *usage = json_object_get(chunk, "usage");
    const json_t *choice = find_choice(json_object_get(chunk, "choices"));
    const json_t *delta = json_object_get(choice, "delta");

    if (!json_is_object(chunk))
        return fail(c, "the model's server sent a chunk that is no JSON object");
    if (error != NULL && !json_is_null(error))
        return take_error(c, error);
    if (!json_is_object(delta)) /* some servers send a whole message instead of a piece of it */
        delta = json_object_get(choice, "message");
    if (!take_delta(c, delta, piece))
        return false;
    take_finish(c, json_text_of(json_object_get(choice, "finish_reason")));
    take_count(&c->usage.prompt_tokens, usage, "prompt_tokens");
    take_count(&c->usage.completion_tokens, usage, "completion_tokens");
    take_count(&c->usage.total_tokens, usage, "total_tokens");
    return true;
}

bool completion_take(completion *c, slice data, slice *piece)
{
    json_error_t error;
    buf text = BUF_INIT(2 * data.len + 64); /* each batched half adds six bytes to six */

    *piece = (slice){"", 0};
    if (c->is_done || c->error[0] != '\0')
        return false;
    if (slice_equal(data, SLICE("[DONE]"))) {
        c->is_done = true;
        return false;
    }
    half_pairs_join(&text, c->half, data);
    bool is_whole = buf_ok(&text);
    json_t *chunk = json_text_read(buf_as_slice(&text), 0, &error);
    buf_free(&text);
    if (!is_whole || (chunk == NULL && json_error_code(&error) == json_error_out_of_memory))
        return fail(c, "out of memory");
    bool goes_on = take_chunk(c, chunk, piece);
    json_decref(chunk);
    return goes_on;
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
    buf inside = BUF_INIT((size_t)6 * COMPLETION_TEXT_MAX);

    buf_json_inside(&inside, buf_as_slice(&c->text));
    bool is_blank = buf_ok(&inside) && content_trim(buf_as_slice(&inside)).len == 0;
    buf_free(&inside);
    return is_blank;
}

const char *completion_cut_reason(const completion *c)
{
    for (size_t i = 0; i < CUT_COUNT; i++)
        if (strcmp(c->finish_reason, CUTS[i].finish_reason) == 0)
            return CUTS[i].says;
    return NULL;
}
