/*
 * format_messages.c: writes messages of the roles user, assistant and tool in a format that is not
 * that of a model's API. The content is one string, so images are left out, and blank texts are
 * kept. The system text is written separately.
 */
#include "model/session/format.h"

/* Writes the arguments of a message of an API as an object, as the other formats do. */
static void put_object(context_writer *w, const context_message *message, const context_part *part)
{
    slice object;

    if (!context_object_of(w->ctx, part->arguments, &object) && w->ctx->is_repaired)
        context_add_repair(w->ctx, CONTEXT_ARGUMENTS, message, part->call);
    buf_slice(&w->out->messages, object);
}

/* Writes the arguments of a call as they are. A card may have an object as JSON in a string, which
 * is written as the object. Absent arguments become {}. */
static void put_params(context_writer *w, context_origin origin, scan_value arguments)
{
    scan_value object = {SCAN_NONE, {NULL, 0}};
    slice text;

    if (origin == CONTEXT_OF_CARD && session_text_of(&text, arguments, w->ctx->memory))
        scan_check(text, CARDBOX_JSON_DEPTH_MAX, &object, NULL, NULL);
    if (object.kind == SCAN_OBJECT)
        arguments = object;
    if (arguments.kind == SCAN_NONE)
        arguments.text = SLICE("{}");
    context_put_inside(w, &w->out->messages, context_inside(arguments.text));
}

static void put_calls(context_writer *w, const context_message *message)
{
    buf *out = &w->out->messages;
    size_t count = 0;

    for (const context_part *part = message->parts; part != NULL; part = part->next) {
        if (part->kind != CONTEXT_CALL)
            continue;
        buf_text(out, count++ == 0 ? ",\"toolCalls\":[" : ",");
        context_put_form(w, out,
                         "{\"id\":\"$\",\"name\":\"$\",\"params\":", context_inside(part->call_id),
                         context_inside(part->name));
        if (message->origin == CONTEXT_OF_API)
            put_object(w, message, part);
        else
            put_params(w, message->origin, part->arguments);
        buf_char(out, '}');
    }
    if (count > 0)
        buf_char(out, ']');
}

static void put_message(context_writer *w, const context_message *message)
{
    static const char *const ROLES[] = {
        [CONTEXT_USER] = "user",
        [CONTEXT_ASSISTANT] = "assistant",
        [CONTEXT_RESULT] = "tool",
    };
    buf *out = &w->out->messages;
    bool is_result = message->role == CONTEXT_RESULT;

    context_begin_message(w);
    context_note_sources(w, message);
    buf_printf(out, "{\"role\":\"%s\",\"content\":", ROLES[message->role]);
    context_put_texts(w, message, is_result ? "\\n" : "\\n\\n");
    put_calls(w, message);
    if (is_result)
        context_put_form(w, out, ",\"toolCallId\":\"$\"", context_inside(message->call_id));
    buf_char(out, '}');
    context_end_message(w);
    for (const context_part *part = message->parts; part != NULL; part = part->next) {
        if (part->kind != CONTEXT_TEXT && part->kind != CONTEXT_CALL)
            context_leave_out(w, message, part);
    }
}

void context_write_messages(context_writer *w)
{
    context_write_system(w);
    for (context_message *at = w->ctx->list.first; at != NULL; at = at->next) {
        context_mark(w, at);
        if (at->role != CONTEXT_SYSTEM)
            put_message(w, at);
    }
}
