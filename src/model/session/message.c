/*
 * message.c: functions that build the messages of a context.
 */
#include "model/session/message.h"

void context_append(context_list *list, context_message *message)
{
    message->next = NULL;
    if (list->last != NULL)
        list->last->next = message;
    else
        list->first = message;
    list->last = message;
    list->count++;
}

context_message *context_add(context *ctx, context_role role, context_origin origin, slice id,
                             slice text)
{
    context_message *message = arena_zeros(ctx->memory, 1, sizeof(*message));

    if (message == NULL)
        return NULL;
    message->role = role;
    message->is_kept = role == CONTEXT_SYSTEM;
    message->origin = origin;
    message->id = id;
    context_add_source(ctx, message, id, text);
    context_append(&ctx->list, message);
    return message;
}

void context_add_source(context *ctx, context_message *message, slice id, slice text)
{
    context_source *source = arena_zeros(ctx->memory, 1, sizeof(*source));

    if (source == NULL || message == NULL)
        return;
    source->id = id;
    source->text = text;
    if (message->last_source != NULL)
        message->last_source->next = source;
    else
        message->sources = source;
    message->last_source = source;
}

void context_add_part(context *ctx, context_message *message, context_part part)
{
    context_part *added = arena_take(ctx->memory, sizeof(*added));

    if (added == NULL || message == NULL)
        return;
    *added = part;
    if (message->last_part != NULL)
        message->last_part->next = added;
    else
        message->parts = added;
    message->last_part = added;
    message->part_count++;
}

bool context_count_added(context *ctx, size_t bytes)
{
    ctx->made += bytes;
    ctx->is_over = ctx->is_over || ctx->made > ctx->most;
    ctx->memory->failed = ctx->memory->failed || ctx->is_over;
    return !ctx->memory->failed;
}

void context_add_repair(context *ctx, context_repair_kind kind, slice id, slice call)
{
    context_repair *repair = arena_zeros(ctx->memory, 1, sizeof(*repair));

    if (repair == NULL)
        return;
    *repair = (context_repair){NULL, kind, id, call};
    if (ctx->last_repair != NULL)
        ctx->last_repair->next = repair;
    else
        ctx->repairs = repair;
    ctx->last_repair = repair;
}

void context_drop_repairs(context *ctx, context_repair *last)
{
    ctx->last_repair = last;
    if (last != NULL)
        last->next = NULL;
    else
        ctx->repairs = NULL;
}

void context_add_value(context *ctx, context_message *message, scan_value value)
{
    context_part part = {.kind = CONTEXT_TEXT, .text = {value.text, true}};

    if (value.kind == SCAN_NONE || value.kind == SCAN_NULL)
        return;
    if (value.kind == SCAN_STRING)
        part.text = (context_text){scan_string_inside(value), false};
    context_add_part(ctx, message, part);
}

/* --- calls --- */

slice context_call_of(context *ctx, scan_value id)
{
    slice call;

    if (session_text_of(&call, id, ctx->memory))
        return call;
    return scan_string_inside(id);
}

scan_value context_token(context *ctx, slice text)
{
    buf token = BUF_INIT(6 * text.len + 2);

    if (text.len == 0)
        return (scan_value){SCAN_NONE, {NULL, 0}};
    buf_json_string(&token, text);
    slice kept = arena_keep(ctx->memory, &token);
    return (scan_value){kept.ptr != NULL ? SCAN_STRING : SCAN_NONE, kept};
}

bool context_call_is_open(const context *ctx, slice call)
{
    return string_map_get(&ctx->open_calls, call) == 1;
}

/* Makes an id for a call without an id, from the id of the message and the position of the call
 * among all parts of the message. */
static slice made_call_id(context *ctx, const context_message *message)
{
    buf name = BUF_INIT(32);

    buf_text(&name, "call ");
    buf_int(&name, (int64_t)message->part_count + 1);
    slice made = slice_of(session_make_id(message->id, buf_as_slice(&name), ctx->memory));
    buf_free(&name);
    return made;
}

