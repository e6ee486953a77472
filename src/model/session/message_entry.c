/*
 * message_entry.c: entries of both dialects as messages. Summaries and a user's own commands get an
 * introduction, because the model sees only the text.
 */
#include "model/session/message.h"

/* Adds a text that is joined from `count` insides of JSON strings. */
static void add_joined(context *ctx, context_message *message, const slice *pieces, size_t count)
{
    context_part *part = context_add_part(ctx, message, CONTEXT_TEXT);
    size_t len = 0;
    char *text;

    for (size_t i = 0; i < count; i++)
        len += pieces[i].len;
    text = arena_take(ctx->memory, len + 1);
    if (part == NULL || text == NULL)
        return;
    part->text = (context_text){{text, len}, false};
    for (size_t i = 0; i < count; i++) {
        if (pieces[i].len > 0)
            memcpy(text, pieces[i].ptr, pieces[i].len);
        text += pieces[i].len;
    }
}

static context_message *add(context *ctx, const session_entry *entry, context_role role)
{
    context_origin origin =
        session_kind_dialect(entry->kind) == SESSION_PI ? CONTEXT_OF_PI : CONTEXT_OF_PLAIN;
    context_message *message = context_add(ctx, role, origin, entry->id, entry->text);

    if (message != NULL)
        message->time = entry->timestamp;
    return message;
}

static void add_summary(context *ctx, const session_entry *entry)
{
    bool is_branch = entry->kind == SESSION_BRANCH_SUMMARY;
    slice pieces[] = {
        is_branch ? SLICE(SESSION_BRANCH_BEGINS)
                  : SLICE("The earlier part of this conversation was replaced by this summary of "
                          "it:\\n\\n<summary>\\n"),
        scan_string_inside(entry->content),
        SLICE(SESSION_SUMMARY_ENDS),
    };

    add_joined(ctx, add(ctx, entry, CONTEXT_USER), pieces, 3);
}

/* Appends how a user's command ended. */
static size_t add_outcome(slice *pieces, scan_value cancelled, scan_value exit_code)
{
    bool is_zero = exit_code.kind == SCAN_NUMBER && slice_equal(exit_code.text, SLICE("0"));

    if (cancelled.kind == SCAN_TRUE) {
        pieces[0] = SLICE("\\n\\n(the command was cancelled)");
        return 1;
    }
    if (exit_code.kind != SCAN_NUMBER || is_zero)
        return 0;
    pieces[0] = SLICE("\\n\\nThe command exited with code ");
    pieces[1] = exit_code.text;
    return 2;
}

static size_t add_cut(slice *pieces, scan_value truncated, scan_value path)
{
    if (truncated.kind != SCAN_TRUE)
        return 0;
    if (path.kind != SCAN_STRING) {
        pieces[0] = SLICE("\\n\\n[The output was truncated]");
        return 1;
    }
    pieces[0] = SLICE("\\n\\n[The output was truncated; all of it is in ");
    pieces[1] = scan_string_inside(path);
    pieces[2] = SLICE("]");
    return 3;
}

/* Returns a fence longer than any run of back quotes in the output, so that the output can't
 * end it. */
