/*
 * format_responses.c: writes items of OpenAI's Responses API. An assistant's message becomes one
 * item with its text, and one for each call. Thinking is left out.
 */
#include "model/session/format.h"

static bool is_file(const context_part *part)
{
    return part->kind == CONTEXT_IMAGE || part->kind == CONTEXT_DOCUMENT;
}

static size_t count_texts(const context_writer *w, const context_message *message)
{
    size_t count = 0;

    for (const context_part *part = message->parts; part != NULL; part = part->next)
        count += part->kind == CONTEXT_TEXT && !context_is_empty(w, part);
    return count;
}

static bool has_files(const context_message *message)
{
    const context_part *part = message->parts;

    while (part != NULL && !is_file(part))
        part = part->next;
    return part != NULL && message->role != CONTEXT_ASSISTANT;
}

static bool has_calls(const context_message *message)
{
    const context_part *part = message->parts;

    while (part != NULL && part->kind != CONTEXT_CALL)
        part = part->next;
    return part != NULL;
}

static void put_file(context_writer *w, const context_part *part)
{
    buf *out = &w->out->messages;
    slice name = part->name.len > 0 ? part->name : SLICE("document.pdf");

    if (part->kind == CONTEXT_IMAGE && part->url.len > 0)
        context_put_form(w, out, "{\"type\":\"input_image\",\"image_url\":\"$\"}",
                         context_inside(part->url));
    else if (part->kind == CONTEXT_IMAGE)
        context_put_form(w, out, "{\"type\":\"input_image\",\"image_url\":\"data:$;base64,$\"}",
                         context_inside(part->mime), context_inside(part->data));
    else if (part->url.len > 0)
        context_put_form(w, out, "{\"type\":\"input_file\",\"file_url\":\"$\"}",
                         context_inside(part->url));
    else
        context_put_form(w, out,
                         "{\"type\":\"input_file\",\"filename\":\"$\","
                         "\"file_data\":\"data:$;base64,$\"}",
                         context_inside(name), context_inside(part->mime),
                         context_inside(part->data));
}

/* Writes texts as one string, or, beside images and documents, a list of parts. */
static void put_content(context_writer *w, const context_message *message, const char *between)
{
    buf *out = &w->out->messages;

    if (!has_files(message)) {
        context_put_texts(w, message, between);
        return;
    }
    buf_char(out, '[');
    if (message->status.len > 0)
        context_put_form(w, out, "{\"type\":\"input_text\",\"text\":\"status: $\"}",
                         context_inside(message->status));
    if (message->speaker.len > 0)
        context_put_form(w, out, "{\"type\":\"input_text\",\"text\":\"$:\"}",
                         context_inside(message->speaker));
    for (const context_part *part = message->parts; part != NULL; part = part->next) {
        bool is_text = part->kind == CONTEXT_TEXT && !context_is_empty(w, part);
        if (!is_text && !is_file(part))
            continue;
        buf_comma(out);
        if (is_text)
            context_put_form(w, out, "{\"type\":\"input_text\",\"text\":\"$\"}", part->text);
        else
            put_file(w, part);
    }
    buf_char(out, ']');
}

static void note_left_out(context_writer *w, const context_message *message)
{
    bool is_assistant = message->role == CONTEXT_ASSISTANT;

    for (const context_part *part = message->parts; part != NULL; part = part->next) {
        if (part->kind == CONTEXT_OTHER || part->kind == CONTEXT_THINKING ||
            (is_file(part) && is_assistant))
            context_leave_out(w, message, part);
    }
}

/* Writes the text, images and documents of a message. */
static void put_text(context_writer *w, const context_message *message)
{
    static const char *const ROLES[] = {
        [CONTEXT_SYSTEM] = "system", [CONTEXT_USER] = "user", [CONTEXT_ASSISTANT] = "assistant"};
    buf *out = &w->out->messages;

    context_begin_message(w);
    context_note_sources(w, message);
    buf_printf(out, "{\"type\":\"message\",\"role\":\"%s\",\"content\":", ROLES[message->role]);
    put_content(w, message, "\\n\\n");
    buf_char(out, '}');
    context_end_message(w);
}

static void put_call(context_writer *w, const context_message *message, const context_part *part)
{
    buf *out = &w->out->messages;

    context_begin_message(w);
    context_note_sources(w, message);
    context_put_form(
        w, out, "{\"type\":\"$\",\"call_id\":\"$\",\"name\":\"$\",\"$\":\"",
        context_inside(part->is_custom ? SLICE("custom_tool_call") : SLICE("function_call")),
        context_inside(part->call_id), context_inside(part->name),
        context_inside(part->is_custom ? SLICE("input") : SLICE("arguments")));
    if (part->is_custom)
        context_put_inside(w, out, context_inside(scan_string_inside(part->arguments)));
    else
        context_put_arguments(w, message, part);
    buf_text(out, "\"}");
    context_end_message(w);
}

static void put_result(context_writer *w, const context_message *message)
{
    buf *out = &w->out->messages;
    bool is_empty = count_texts(w, message) == 0 && !has_files(message) && message->status.len == 0;

    context_begin_message(w);
    context_note_sources(w, message);
    context_put_form(w, out, "{\"type\":\"$\",\"call_id\":\"$\",\"output\":",
                     context_inside(message->is_custom ? SLICE("custom_tool_call_output")
                                                       : SLICE("function_call_output")),
                     context_inside(message->call_id));
    if (is_empty && w->repairs_text) {
        buf_text(out, "\"(no output)\"");
        context_add_repair(w->ctx, CONTEXT_EMPTY_RESULT, message, message->call);
    } else {
        put_content(w, message, "\\n");
    }
    buf_char(out, '}');
    context_end_message(w);
}

bool context_responses_leaves_out(const context_writer *w, const context_message *message)
{
    return w->repairs_text && count_texts(w, message) == 0 && !has_files(message) &&
           !(message->role == CONTEXT_ASSISTANT && has_calls(message));
}

static void put_message(context_writer *w, const context_message *message)
{
    note_left_out(w, message);
    if (message->role == CONTEXT_RESULT) {
        put_result(w, message);
        return;
    }
    if (context_responses_leaves_out(w, message)) {
        context_add_repair(w->ctx, CONTEXT_EMPTY_MESSAGE, message, (slice){"", 0});
        return;
    }
    if (count_texts(w, message) > 0 || has_files(message) || !has_calls(message))
        put_text(w, message);
    for (const context_part *part = message->parts; part != NULL; part = part->next) {
        if (part->kind == CONTEXT_CALL)
            put_call(w, message, part);
    }
}

void context_write_responses(context_writer *w)
{
    context_write_instructions(w);
    for (context_message *at = w->ctx->list.first; at != NULL; at = at->next) {
        context_mark(w, at);
        if (context_is_as_stored(w->ctx, at))
            context_put_original(w, at);
        else
            put_message(w, at);
    }
}