void context_add_call(context *ctx, context_message *message, scan_value id, scan_value name,
                      scan_value arguments)
{
    context_part part = {.kind = CONTEXT_CALL,
                         .call = context_call_of(ctx, id),
                         .call_id = scan_string_inside(id),
                         .name = scan_string_inside(name),
                         .arguments = arguments};

    if (part.call_id.len == 0)
        part.call = part.call_id = made_call_id(ctx, message);
    context_add_part(ctx, message, part);
    string_map_set(&ctx->open_calls, part.call, 1);
}

void context_set_call(context *ctx, context_message *result, scan_value id, scan_value name)
{
    if (result == NULL)
        return;
    result->call = context_call_of(ctx, id);
    result->call_id = scan_string_inside(id);
    result->name = scan_string_inside(name);
    string_map_set(&ctx->open_calls, result->call, 0);
}

/* --- blocks --- */

/* The members of blocks of all types. One pass over a block reads all of its members. */
enum {
    BLOCK_TYPE,
    BLOCK_TEXT,
    BLOCK_THINKING,
    BLOCK_SIGNATURE,
    BLOCK_REDACTED,
    BLOCK_DATA,
    BLOCK_MIME,
    BLOCK_ID,
    BLOCK_NAME,
    BLOCK_ARGUMENTS,
    BLOCK_MEMBERS
};

static void add_thinking(context *ctx, context_message *message, const scan_value *found)
{
    const context_part part = {.kind = CONTEXT_THINKING,
                               .text = {scan_string_inside(found[BLOCK_THINKING]), false},
                               .signature = scan_string_inside(found[BLOCK_SIGNATURE]),
                               .is_redacted = found[BLOCK_REDACTED].kind == SCAN_TRUE};

    context_add_part(ctx, message, part);
}

/* Models accept images of these MIME types. */
static bool is_image(scan_value mime)
{
    static const char *const KINDS[] = {"image/png", "image/jpeg", "image/gif", "image/webp"};

    for (size_t i = 0; i < sizeof(KINDS) / sizeof(KINDS[0]); i++) {
        if (session_string_is(mime, KINDS[i]))
            return true;
    }
    return false;
}

static bool add_image(context *ctx, context_message *message, const scan_value *found)
{
    const context_part part = {.kind = CONTEXT_IMAGE,
                               .data = scan_string_inside(found[BLOCK_DATA]),
                               .mime = scan_string_inside(found[BLOCK_MIME])};

    if (part.data.len == 0 || !is_image(found[BLOCK_MIME]))
        return false;
    context_add_part(ctx, message, part);
    return true;
}

/* Adds a block to a message. Returns false, with nothing added, if the block can't be sent in a
 * message of this role. */
static bool add_block(context *ctx, context_message *message, const scan_value *found)
{
    scan_value type = found[BLOCK_TYPE], text = found[BLOCK_TEXT];

    if (session_string_is(type, "text")) {
        if (text.kind != SCAN_STRING)
            return false;
        context_add_value(ctx, message, text);
        return true;
    }
    if (session_string_is(type, "image") &&
        (message->role == CONTEXT_USER || message->role == CONTEXT_RESULT))
        return add_image(ctx, message, found);
    if (message->role != CONTEXT_ASSISTANT)
        return false;
    if (session_string_is(type, "thinking"))
        add_thinking(ctx, message, found);
    else if (session_string_is(type, "toolCall"))
        context_add_call(ctx, message, found[BLOCK_ID], found[BLOCK_NAME], found[BLOCK_ARGUMENTS]);
    else
        return false;
    return true;
}

void context_add_content(context *ctx, context_message *message, scan_value content)
{
    static const char *const NAMES[BLOCK_MEMBERS] = {
        "type",     "text", "thinking", "thinkingSignature", "redacted", "data",
        "mimeType", "id",   "name",     "arguments",
    };
    scan_walk walk = scan_enter(content);
    scan_value found[BLOCK_MEMBERS];

    if (message == NULL)
        return;
    if (content.kind != SCAN_ARRAY) {
        context_add_value(ctx, message, content);
        return;
    }
    while (scan_to_element(&walk)) {
        if (session_pick_next(&walk, NAMES, found, BLOCK_MEMBERS).kind == SCAN_NONE)
            break;
        if (!add_block(ctx, message, found))
            context_add_repair(ctx, CONTEXT_DROPPED_BLOCK, message->id, (slice){"", 0});
    }
}