static slice fence_for(slice output, arena *memory)
{
    size_t longest = 2, run = 0;
    char *fence;

    for (size_t i = 0; i < output.len; i++) {
        run = output.ptr[i] == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    fence = arena_take(memory, longest + 1);
    if (fence == NULL)
        return (slice){"", 0};
    memset(fence, '`', longest + 1);
    return (slice){fence, longest + 1};
}

static void add_bash(context *ctx, const session_entry *entry)
{
    static const char *const NAMES[] = {"command",  "output",    "cancelled",
                                        "exitCode", "truncated", "fullOutputPath"};
    scan_value found[6];
    slice pieces[16], output;
    size_t count = 0;

    session_pick(entry->body, NAMES, found, 6);
    output = scan_string_inside(found[1]);
    pieces[count++] = SLICE("Ran `");
    pieces[count++] = scan_string_inside(found[0]);
    pieces[count++] = output.len > 0 ? SLICE("`\\n") : SLICE("`\\n(no output)");
    if (output.len > 0) {
        slice fence = fence_for(output, ctx->memory);
        pieces[count++] = fence;
        pieces[count++] = SLICE("\\n");
        pieces[count++] = output;
        pieces[count++] = SLICE("\\n");
        pieces[count++] = fence;
    }
    count += add_outcome(pieces + count, found[2], found[3]);
    count += add_cut(pieces + count, found[4], found[5]);
    add_joined(ctx, add(ctx, entry, CONTEXT_USER), pieces, count);
}

static void add_assistant(context *ctx, const session_entry *entry)
{
    context_message *message = add(ctx, entry, CONTEXT_ASSISTANT);
    scan_value stop = entry->fields[SESSION_FIELD_STOP_REASON];

    if (message == NULL)
        return;
    message->has_failed = session_string_is(stop, "error") || session_string_is(stop, "aborted");
    context_add_content(ctx, message, entry->content);
    if (session_string_is(entry->fields[SESSION_FIELD_API], "anthropic-messages"))
        return;
    for (context_part *part = message->parts; part != NULL; part = part->next)
        part->signature = (slice){"", 0}; /* only Anthropic's API accepts its thinking again */
}

static void add_result(context *ctx, const session_entry *entry)
{
    context_message *message = add(ctx, entry, CONTEXT_RESULT);
    const scan_value *fields = entry->fields;

    if (message == NULL)
        return;
    context_set_call(ctx, message, entry->target, fields[SESSION_FIELD_TOOL_NAME]);
    message->is_error = entry->kind == SESSION_MESSAGE
                            ? fields[SESSION_FIELD_IS_ERROR].kind == SCAN_TRUE
                            : fields[SESSION_FIELD_SUCCESS].kind == SCAN_FALSE;
    if (entry->kind == SESSION_MESSAGE)
        context_add_content(ctx, message, entry->content);
    else
        context_add_value(ctx, message, entry->content);
}

/* --- plain --- */

static void add_plain_assistant(context *ctx, const session_entry *entry)
{
    static const char *const NAMES[] = {"thinking", "toolCalls"};
    static const char *const CALL[] = {"id", "name", "params"};
    context_message *message = add(ctx, entry, CONTEXT_ASSISTANT);
    scan_value found[2], call[3], element;

    if (message == NULL)
        return;
    session_pick(entry->value, NAMES, found, 2);
    if (found[0].kind == SCAN_STRING) {
        context_part *part = context_add_part(ctx, message, CONTEXT_THINKING);
        if (part != NULL)
            part->text = (context_text){scan_string_inside(found[0]), false};
    }
    context_add_content(ctx, message, entry->content);
    scan_walk walk = scan_enter(found[1].kind == SCAN_ARRAY ? found[1] : (scan_value){0});
    while (scan_element(&walk, &element)) {
        session_pick(element, CALL, call, 3);
        context_add_call(ctx, message, call[0], call[1], call[2]);
    }
}

/* Adds a call that is a separate entry. It becomes part of the assistant's message directly
 * before it. A call that is already open is the same call. */
static void add_plain_tool(context *ctx, const session_entry *entry)
{
    context_message *last = ctx->list.last;
    slice call = context_call_of(ctx, entry->target);
    scan_value name = scan_find(entry->value, "name");

    if (last != NULL && call.len > 0 && context_call_is_open(ctx, call)) {
        context_add_source(ctx, last, entry->id, entry->text);
        return;
    }
    if (last != NULL && last->role == CONTEXT_ASSISTANT && last->origin == CONTEXT_OF_PLAIN)
        context_add_source(ctx, last, entry->id, entry->text);
    else
        last = add(ctx, entry, CONTEXT_ASSISTANT);
    if (last != NULL)
        context_add_call(ctx, last, entry->target, name, entry->content);
}

static void add_role(context *ctx, const session_entry *entry)
{
    static const context_role ROLES[] = {
        [SESSION_ROLE_USER] = CONTEXT_USER,
        [SESSION_ROLE_CUSTOM] = CONTEXT_USER,
        [SESSION_ROLE_SYSTEM] = CONTEXT_SYSTEM,
    };

    if (entry->role == SESSION_ROLE_ASSISTANT)
        add_assistant(ctx, entry);
    else if (entry->role == SESSION_ROLE_TOOL_RESULT)
        add_result(ctx, entry);
    else if (entry->role == SESSION_ROLE_BASH)
        add_bash(ctx, entry);
    else
        context_add_content(ctx, add(ctx, entry, ROLES[entry->role]), entry->content);
}

void context_add_entry(context *ctx, const session_entry *entry)
{
    if (!entry->in_context)
        return;
    switch (entry->kind) {
    case SESSION_COMPACTION:
    case SESSION_BRANCH_SUMMARY:
        add_summary(ctx, entry);
        break;
    case SESSION_PLAIN_ASSISTANT:
        add_plain_assistant(ctx, entry);
        break;
    case SESSION_PLAIN_TOOL:
        add_plain_tool(ctx, entry);
        break;
    default:
        add_role(ctx, entry);
    }
}
