/*
 * format_openai.c: writes messages for OpenAI's chat completions API. An assistant's content is one
 * string or null, because many servers of this API accept no list of parts. Thinking is left out. A
 * tool's message contains only text, so images of results follow in a user's message.
 */
#include "model/session/format.h"

static void put_part(context_writer *w, const context_part *part)
{
    buf *out = &w->out->messages;

    if (part->kind == CONTEXT_TEXT)
        context_put_text(w, out, part->text);
    else if (part->url.len > 0)
        context_put_form(w, out, "{\"type\":\"image_url\",\"image_url\":{\"url\":\"$\"}}",
                         context_inside(part->url));
    else
        context_put_form(w, out,
                         "{\"type\":\"image_url\",\"image_url\":{\"url\":\"data:$;base64,$\"}}",
                         context_inside(part->mime), context_inside(part->data));
}

/* For each context_part_kind, the number of parts of a message for which context_is_empty() is
 * false. */
typedef struct part_counts {
    size_t of[CONTEXT_CALL + 1];
} part_counts;

static part_counts count_parts(const context_writer *w, const context_message *message)
{
    part_counts counts = {{0}};

    for (const context_part *part = message->parts; part != NULL; part = part->next)
        counts.of[part->kind] += !context_is_empty(w, part);
    return counts;
}

static void put_list(context_writer *w, const context_message *message)
{
    buf *out = &w->out->messages;

    buf_char(out, '[');
    for (const context_part *part = message->parts; part != NULL; part = part->next) {
        bool is_sent = part->kind == CONTEXT_IMAGE || part->kind == CONTEXT_TEXT;
        if (!is_sent || context_is_empty(w, part))
            continue;
        buf_comma(out);
        put_part(w, part);
    }
    buf_char(out, ']');
}

/* Writes a user's or system message. The content of a system message is one string. The content of
 * a user's message is one string if it has at most one text and no image, otherwise a list of
 * parts. */
static void put_message(context_writer *w, const context_message *message, const char *role)
{
    part_counts counts = count_parts(w, message);

    context_begin_message(w);
    context_note_sources(w, message);
    buf_printf(&w->out->messages, "{\"role\":\"%s\",\"content\":", role);
    if (message->role == CONTEXT_SYSTEM ||
        (counts.of[CONTEXT_TEXT] <= 1 && counts.of[CONTEXT_IMAGE] == 0))
        context_put_texts(w, message, "\\n\\n");
    else
        put_list(w, message);
    buf_char(&w->out->messages, '}');
    context_end_message(w);
}

/* Returns the arguments of a call as a string with JSON, which the chat completions API requires.
 * The string for an object contains the exact bytes of the object, escaped. */
static context_text arguments_of(scan_value arguments)
{
    if (arguments.kind == SCAN_STRING && arguments.text.len > 2)
        return context_inside(scan_string_inside(arguments));
    if (arguments.kind == SCAN_NONE || arguments.kind == SCAN_NULL || arguments.kind == SCAN_STRING)
        return context_inside(SLICE("{}"));
    return (context_text){arguments.text, true};
}

static void put_calls(context_writer *w, const context_message *message)
{
    buf *out = &w->out->messages;

    buf_text(out, ",\"tool_calls\":[");
    for (const context_part *part = message->parts; part != NULL; part = part->next) {
        if (part->kind != CONTEXT_CALL)
            continue;
        buf_comma(out);
        context_put_form(w, out,
                         "{\"id\":\"$\",\"type\":\"function\",\"function\":{\"name\":\"$\","
                         "\"arguments\":\"$\"}}",
                         context_inside(part->call_id), context_inside(part->name),
                         arguments_of(part->arguments));
    }
    buf_char(out, ']');
}

static void put_assistant(context_writer *w, const context_message *message)
{
    buf *out = &w->out->messages;
    part_counts counts = count_parts(w, message);

    context_begin_message(w);
    context_note_sources(w, message);
    buf_text(out, "{\"role\":\"assistant\",\"content\":");
    if (counts.of[CONTEXT_TEXT] > 0)
        context_put_texts(w, message, "\\n\\n");
    else
        buf_text(out, "null");
    if (counts.of[CONTEXT_CALL] > 0)
        put_calls(w, message);
    buf_char(out, '}');
    context_end_message(w);
}

static void put_result(context_writer *w, const context_message *message)
{
    buf *out = &w->out->messages;
    part_counts counts = count_parts(w, message);
    bool has_text = counts.of[CONTEXT_TEXT] > 0 || message->status.len > 0;

    context_begin_message(w);
    context_note_sources(w, message);
    context_put_form(w, out, "{\"role\":\"tool\",\"tool_call_id\":\"$\",\"content\":",
                     context_inside(message->call_id));
    if (!has_text && counts.of[CONTEXT_IMAGE] > 0) {
        buf_text(out, "\"(see the image below)\"");
    } else if (!has_text && w->repairs_text) {
        buf_text(out, "\"(no output)\"");
        context_add_repair(w->ctx, CONTEXT_EMPTY_RESULT, message, message->call);
    } else {
        context_put_texts(w, message, "\\n");
    }
    buf_char(out, '}');
    context_end_message(w);
}

/* Writes the images of the results from `from` to before `end` as one user's message. If the
 * results have no images, writes nothing. */
static void put_images(context_writer *w, const context_message *from, const context_message *end)
{
    buf *out = &w->out->messages;
    bool is_open = false;

    for (const context_message *at = from; at != end; at = at->next) {
        for (const context_part *part = at->parts; part != NULL; part = part->next) {
            if (part->kind != CONTEXT_IMAGE)
                continue;
            if (!is_open) {
                context_begin_message(w);
                buf_text(out, "{\"role\":\"user\",\"content\":[{\"type\":\"text\",\"text\":"
                              "\"Images from the tool results above:\"}");
                is_open = true;
            }
            context_note_sources(w, at);
            buf_comma(out);
            put_part(w, part);
        }
    }
    if (is_open) {
        buf_text(out, "]}");
        context_end_message(w);
    }
}

/* Writes the consecutive results that begin with `from`, and then their images. Returns the first
 * message after these results. */
static context_message *put_results(context_writer *w, context_message *from)
{
    context_message *at = from;

    for (; at != NULL && at->role == CONTEXT_RESULT; at = at->next) {
        context_mark(w, at);
        put_result(w, at);
    }
    put_images(w, from, at);
    return at;
}

/* Only in a repaired context, messages without content are left out. */
bool context_openai_leaves_out(const context_writer *w, const context_message *message)
{
    part_counts counts = count_parts(w, message);

    return w->repairs_text && counts.of[CONTEXT_TEXT] == 0 &&
           (message->role != CONTEXT_ASSISTANT || counts.of[CONTEXT_CALL] == 0) &&
           (message->role != CONTEXT_USER || counts.of[CONTEXT_IMAGE] == 0);
}

void context_write_openai(context_writer *w)
{
    context_message *at = w->ctx->list.first;

    while (at != NULL) {
        if (at->role == CONTEXT_RESULT) {
            at = put_results(w, at);
            continue;
        }
        context_mark(w, at);
        if (context_openai_leaves_out(w, at))
            context_add_repair(w->ctx, CONTEXT_EMPTY_MESSAGE, at, (slice){"", 0});
        else if (at->role == CONTEXT_ASSISTANT)
            put_assistant(w, at);
        else
            put_message(w, at, at->role == CONTEXT_SYSTEM ? "system" : "user");
        at = at->next;
    }
}
