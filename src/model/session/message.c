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

void context_add_tools(context *ctx, slice id)
{
    context_source *source = arena_zeros(ctx->memory, 1, sizeof(*source));

    if (source == NULL)
        return;
    source->id = id;
    if (ctx->last_tools != NULL)
        ctx->last_tools->next = source;
    else
        ctx->tools = source;
    ctx->last_tools = source;
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

void context_add_repair(context *ctx, context_repair_kind kind, const context_message *message,
                        slice call)
{
    context_repair *repair = arena_zeros(ctx->memory, 1, sizeof(*repair));

    if (repair == NULL)
        return;
    *repair = (context_repair){NULL, kind, message, call};
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

bool context_is_as_stored(const context *ctx, const context_message *message)
{
    return message->original != NULL && message->original->format == ctx->format;
}

void context_edit_original(context *ctx, context_original *original, slice old, slice new)
{
    context_edit *edit = arena_zeros(ctx->memory, 1, sizeof(*edit));
    context_edit **end = &original->edits;

    if (edit == NULL)
        return;
    while (*end != NULL && (*end)->old.ptr <= old.ptr)
        end = &(*end)->next;
    *edit = (context_edit){*end, old, new};
    *end = edit;
}

static void remove_until(context_removal *removal, const char *from, const char *to)
{
    context_edit_original(removal->ctx, removal->original, (slice){from, (size_t)(to - from)},
                          SLICE(""));
}

void context_removal_next(context_removal *removal, slice text, bool is_removed)
{
    if (is_removed) {
        removal->from = removal->from != NULL ? removal->from : text.ptr;
        removal->to = text.ptr + text.len;
        return;
    }
    if (removal->from != NULL)
        remove_until(removal, removal->from, text.ptr);
    removal->from = NULL;
    removal->kept_end = text.ptr + text.len;
}

void context_removal_end(context_removal *removal)
{
    if (removal->from != NULL)
        remove_until(removal, removal->kept_end != NULL ? removal->kept_end : removal->from,
                     removal->to);
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

    part.has_made_id = part.call_id.len == 0;
    if (part.has_made_id)
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
