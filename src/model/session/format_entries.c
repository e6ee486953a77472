/*
 * format_entries.c: the entries or cards that give messages, as they are. A synthetic result is
 * written in the dialect of its call.
 */
#include "model/session/format.h"

static void put_linked(context_writer *w, const context_message *result, slice parent)
{
    buf *out = &w->out->messages;

    buf_text(out, "\"id\":");
    buf_json_string(out, result->id);
    buf_text(out, ",\"parentId\":");
    buf_json_string(out, parent);
    if (result->time.len > 0) {
        buf_text(out, ",\"timestamp\":");
        buf_slice(out, result->time);
    }
}

static void put_call_id(context_writer *w, const context_message *result)
{
    context_put_string(w, &w->out->messages, context_plain(result->call_id));
}

static void put_synthetic_pi(context_writer *w, const context_message *result, slice parent)
{
    buf *out = &w->out->messages;

    buf_text(out, "{\"type\":\"message\",");
    put_linked(w, result, parent);
    buf_text(out, ",\"message\":{\"role\":\"toolResult\",\"toolCallId\":");
    put_call_id(w, result);
    buf_text(out, ",\"toolName\":");
    context_put_string(w, out, context_plain(result->name));
    buf_text(out, ",\"content\":[{\"type\":\"text\",\"text\":");
    context_put_string(w, out, result->parts->text);
    buf_text(out, "}],\"isError\":true}}");
}

static void put_synthetic_plain(context_writer *w, const context_message *result, slice parent)
{
    buf *out = &w->out->messages;

    buf_char(out, '{');
    put_linked(w, result, parent);
    buf_text(out, ",\"type\":\"tool_result\",\"toolCallId\":");
    put_call_id(w, result);
    buf_text(out, ",\"output\":");
    context_put_string(w, out, result->parts->text);
    buf_text(out, ",\"success\":false}");
}

static void put_synthetic_card(context_writer *w, const context_message *result)
{
    buf *out = &w->out->messages;

    buf_text(out, "{\"card_id\":");
    buf_json_string(out, result->id);
    buf_text(out, ",\"type\":\"tool.result\",\"content\":{\"status\":\"error\",\"after_execution\":"
                  "\"suspend\",\"result\":null,\"error\":{\"code\":\"no_result\",\"message\":");
    context_put_string(w, out, result->parts->text);
    buf_text(out, "}},\"metadata\":{\"type\":\"tool.result\",\"role\":\"tool\"},\"tool_call_id\":");
    put_call_id(w, result);
    buf_char(out, '}');
}

static void put_synthetic(context_writer *w, const context_message *result, slice parent)
{
    context_begin_message(w);
    if (result->origin == CONTEXT_OF_PI)
        put_synthetic_pi(w, result, parent);
    else if (result->origin == CONTEXT_OF_PLAIN)
        put_synthetic_plain(w, result, parent);
    else
        put_synthetic_card(w, result);
    context_end_message(w);
}

void context_write_entries(context_writer *w)
{
    slice parent = {"", 0}; /* of synthetic results: the call's own */

    for (const context_message *at = w->ctx->list.first; at != NULL; at = at->next) {
        if (at->role == CONTEXT_ASSISTANT)
            parent = at->id;
        if (at->is_synthetic)
            put_synthetic(w, at, parent);
        for (const context_source *from = at->sources; from != NULL; from = from->next) {
            context_begin_message(w);
            buf_slice(&w->out->messages, from->text);
            context_end_message(w);
        }
    }
}
