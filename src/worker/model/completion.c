/*
 * completion.c: reads the chunks of a chat completion. Differences between servers are accepted:
 * missing members, repeated ids, calls without an index. Invalid JSON, exceeded limits and a
 * missing finish reason are errors.
 */
#include "worker/model/completion.h"
#include "app/json_text.h"
#include "base/scan_token.h"
#include "model/content/class.h"
#include "base/text.h"

/* Maximum of an integer in a chunk, far above real token counts. Doubles represent integers up to
 * this limit exactly, and int64_t holds the sum of millions of them. */
#define INTEGER_MAX INT64_C(1000000000000)

void completion_init(completion *c)
{
    *c = (completion){.text = BUF_INIT(COMPLETION_TEXT_MAX),
                      .prompt_tokens = -1,
                      .completion_tokens = -1,
                      .total_tokens = -1,
                      .cost = -1};
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

/* Writes the formatted reason to c->error, and returns false. */
#define fail(c, ...) format_reason((c)->error, COMPLETION_ERROR_SIZE, __VA_ARGS__)

/* Like fail(), and prevents a retry, because a model that exceeds a limit would mostly exceed it
 * again. */
static bool fail_finally(completion *c, const char *reason)
{
    c->is_final = true;
    return fail(c, "%s", reason);
}

/* --- values --- */

/* Reads an integer, which may be written as 2.0. Returns false if the value is no integer or is not
 * between -INTEGER_MAX and INTEGER_MAX. */
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

/* Returns the last call with this index, because several calls may have the same index: see
 * begins_next_call. */
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

/* Returns true if the fragment `piece` does not continue `call` but begins another call, although
 * its index is the same or missing. This is so if the fragment has another function name, or if it
 * has the same name and arguments, and the arguments of `call` are already complete JSON. */
static bool begins_next_call(const completion_call *call, const json_t *piece)
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

/* Returns the call that the fragment `piece` belongs to; NULL: too many calls. `is_first` is true
 * for the first fragment of a chunk. Without an index, a first fragment with no id or with the id
 * of the last call continues the last call (but see begins_next_call). Other fragments without an
 * index begin a call. */
static completion_call *call_of(completion *c, const json_t *piece, slice id, bool is_first)
{
    int64_t index;

    if (read_integer(&index, json_object_get(piece, "index"))) {
        completion_call *found = find_call(c, index);
        return found != NULL && !begins_next_call(found, piece) ? found : add_call(c, index);
    }
    if (c->call_count > 0 && is_first) {
        completion_call *last = &c->calls[c->call_count - 1];
        bool is_same = id.len == 0 || slice_equal(id, buf_as_slice(&last->id));
        if (is_same && !begins_next_call(last, piece))
            return last;
    }
    return add_call(c, (int64_t)c->call_count);
}

/* Sets an id or a name, unless it is set already: some servers repeat ids and names in every
 * fragment. */
static void set_once(buf *out, slice text)
{
    if (out->len == 0)
        buf_slice(out, text);
}

/* Adds a fragment of a call. Some servers send the arguments as an object instead of a string. */
static bool add_function(completion *c, completion_call *call, slice id, const json_t *function)
{
    json_t *arguments = json_object_get(function, "arguments");

    if (call == NULL)
        return fail_finally(c, "the model asked for more tool calls than a message may have");
    set_once(&call->id, id);
    set_once(&call->name, json_text_of(json_object_get(function, "name")));
    if (json_is_object(arguments))
        buf_json_take(&call->arguments, json_incref(arguments));
    else
        buf_slice(&call->arguments, json_text_of(arguments));
    if (!buf_ok(&call->id) || !buf_ok(&call->name) || !buf_ok(&call->arguments))
        return fail_finally(c, "a tool call of the model is too large");
    return true;
}

static bool add_calls(completion *c, const json_t *calls)
{
    const json_t *piece;
    size_t i;
    bool is_first = true;

    json_array_foreach (calls, i, piece) {
        if (!json_is_object(piece))
            continue;
        slice id = json_text_of(json_object_get(piece, "id"));
        completion_call *call = call_of(c, piece, id, is_first);
        if (!add_function(c, call, id, json_object_get(piece, "function")))
            return false;
        is_first = false;
    }
    return true;
}

/* --- chunks --- */

/* The content of a chunk is a string or an array of parts. The text of a refusal is added too. */
static void add_text(completion *c, const json_t *delta)
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

static bool add_delta(completion *c, const json_t *delta, slice *piece)
{
    /* an older form of tool_calls, for one call */
    const json_t *function = json_object_get(delta, "function_call");
    size_t before = c->text.len;

    add_text(c, delta);
    if (!buf_ok(&c->text))
        return fail_finally(c, "the model's message is too large");
    *piece = buf_since(&c->text, before);
    if (!add_calls(c, json_object_get(delta, "tool_calls")))
        return false;
    if (!json_is_object(function))
        return true;
    completion_call *call = find_call(c, 0);
    return add_function(c, call != NULL ? call : add_call(c, 0), (slice){"", 0}, function);
}

static void set_finish_reason(completion *c, slice text)
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

/* Some servers send token counts in every chunk: the last one is used. */
static void set_count(int64_t *out, const json_t *usage, const char *name)
{
    int64_t count;

    if (read_integer(&count, json_object_get(usage, name)) && count >= 0)
        *out = count;
}

static bool set_error(completion *c, const json_t *error)
{
    slice text = json_text_of(json_is_object(error) ? json_object_get(error, "message") : error);

    if (text.len == 0)
        text = SLICE("(no message)");
    return fail(c, "the model's server reports an error: %.*s",
                (int)slice_cut(text, COMPLETION_SHOWN_MAX), text.ptr);
}

/* Returns the choice with index 0, or the first choice if it has no index; NULL: none. */
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

static bool add_chunk(completion *c, const json_t *chunk, slice *piece)
{
    const json_t *error = json_object_get(chunk, "error");
    const json_t *usage = json_object_get(chunk, "usage"), *cost = json_object_get(usage, "cost");
    const json_t *choice = find_choice(json_object_get(chunk, "choices"));
    const json_t *delta = json_object_get(choice, "delta");

    if (!json_is_object(chunk))
        return fail(c, "the model's server sent a chunk that is no JSON object");
    if (error != NULL && !json_is_null(error))
        return set_error(c, error);
    if (!json_is_object(delta)) /* some servers send "message" instead of "delta" */
        delta = json_object_get(choice, "message");
    if (!add_delta(c, delta, piece))
        return false;
    set_finish_reason(c, json_text_of(json_object_get(choice, "finish_reason")));
    set_count(&c->prompt_tokens, usage, "prompt_tokens");
    set_count(&c->completion_tokens, usage, "completion_tokens");
    set_count(&c->total_tokens, usage, "total_tokens");
    if (json_is_number(cost) && json_number_value(cost) >= 0)
        c->cost = json_number_value(cost);
    return true;
}

/* Copies the JSON of a chunk, and replaces NUL and unpaired surrogates in it by U+FFFD. Some
 * servers split a text between the two escapes of a surrogate pair. So the four digits of a high
 * surrogate at the end of a string are kept in `high`, which is "" if none is kept. The kept
 * surrogate is written before a low surrogate at the start of a later string. */
static void replace_surrogates(buf *out, char high[5], slice json)
{
    const char *at = json.ptr, *end = at + json.len, *next;

    for (const char *escape; (escape = memchr(at, '\\', (size_t)(end - at))) != NULL; at = next) {
        uint32_t code;
        bool begins_string = escape > at && escape[-1] == '"';

        buf_add(out, at, (size_t)(escape - at));
        next = scan_escape(escape, end, &code);
        if (next == NULL) { /* invalid JSON: the parser of the caller reports the error */
            at = escape;
            break;
        }
        if (code != 0 && !scan_is_half(code)) {
            buf_add(out, escape, (size_t)(next - escape));
        } else if (scan_is_half(code) && code < 0xDC00 && next < end && *next == '"') {
            memcpy(high, escape + 2, 4);
        } else if (code >= 0xDC00 && begins_string && high[0] != '\0') {
            buf_printf(out, "\\u%.4s%.6s", high, escape);
            high[0] = '\0';
        } else {
            buf_text(out, "\\ufffd");
        }
    }
    buf_add(out, at, (size_t)(end - at));
}

bool completion_add_chunk(completion *c, slice data, slice *piece)
{
    json_error_t error;
    buf text = BUF_INIT(2 * data.len + 64);

    *piece = (slice){"", 0};
    if (c->is_done || c->error[0] != '\0')
        return false;
    if (slice_equal(data, SLICE("[DONE]"))) {
        c->is_done = true;
        return false;
    }
    replace_surrogates(&text, c->high_surrogate, data);
    bool is_whole = buf_ok(&text);
    json_t *chunk = json_text_read(buf_as_slice(&text), 0, &error);
    buf_free(&text);
    if (!is_whole || (chunk == NULL && json_error_code(&error) == json_error_out_of_memory))
        return fail(c, "out of memory");
    bool goes_on = add_chunk(c, chunk, piece);
    json_decref(chunk);
    return goes_on;
}

/* The finish reason arrives after the last text. So an answer with a finish reason counts as
 * complete, even without [DONE]. Without a finish reason, text may be missing. */
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
    if (strcmp(c->finish_reason, "length") == 0)
        return "the model stopped at its length limit";
    if (strcmp(c->finish_reason, "content_filter") == 0)
        return "the model's answer was cut by its content filter";
    return NULL;
}
