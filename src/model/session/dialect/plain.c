/*
 * plain.c: the dialect plain: the types user, assistant, tool, tool_result, system and metadata of
 * the source document, messages of models' APIs, and settings of requests.
 */
#include "model/session/dialect/dialect.h"

static bool recognise(const dialect_line *line)
{
    return session_kind_has_dialect(line->kind) &&
           (session_kind_dialect(line->kind) == SESSION_PLAIN || dialect_is_of_api(line));
}

/* An entry of the type "message" with the format of an API, and an object as its message, has the
 * kind SESSION_PLAIN_MESSAGE. */
static bool classify(session_entry *out, const dialect_line *line, arena *memory)
{
    out->format = dialect_format(line);
    if (dialect_is_of_api(line))
        dialect_set_message(out, line->found[LINE_MESSAGE], (cardbox_format)out->format);
    else
        dialect_read_body(out, line, memory);
    return true;
}

/* --- messages --- */

static void add_plain_assistant(context *ctx, const session_entry *entry)
{
    static const char *const NAMES[] = {"thinking", "toolCalls"};
    static const char *const CALL[] = {"id", "name", "params"};
    context_message *message = dialect_add(ctx, entry, CONTEXT_ASSISTANT, CONTEXT_OF_PLAIN);
    scan_value found[2], call[3], element;

    if (message == NULL)
        return;
    session_pick(entry->value, NAMES, found, 2);
    message->speaker = scan_string_inside(entry->fields[SESSION_FIELD_NAME]);
    if (found[0].kind == SCAN_STRING)
        context_add_part(ctx, message,
                         (context_part){.kind = CONTEXT_THINKING,
                                        .text = {scan_string_inside(found[0]), false}});
    context_add_content(ctx, message, entry->content);
    scan_walk walk = scan_enter(found[1].kind == SCAN_ARRAY ? found[1] : (scan_value){0});
    while (scan_element(&walk, &element)) {
        session_pick(element, CALL, call, 3);
        context_add_call(ctx, message, call[0], call[1], call[2]);
    }
}

/* Adds a "tool" entry, which is a call. If the last message is an assistant's in the plain dialect,
 * the call becomes part of that message, otherwise of a new message. If a call with the same id was
 * added before and has no result yet, both count as one call, which is not added again. */
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
        last = dialect_add(ctx, entry, CONTEXT_ASSISTANT, CONTEXT_OF_PLAIN);
    if (last != NULL)
        context_add_call(ctx, last, entry->target, name, entry->content);
}

static size_t message(context *ctx, const dialect_path *path, size_t at)
{
    const session_entry *entry = path->entries[at];

    if (entry->kind == SESSION_PLAIN_MESSAGE)
        dialect_add_api(ctx, entry);
    else if (entry->kind == SESSION_COMPACTION)
        dialect_add_summary(ctx, entry, CONTEXT_OF_PLAIN);
    else if (entry->kind == SESSION_PLAIN_ASSISTANT)
        add_plain_assistant(ctx, entry);
    else if (entry->kind == SESSION_PLAIN_TOOL)
        add_plain_tool(ctx, entry);
    else if (entry->role == SESSION_ROLE_TOOL_RESULT)
        dialect_add_result(ctx, entry, CONTEXT_OF_PLAIN);
    else
        dialect_add_text(ctx, entry, CONTEXT_OF_PLAIN);
    return at + 1;
}

const dialect_table DIALECT_PLAIN = {
    .name = "plain",
    .file = "a session of CardBox",
    .recognise = recognise,
    .id = dialect_id,
    .parent = dialect_parent,
    .classify = classify,
    .message = message,
};
