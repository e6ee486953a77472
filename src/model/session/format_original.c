/*
 * format_original.c: writes messages of APIs as they are stored, and mends what strict servers of
 * their API refuse: arguments that are no JSON objects, and empty lists of calls.
 */
#include "model/content/class.h"
#include "model/session/format.h"

void context_put_edited(buf *out, const context_original *original, slice part)
{
    const char *end = part.ptr + part.len;

    for (const context_edit *at = original->edits; at != NULL; at = at->next) {
        if (at->old.ptr < part.ptr || at->old.ptr + at->old.len > end)
            continue;
        buf_slice(out, (slice){part.ptr, (size_t)(at->old.ptr - part.ptr)});
        buf_slice(out, at->new);
        part.ptr = at->old.ptr + at->old.len;
    }
    buf_slice(out, (slice){part.ptr, (size_t)(end - part.ptr)});
}

void context_put_original(context_writer *w, const context_message *message)
{
    context_begin_message(w);
    context_note_sources(w, message);
    context_put_edited(&w->out->messages, message->original, message->original->text);
    context_end_message(w);
}

/* --- arguments --- */

/* Returns `text`, JSON or the inside of a JSON string, with U+FFFD for each unpaired surrogate. */
static slice without_halves(context *ctx, slice text)
{
    buf out = BUF_INIT(SIZE_MAX / 4);

    if (!scan_may_have_half(text))
        return text;
    context_put_without_halves(&out, text);
    return arena_keep(ctx->memory, &out);
}

/* Returns {"arguments":VALUE}. */
static slice wrap(context *ctx, slice value)
{
    buf out = BUF_INIT(SIZE_MAX / 4);

    buf_text(&out, "{\"arguments\":");
    buf_slice(&out, value);
    buf_char(&out, '}');
    return arena_keep(ctx->memory, &out);
}

/* Sets `object` to the JSON object in a JSON string. Returns false if the text is no object. */
static bool read_object(context *ctx, scan_value string, slice *object)
{
    scan_value value;
    slice text;

    if (!session_text_of(&text, string, ctx->memory) ||
        !scan_check(text, CARDBOX_JSON_DEPTH_MAX, &value, NULL, NULL) || value.kind != SCAN_OBJECT)
        return false;
    *object = text;
    return true;
}

bool context_object_of(context *ctx, scan_value arguments, slice *object)
{
    scan_value string = arguments;
    slice whole;

    if (arguments.kind == SCAN_OBJECT) {
        *object = without_halves(ctx, arguments.text);
        return slice_equal(*object, arguments.text);
    }
    *object = SLICE("{}");
    if (arguments.kind == SCAN_NONE || arguments.kind == SCAN_NULL)
        return true;
    if (arguments.kind == SCAN_STRING) {
        string.text = without_halves(ctx, arguments.text);
        if (content_trim(scan_inside(string.text)).len == 0)
            return false;
        if (read_object(ctx, string, &whole)) {
            *object = without_halves(ctx, whole);
            return slice_equal(string.text, arguments.text) && slice_equal(*object, whole);
        }
    }
    *object = wrap(ctx, string.text);
    return false;
}

void context_put_arguments(context_writer *w, const context_message *message,
                           const context_part *part)
{
    scan_value arguments = part->arguments;
    slice object = arguments.text;
    bool is_same = !w->repairs_text || context_object_of(w->ctx, arguments, &object);

    if (!is_same)
        context_add_repair(w->ctx, CONTEXT_ARGUMENTS, message, part->call);
    if (is_same && arguments.kind == SCAN_STRING && arguments.text.len > 2)
        buf_slice(&w->out->messages, scan_string_inside(arguments));
    else if (is_same && (arguments.kind == SCAN_STRING || arguments.kind == SCAN_NONE ||
                         arguments.kind == SCAN_NULL))
        buf_text(&w->out->messages, "{}");
    else
        buf_json_inside(&w->out->messages, object);
}

/* --- originals --- */

static void mend_arguments(context *ctx, context_message *message, const context_part *part)
{
    buf token = BUF_INIT(SIZE_MAX / 4);
    slice object;

    if (part->arguments.kind != SCAN_STRING || context_object_of(ctx, part->arguments, &object))
        return;
    buf_json_string(&token, object);
    context_edit_original(ctx, message->original, part->arguments.text,
                          arena_keep(ctx->memory, &token));
    context_add_repair(ctx, CONTEXT_ARGUMENTS, message, part->call);
}

/* Servers of chat completions refuse "tool_calls": []. */
static void remove_empty_calls(context *ctx, context_message *message)
{
    context_removal removal = {.ctx = ctx, .original = message->original};
    scan_walk walk = scan_enter(scan_whole(message->original->text));
    scan_value value;
    slice key;

    while (scan_member(&walk, &key, &value)) {
        const slice member = {key.ptr, (size_t)(value.text.ptr + value.text.len - key.ptr)};
        bool is_empty = scan_string_is(key, SLICE("tool_calls")) && value.kind == SCAN_ARRAY &&
                        scan_count(value) == 0;

        context_removal_next(&removal, member, is_empty);
        if (is_empty)
            context_add_repair(ctx, CONTEXT_NO_CALLS, message, (slice){"", 0});
    }
    context_removal_end(&removal);
}

void context_mend_original(context *ctx, context_message *message)
{
    bool has_calls = false;

    if (!context_is_as_stored(ctx, message) || message->role != CONTEXT_ASSISTANT ||
        ctx->format == CARDBOX_FORMAT_ANTHROPIC)
        return;
    for (const context_part *part = message->parts; part != NULL; part = part->next) {
        has_calls = has_calls || part->kind == CONTEXT_CALL;
        if (part->kind == CONTEXT_CALL && !part->is_custom)
            mend_arguments(ctx, message, part);
    }
    if (!has_calls && ctx->format == CARDBOX_FORMAT_OPENAI)
        remove_empty_calls(ctx, message);
}
