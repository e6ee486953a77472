/*
 * format_openai.c: messages for chat completions. An assistant's content is one string, since many
 * servers of this API take no other; thinking has no place in it; a tool's message holds text only,
 * so that images of results come behind them as a user's message.
 */
#include "model/session/format.h"

static void put_text_part(context_writer *w, const context_part *part)
{
    buf *out = &w->out->messages;

    if (part->kind == CONTEXT_TEXT) {
        buf_text(out, "{\"type\":\"text\",\"text\":");
        context_put_string(w, out, part->text);
        buf_char(out, '}');
        return;
    }
    buf_text(out, "{\"type\":\"image_url\",\"image_url\":{\"url\":\"");
    if (part->url.len > 0) {
        context_put_inside(w, out, context_plain(part->url));
    } else {
        buf_text(out, "data:");
        context_put_inside(w, out, context_plain(part->mime));
        buf_text(out, ";base64,");
        context_put_inside(w, out, context_plain(part->data));
    }
    buf_text(out, "\"}}");
}

/* The parts of a kind that are worth sending. */
static size_t count_parts(const context_writer *w, const context_message *message,
                          context_part_kind kind)
{
    size_t count = 0;

    for (const context_part *part = message->parts; part != NULL; part = part->next)
        count += part->kind == kind && !context_is_empty(w, part);
    return count;
}

/* All texts as one string. */
static void put_texts(context_writer *w, const context_message *message, const char *between)
{
    buf *out = &w->out->messages;
    bool is_first = true;

    buf_char(out, '"');
    for (const context_part *part = message->parts; part != NULL; part = part->next) {
        if (part->kind != CONTEXT_TEXT || context_is_empty(w, part))
            continue;
        if (!is_first)
            buf_text(out, between);
        context_put_inside(w, out, part->text);
        is_first = false;
    }
    buf_char(out, '"');
}

static void put_list(context_writer *w, const context_message *message)
{
    buf *out = &w->out->messages;
    bool is_first = true;

    buf_char(out, '[');
    for (const context_part *part = message->parts; part != NULL; part = part->next) {
        bool is_sent = part->kind == CONTEXT_IMAGE || part->kind == CONTEXT_TEXT;
        if (!is_sent || context_is_empty(w, part))
            continue;
        if (!is_first)
            buf_char(out, ',');
        put_text_part(w, part);
        is_first = false;
    }
    buf_char(out, ']');
}

/* A text alone is a string, and so is a system's whatever it is made of. */
static void put_spoken(context_writer *w, const context_message *message, const char *role)
{
    size_t texts = count_parts(w, message, CONTEXT_TEXT);
    size_t images = count_parts(w, message, CONTEXT_IMAGE);

    context_begin_message(w);
    buf_printf(&w->out->messages, "{\"role\":\"%s\",\"content\":", role);
    if (message->role == CONTEXT_SYSTEM || (texts <= 1 && images == 0))
        put_texts(w, message, "\\n\\n");
    else
        put_list(w, message);
    buf_char(&w->out->messages, '}');
    context_end_message(w);
}

/* This API wants arguments as a string of JSON: the exact bytes, escaped. */
static void put_arguments(context_writer *w, scan_value arguments)
{
    buf *out = &w->out->messages;
    bool is_missing = arguments.kind == SCAN_NONE || arguments.kind == SCAN_NULL ||
                      (arguments.kind == SCAN_STRING && arguments.text.len == 2);

    if (is_missing)
        buf_text(out, "\"{}\"");
    else if (arguments.kind == SCAN_STRING)
        context_put_string(w, out, context_plain(scan_string_inside(arguments)));
    else
        context_put_string(w, out, (context_text){arguments.text, true});
}

static void put_calls(context_writer *w, const context_message *message)
{
    buf *out = &w->out->messages;
    bool is_first = true;

    buf_text(out, ",\"tool_calls\":[");
    for (const context_part *part = message->parts; part != NULL; part = part->next) {
        if (part->kind != CONTEXT_CALL)
            continue;
        buf_text(out, is_first ? "{\"id\":" : ",{\"id\":");
        context_put_string(w, out, context_plain(part->call_id));
        buf_text(out, ",\"type\":\"function\",\"function\":{\"name\":");
        context_put_string(w, out, context_plain(part->name));
        buf_text(out, ",\"arguments\":");
        put_arguments(w, part->arguments);
        buf_text(out, "}}");
        is_first = false;
    }
    buf_char(out, ']');
}

static void put_assistant(context_writer *w, const context_message *message)
{
    buf *out = &w->out->messages;

    context_begin_message(w);
    buf_text(out, "{\"role\":\"assistant\",\"content\":");
    if (count_parts(w, message, CONTEXT_TEXT) > 0)
        put_texts(w, message, "\\n\\n");
    else
        buf_text(out, "null");
    if (count_parts(w, message, CONTEXT_CALL) > 0)
        put_calls(w, message);
    buf_char(out, '}');
    context_end_message(w);
}

static void put_result(context_writer *w, const context_message *message)
{
    buf *out = &w->out->messages;
    size_t texts = count_parts(w, message, CONTEXT_TEXT);
    size_t images = count_parts(w, message, CONTEXT_IMAGE);

    context_begin_message(w);
    buf_text(out, "{\"role\":\"tool\",\"tool_call_id\":");
    context_put_string(w, out, context_plain(message->call_id));
    buf_text(out, ",\"content\":");
    if (texts == 0 && images > 0) {
        buf_text(out, "\"(see the image below)\"");
    } else if (texts == 0 && w->mends) {
        buf_text(out, "\"(no output)\"");
        context_repaired(w->ctx, CONTEXT_EMPTY_RESULT, message->id, message->call);
    } else {
        put_texts(w, message, "\\n");
    }
    buf_char(out, '}');
    context_end_message(w);
}

/* The images of a run of results that ends before `end`. */
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
            buf_char(out, ',');
            put_text_part(w, part);
        }
    }
    if (is_open) {
        buf_text(out, "]}");
        context_end_message(w);
    }
}

/* Gives the message after the run of results. */
static const context_message *put_results(context_writer *w, const context_message *from)
{
    const context_message *at = from;

    for (; at != NULL && at->role == CONTEXT_RESULT; at = at->next)
        put_result(w, at);
    put_images(w, from, at);
    return at;
}

/* Whether a message has anything that this API takes. */
static bool is_worth(const context_writer *w, const context_message *message)
{
    if (!w->mends || count_parts(w, message, CONTEXT_TEXT) > 0)
        return true;
    if (message->role == CONTEXT_ASSISTANT)
        return count_parts(w, message, CONTEXT_CALL) > 0;
    return message->role == CONTEXT_USER && count_parts(w, message, CONTEXT_IMAGE) > 0;
}

void context_write_openai(context_writer *w)
{
    const context_message *at = w->ctx->list.first;

    while (at != NULL) {
        if (at->role == CONTEXT_RESULT) {
            at = put_results(w, at);
            continue;
        }
        if (!is_worth(w, at))
            context_repaired(w->ctx, CONTEXT_EMPTY_MESSAGE, at->id, (slice){"", 0});
        else if (at->role == CONTEXT_ASSISTANT)
            put_assistant(w, at);
        else
            put_spoken(w, at, at->role == CONTEXT_SYSTEM ? "system" : "user");
        at = at->next;
    }
}
