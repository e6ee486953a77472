/*
 * completion.c: reads the chunks of a chat completion. Differences between servers are accepted:
 * missing members, repeated ids, calls without an index. Invalid JSON, exceeded limits and a
 * missing finish reason are errors.
 */
#include "worker/model/completion.h"

#include <stdlib.h>
#include "base/scan_token.h"
#include "base/text.h"
#include "model/content/class.h"

/* Maximum of an integer in a chunk, far above real token counts. Doubles represent integers up to
 * this limit exactly, and int64_t holds the sum of millions of them. */
#define INTEGER_MAX INT64_C(1000000000000)

void completion_init(completion *c)
{
    *c = (completion){.text = BUF_INIT(COMPLETION_TEXT_MAX),
                      .whole = BUF_INIT(DELTA_BYTES_MAX),
                      .prompt_tokens = -1,
                      .completion_tokens = -1,
                      .total_tokens = -1,
                      .cached_tokens = -1,
                      .cost = -1};
    delta_init(&c->members);
}

void completion_free(completion *c)
{
    buf_free(&c->text);
    buf_free(&c->whole);
    for (size_t i = 0; i < c->call_count; i++) {
        buf_free(&c->calls[i].id);
        buf_free(&c->calls[i].name);
        buf_free(&c->calls[i].arguments);
    }
    c->call_count = 0;
    delta_free(&c->members);
    c->message = NULL;
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
static bool read_integer(int64_t *out, scan_value value)
{
    return value.kind == SCAN_NUMBER && scan_integer(value.text, out) && *out >= -INTEGER_MAX &&
           *out <= INTEGER_MAX;
}

/* Returns the member of a value; SCAN_NONE if the value is no object. */
static scan_value member_of(scan_value value, const char *name)
{
    return value.kind == SCAN_OBJECT ? scan_find(value, name) : (scan_value){0};
}

static bool has_text(scan_value value)
{
    return value.kind == SCAN_STRING && value.text.len > 2;
}

static void add_string(buf *out, scan_value value)
{
    if (value.kind == SCAN_STRING)
        scan_decode(out, value.text);
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
    *call = (completion_call){.index = index,
                              .id = BUF_INIT(COMPLETION_NAME_MAX),
                              .name = BUF_INIT(COMPLETION_NAME_MAX),
                              .arguments = BUF_INIT(COMPLETION_ARGUMENTS_MAX)};
    return call;
}

/* Returns true if the fragment `piece` does not continue `call` but begins another call, although
 * its index is the same or missing. This is so if the fragment has another function name, or if it
 * has the same name and arguments, and the arguments of `call` are already complete JSON. */
static bool begins_next_call(const completion_call *call, scan_value piece)
{
    scan_value function = member_of(piece, "function");
    scan_value arguments = member_of(function, "arguments"), name = member_of(function, "name");

    if (!has_text(name) || call->name.len == 0)
        return false;
    if (!scan_string_is(name.text, buf_as_slice(&call->name)))
        return true;
    bool has_arguments = arguments.kind == SCAN_OBJECT || has_text(arguments);
    return has_arguments &&
           scan_check(buf_as_slice(&call->arguments), COMPLETION_DEPTH_MAX, NULL, NULL, NULL);
}

/* Returns the call that the fragment `piece` belongs to; NULL: too many calls. `is_first` is true
 * for the first fragment of a chunk. Without an index, a first fragment with no id or with the id
 * of the last call continues the last call (but see begins_next_call). Other fragments without an
 * index begin a call. */
static completion_call *call_of(completion *c, scan_value piece, bool is_first)
{
    scan_value id = member_of(piece, "id");
    int64_t index;

    if (read_integer(&index, member_of(piece, "index"))) {
        completion_call *found = find_call(c, index);
        return found != NULL && !begins_next_call(found, piece) ? found : add_call(c, index);
    }
    if (c->call_count > 0 && is_first) {
        completion_call *last = &c->calls[c->call_count - 1];
        bool is_same = !has_text(id) || scan_string_is(id.text, buf_as_slice(&last->id));
        if (is_same && !begins_next_call(last, piece))
            return last;
    }
    return add_call(c, (int64_t)c->call_count);
}

/* Sets an id or a name, unless it is set already: some servers repeat ids and names in every
 * fragment. */
static void set_once(buf *out, scan_value text)
{
    if (out->len == 0)
        add_string(out, text);
}

/* Adds a fragment of a call. Some servers send the arguments as an object instead of a string. */
static bool add_function(completion *c, completion_call *call, scan_value id, scan_value function)
{
    scan_value arguments = member_of(function, "arguments");

    if (call == NULL)
        return fail_finally(c, "the model asked for more tool calls than a message may have");
    set_once(&call->id, id);
    set_once(&call->name, member_of(function, "name"));
    if (arguments.kind == SCAN_OBJECT) {
        scan_compact(&call->arguments, arguments.text);
        buf_reset(&c->whole, 0);
    } else {
        add_string(&call->arguments, arguments);
    }
    if (!buf_ok(&call->id) || !buf_ok(&call->name) || !buf_ok(&call->arguments))
        return fail_finally(c, "a tool call of the model is too large");
    return true;
}

static void add_members_of_call(completion *c, completion_call *call, scan_value piece)
{
    if (call->value == NULL)
        call->value = delta_object(&c->members);
    if (call->value != NULL)
        delta_merge(&c->members, call->value, piece);
}

static bool add_calls(completion *c, scan_value calls)
{
    scan_walk walk = scan_enter(calls.kind == SCAN_ARRAY ? calls : (scan_value){0});
    scan_value piece;
    bool is_first = true;

    while (scan_element(&walk, &piece)) {
        if (piece.kind != SCAN_OBJECT)
            continue;
        completion_call *call = call_of(c, piece, is_first);
        if (!add_function(c, call, member_of(piece, "id"), member_of(piece, "function")))
            return false;
        add_members_of_call(c, call, piece);
        is_first = false;
    }
    return true;
}

/* --- chunks --- */

/* The content of a chunk is a string or an array of parts. The text of a refusal is added too. */
static void add_text(completion *c, scan_value delta)
{
    scan_value content = member_of(delta, "content"), part;
    scan_walk walk = scan_enter(content.kind == SCAN_ARRAY ? content : (scan_value){0});

    add_string(&c->text, content);
    while (scan_element(&walk, &part)) {
        add_string(&c->text, member_of(part, "text"));
        add_string(&c->text, member_of(part, "refusal"));
    }
    add_string(&c->text, member_of(delta, "refusal"));
}

static bool is_of_calls(slice key)
{
    return scan_string_is(key, SLICE("tool_calls")) || scan_string_is(key, SLICE("function_call"));
}

static void add_members(completion *c, scan_value delta)
{
    scan_walk walk = scan_enter(delta);
    scan_value value;
    slice key;

    if (c->message == NULL)
        c->message = delta_object(&c->members);
    while (c->message != NULL && scan_member(&walk, &key, &value)) {
        if (!is_of_calls(key))
            delta_merge_member(&c->members, c->message, key, value);
    }
}

/* Keeps the bytes of a message that was not streamed, if servers accept it back. */
static void keep_whole(completion *c, scan_value message)
{
    scan_value role = member_of(message, "role");

    buf_reset(&c->whole, 0);
    if (c->delta_count == 1 && role.kind == SCAN_STRING &&
        scan_string_is(role.text, SLICE("assistant")) &&
        member_of(message, "function_call").kind != SCAN_OBJECT)
        buf_slice(&c->whole, message.text);
}

/* Adds a delta, or a message that was not streamed. Some servers repeat the whole message after its
 * deltas. */
static bool add_delta(completion *c, scan_value delta, bool is_message, slice *piece)
{
    /* an older form of tool_calls, for one call */
    scan_value function = member_of(delta, "function_call");
    size_t before = c->text.len;

    if (delta.kind != SCAN_OBJECT || scan_count(delta) == 0 || (is_message && c->delta_count > 0))
        return true;
    c->delta_count++;
    if (is_message)
        keep_whole(c, delta);
    else
        buf_reset(&c->whole, 0);
    add_text(c, delta);
    if (!buf_ok(&c->text))
        return fail_finally(c, "the model's message is too large");
    *piece = buf_since(&c->text, before);
    add_members(c, delta);
    if (!add_calls(c, member_of(delta, "tool_calls")))
        return false;
    if (function.kind == SCAN_OBJECT) {
        completion_call *call = find_call(c, 0);
        if (!add_function(c, call != NULL ? call : add_call(c, 0), (scan_value){0}, function))
            return false;
    }
    if (c->members.has_failed || !buf_ok(&c->whole))
        return fail_finally(c, "the model's message is too large");
    return true;
}

static void set_finish_reason(completion *c, scan_value reason)
{
    buf text = BUF_INIT(6 * reason.text.len + 1);

    add_string(&text, reason);
    size_t len = text.len < sizeof(c->finish_reason) ? text.len : sizeof(c->finish_reason) - 1;
    for (size_t i = 0; i < len; i++) {
        char letter = text.data[i];
        bool is_plain = (letter >= 'a' && letter <= 'z') || letter == '_';
        c->finish_reason[i] = is_plain ? letter : '?';
    }
    if (len > 0)
        c->finish_reason[len] = '\0';
    buf_free(&text);
}

/* Some servers send token counts in every chunk: the last one is used. */
static void set_count(int64_t *out, scan_value usage, const char *name)
{
    int64_t count;

    if (read_integer(&count, member_of(usage, name)) && count >= 0)
        *out = count;
}

static void set_cost(double *out, scan_value cost)
{
    char text[64];

    if (cost.kind != SCAN_NUMBER || cost.text.len >= sizeof(text) || cost.text.ptr[0] == '-')
        return;
    memcpy(text, cost.text.ptr, cost.text.len);
    text[cost.text.len] = '\0';
    *out = strtod(text, NULL);
}

static bool set_error(completion *c, scan_value error)
{
    buf text = BUF_INIT(6 * error.text.len + 32);

    add_string(&text, error.kind == SCAN_OBJECT ? member_of(error, "message") : error);
    if (text.len == 0)
        buf_text(&text, "(no message)");
    bool goes_on = fail(c, "the model's server reports an error: %.*s",
                        (int)slice_cut(buf_as_slice(&text), COMPLETION_SHOWN_MAX), buf_str(&text));
    buf_free(&text);
    return goes_on;
}

/* Returns the choice with index 0, or the first choice if it has no index; SCAN_NONE: none. */
static scan_value find_choice(scan_value choices)
{
    scan_walk walk = scan_enter(choices.kind == SCAN_ARRAY ? choices : (scan_value){0});
    scan_value choice;
    int64_t index;

    for (size_t i = 0; scan_element(&walk, &choice); i++) {
        if (choice.kind != SCAN_OBJECT)
            continue;
        if (read_integer(&index, member_of(choice, "index")) ? index == 0 : i == 0)
            return choice;
    }
    return (scan_value){0};
}

static bool add_chunk(completion *c, scan_value chunk, slice *piece)
{
    scan_value error = member_of(chunk, "error"), usage = member_of(chunk, "usage");
    scan_value choice = find_choice(member_of(chunk, "choices"));
    scan_value delta = member_of(choice, "delta");
    bool is_message = delta.kind != SCAN_OBJECT; /* some servers send "message" instead */

    if (chunk.kind != SCAN_OBJECT)
        return fail(c, "the model's server sent a chunk that is no JSON object");
    if (error.kind != SCAN_NONE && error.kind != SCAN_NULL)
        return set_error(c, error);
    if (!add_delta(c, is_message ? member_of(choice, "message") : delta, is_message, piece))
        return false;
    set_finish_reason(c, member_of(choice, "finish_reason"));
    set_count(&c->prompt_tokens, usage, "prompt_tokens");
    set_count(&c->completion_tokens, usage, "completion_tokens");
    set_count(&c->total_tokens, usage, "total_tokens");
    set_count(&c->cached_tokens, usage, "cached_tokens");
    set_count(&c->cached_tokens, usage, "prompt_cache_hit_tokens");
    set_count(&c->cached_tokens, member_of(usage, "prompt_tokens_details"), "cached_tokens");
    set_cost(&c->cost, member_of(usage, "cost"));
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
    buf text = BUF_INIT(2 * data.len + 64);
    scan_value chunk = {0};
    bool goes_on;

    *piece = (slice){"", 0};
    if (c->is_done || c->error[0] != '\0')
        return false;
    if (slice_equal(data, SLICE("[DONE]"))) {
        c->is_done = true;
        return false;
    }
    replace_surrogates(&text, c->high_surrogate, data);
    if (!buf_ok(&text)) {
        goes_on = fail(c, "out of memory");
    } else {
        if (!scan_check(buf_as_slice(&text), DELTA_DEPTH_MAX, &chunk, NULL, NULL))
            chunk.kind = SCAN_NONE;
        goes_on = add_chunk(c, chunk, piece);
    }
    buf_free(&text);
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
    if (completion_is_blank(c) && c->call_count == 0 && completion_cut_reason(c) == NULL &&
        !c->may_be_empty)
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

bool completion_has_object(const completion_call *call)
{
    scan_value value;

    return call->arguments.len == 0 ||
           (scan_check(buf_as_slice(&call->arguments), COMPLETION_DEPTH_MAX, &value, NULL, NULL) &&
            value.kind == SCAN_OBJECT);
}
