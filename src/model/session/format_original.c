/*
 * format_original.c: writes messages of APIs as they are stored, and mends what strict servers of
 * their API refuse. These are arguments that are no JSON objects, empty lists of calls, answers
 * without content, blank texts, and thinking at the end of an answer.
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

static bool is_nothing(scan_value value)
{
    return value.kind == SCAN_NONE || value.kind == SCAN_NULL;
}

static bool is_empty_list(scan_value value)
{
    return value.kind == SCAN_ARRAY && scan_count(value) == 0;
}

/* Servers of chat completions refuse "tool_calls": [], and an answer without calls whose content is
 * absent, null or []. */
static void mend_answer(context *ctx, context_message *message)
{
    static const char *const NAMES[] = {"content", "audio"};
    const scan_value object = scan_whole(message->original->text);
    const slice end = {object.text.ptr + object.text.len - 1, 0};
    context_removal removal = {.ctx = ctx, .original = message->original};
    scan_walk walk = scan_enter(object);
    scan_value value, found[2];
    slice key;

    session_pick(object, NAMES, found, 2);
    bool needs_content = is_nothing(found[1]) && (is_nothing(found[0]) || is_empty_list(found[0]));
    if (needs_content) {
        bool is_absent = found[0].kind == SCAN_NONE;
        context_edit_original(ctx, message->original, is_absent ? end : found[0].text,
                              is_absent ? SLICE(",\"content\":\"\"") : SLICE("\"\""));
        context_add_repair(ctx, CONTEXT_NO_CONTENT, message, (slice){"", 0});
    }
    while (scan_member(&walk, &key, &value)) {
        const slice member = {key.ptr, (size_t)(value.text.ptr + value.text.len - key.ptr)};
        bool is_removed = scan_string_is(key, SLICE("tool_calls")) && is_empty_list(value);

        context_removal_next(&removal, member, is_removed);
        if (is_removed)
            context_add_repair(ctx, CONTEXT_NO_CALLS, message, (slice){"", 0});
    }
    context_removal_end(&removal);
}

/* --- blocks of Anthropic's API --- */

static bool is_blank_text(const context_part *part)
{
    return part->kind == CONTEXT_TEXT && context_is_blank(part->text);
}

/* Returns the last block of a message that is no blank text, and of an answer no thinking. */
static const context_part *last_block(const context_message *message)
{
    bool is_answer = message->role == CONTEXT_ASSISTANT;
    const context_part *last = NULL;

    for (const context_part *part = message->parts; part != NULL; part = part->next) {
        if (part->block.len > 0 && !is_blank_text(part) &&
            !(is_answer && part->kind == CONTEXT_THINKING))
            last = part;
    }
    return last;
}

/* Removes blank texts, and thinking at the end of an answer. A message of such blocks alone is left
 * out as a whole when it is written. */
static void remove_blocks(context *ctx, context_message *message)
{
    bool is_answer = message->role == CONTEXT_ASSISTANT, is_end = false;
    scan_value content = scan_find(scan_whole(message->original->text), "content"), block;
    context_removal removal = {.ctx = ctx, .original = message->original};
    const context_part *part = message->parts, *last = last_block(message);
    scan_walk walk = scan_enter(content);

    if (content.kind != SCAN_ARRAY || (last == NULL && is_answer))
        return;
    while (scan_element(&walk, &block)) {
        while (part != NULL && part->block.len == 0)
            part = part->next;
        /* Blocks of other sections stay. */
        bool is_own = part != NULL && part->block.ptr == block.text.ptr;
        bool is_removed =
            is_own && (is_blank_text(part) || (is_end && part->kind == CONTEXT_THINKING));

        context_removal_next(&removal, block.text, is_removed);
        if (is_removed)
            context_add_repair(ctx, CONTEXT_DROPPED_BLOCK, message, (slice){"", 0});
        is_end = is_end || (is_answer && is_own && part == last);
        part = is_own ? part->next : part;
    }
    context_removal_end(&removal);
}

void context_mend_original(context *ctx, context_message *message)
{
    bool has_calls = false;

    if (!context_is_as_stored(ctx, message))
        return;
    if (ctx->format == CARDBOX_FORMAT_ANTHROPIC) {
        remove_blocks(ctx, message);
        return;
    }
    if (message->role != CONTEXT_ASSISTANT)
        return;
    for (const context_part *part = message->parts; part != NULL; part = part->next) {
        has_calls = has_calls || part->kind == CONTEXT_CALL;
        if (part->kind == CONTEXT_CALL && !part->is_custom)
            mend_arguments(ctx, message, part);
    }
    if (!has_calls && ctx->format == CARDBOX_FORMAT_OPENAI)
        mend_answer(ctx, message);
}
