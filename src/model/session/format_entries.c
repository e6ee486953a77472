/*
 * format_entries.c: writes the original JSON of the entries or cards that became messages. A
 * synthetic result is written as an entry of the dialect of its call, or as a card.
 */
#include "model/session/format.h"

static void put_synthetic(context_writer *w, const context_message *result, slice parent)
{
    buf *out = &w->out->messages;
    context_text call_id = context_inside(result->call_id), text = result->parts->text;

    context_begin_message(w);
    if (result->origin == CONTEXT_OF_PI) {
        buf_text(out, "{\"type\":\"message\"");
        session_put_links(out, SESSION_PI, result->id, parent, result->time);
        context_put_form(
            w, out,
            ",\"message\":{\"role\":\"toolResult\",\"toolCallId\":\"$\",\"toolName\":"
            "\"$\",\"content\":[{\"type\":\"text\",\"text\":\"$\"}],\"isError\":true}}",
            call_id, context_inside(result->name), text);
    } else if (result->origin == CONTEXT_OF_PLAIN) {
        buf_char(out, '{');
        session_put_links(out, SESSION_PLAIN, result->id, parent, result->time);
        context_put_form(w, out,
                         ",\"type\":\"tool_result\",\"toolCallId\":\"$\",\"output\":\"$\","
                         "\"success\":false}",
                         call_id, text);
    } else {
        buf_text(out, "{\"card_id\":");
        buf_json_string(out, result->id);
        context_put_form(w, out,
                         ",\"type\":\"tool.result\",\"content\":{\"status\":\"error\","
                         "\"after_execution\":\"suspend\",\"result\":null,\"error\":{\"code\":"
                         "\"no_result\",\"message\":\"$\"}},\"metadata\":{\"type\":\"tool.result\","
                         "\"role\":\"tool\"},\"tool_call_id\":\"$\"}",
                         text, call_id);
    }
    context_end_message(w);
}

void context_write_entries(context_writer *w)
{
    slice parent = {"", 0}; /* parent of synthetic results: the last assistant's message */
    const context_original *original = NULL; /* the last one that was written */

    for (context_message *at = w->ctx->list.first; at != NULL; at = at->next) {
        context_mark(w, at);
        if (at->role == CONTEXT_ASSISTANT)
            parent = at->id;
        if (at->is_synthetic)
            put_synthetic(w, at, parent);
        if (at->original != NULL && at->original == original)
            continue; /* a further section of a message */
        original = at->original;
        for (const context_source *from = at->sources; from != NULL; from = from->next) {
            context_begin_message(w);
            context_note_source(w, from);
            buf_slice(&w->out->messages, from->text);
            context_end_message(w);
        }
    }
}
