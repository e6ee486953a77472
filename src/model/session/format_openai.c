/*
 * format_openai.c: writes messages for OpenAI's chat completions API. An assistant's content is one
 * string or null, because many servers of this API accept no list of parts. Thinking is left out,
 * unless it was a member of a message of this API. A tool's message contains only text, so images
 * and documents of results follow in a user's message.
 */
#include "model/session/format.h"

#include <ctype.h>
#include "model/content/class.h"

static void put_part(context_writer *w, const context_part *part)
{
    buf *out = &w->out->messages;

    if (part->kind == CONTEXT_TEXT)
        context_put_text(w, out, part->text);
    else if (part->kind == CONTEXT_DOCUMENT)
        context_put_form(w, out,
                         "{\"type\":\"file\",\"file\":{\"filename\":\"$\","
                         "\"file_data\":\"data:$;base64,$\"}}",
                         context_inside(part->name.len > 0 ? part->name : SLICE("document.pdf")),
                         context_inside(part->mime), context_inside(part->data));
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
    size_t of[CONTEXT_PART_KINDS];
} part_counts;

/* True for images and documents that the API accepts. It has no documents by URL. */
static bool is_file(const context_part *part)
{
    return part->kind == CONTEXT_IMAGE || (part->kind == CONTEXT_DOCUMENT && part->data.len > 0);
}

/* True for thinking that is a member of a message of this API. */
static bool is_member(const context_part *part)
{
    return part->kind == CONTEXT_THINKING && part->name.len > 0;
}

/* Reports the parts of a message that are not written. `is_written`: the message itself is. */
static void note_left_out(context_writer *w, const context_message *message, bool is_written)
{
    for (const context_part *part = message->parts; part != NULL; part = part->next) {
        bool is_sent = is_written && is_member(part);
        if (part->kind == CONTEXT_OTHER || (part->kind == CONTEXT_THINKING && !is_sent) ||
            (part->kind == CONTEXT_DOCUMENT && !is_file(part)))
            context_leave_out(w, message, part);
    }
}

static part_counts count_parts(const context_writer *w, const context_message *message)
{
    part_counts counts = {{0}};

    for (const context_part *part = message->parts; part != NULL; part = part->next)
        counts.of[is_file(part) ? CONTEXT_IMAGE : part->kind] += !context_is_empty(w, part);
    return counts;
}

static void put_list(context_writer *w, const context_message *message)
{
    buf *out = &w->out->messages;

    buf_char(out, '[');
    for (const context_part *part = message->parts; part != NULL; part = part->next) {
        bool is_sent = is_file(part) || part->kind == CONTEXT_TEXT;
        if (!is_sent || context_is_empty(w, part))
            continue;
        buf_comma(out);
        put_part(w, part);
    }
    buf_char(out, ']');
}

/* Writes the name of who speaks. The API accepts 64 letters, digits, '_' and '-'. */
static void put_name(context_writer *w, slice speaker)
{
    enum { NAME_MAX_BYTES = 64 };
    buf *out = &w->out->messages;
    size_t count = 0;

    buf_text(out, "\"name\":\"");
    while (speaker.len > 0 && count++ < NAME_MAX_BYTES) {
        uint32_t code = content_next_char(&speaker);
        bool is_valid = code < 0x7F && (isalnum((int)code) || code == '_' || code == '-');
        buf_char(out, is_valid ? (char)code : '_');
    }
    buf_text(out, "\",");
}

/* Writes a user's or system message. The content of a system message is one string. The content of
 * a user's message is one string if it has at most one text and no image, otherwise a list of
 * parts. */
static void put_message(context_writer *w, const context_message *message, const char *role)
{
    part_counts counts = count_parts(w, message);

    context_begin_message(w);
    context_note_sources(w, message);
    note_left_out(w, message, true);
    buf_printf(&w->out->messages, "{\"role\":\"%s\",", role);
    if (message->speaker.len > 0)
        put_name(w, message->speaker);
    buf_text(&w->out->messages, "\"content\":");
    if (message->role == CONTEXT_SYSTEM ||
        (counts.of[CONTEXT_TEXT] <= 1 && counts.of[CONTEXT_IMAGE] == 0))
        context_put_texts(w, message, "\\n\\n");
    else
        put_list(w, message);
    buf_char(&w->out->messages, '}');
    context_end_message(w);
}

static void put_call(context_writer *w, const context_message *message, const context_part *part)
{
    buf *out = &w->out->messages;

    if (part->is_custom) {
        context_put_form(w, out,
                         "{\"id\":\"$\",\"type\":\"custom\",\"custom\":{\"name\":\"$\","
                         "\"input\":\"$\"}}",
                         context_inside(part->call_id), context_inside(part->name),
                         context_inside(scan_string_inside(part->arguments)));
        return;
    }
    context_put_form(w, out,
                     "{\"id\":\"$\",\"type\":\"function\",\"function\":{\"name\":\"$\","
                     "\"arguments\":\"",
                     context_inside(part->call_id), context_inside(part->name));
    context_put_arguments(w, message, part);
    buf_text(out, "\"}}");
}

static void put_calls(context_writer *w, const context_message *message)
{
    buf *out = &w->out->messages;

    buf_text(out, ",\"tool_calls\":[");
    for (const context_part *part = message->parts; part != NULL; part = part->next) {
        if (part->kind != CONTEXT_CALL)
            continue;
        buf_comma(out);
        put_call(w, message, part);
    }
    buf_char(out, ']');
}

/* Writes the thinking of a message as the member that its first such part names. */
static void put_thinking(context_writer *w, const context_message *message)
{
    buf *out = &w->out->messages;
    bool is_open = false;

    for (const context_part *part = message->parts; part != NULL; part = part->next) {
        if (!is_member(part))
            continue;
        if (is_open)
            buf_text(out, "\\n");
        else
            context_put_form(w, out, ",\"$\":\"", context_inside(part->name));
        context_put_inside(w, out, part->text);
        is_open = true;
    }
    if (is_open)
        buf_char(out, '"');
}

static void put_assistant(context_writer *w, const context_message *message)
{
    buf *out = &w->out->messages;
    part_counts counts = count_parts(w, message);

    context_begin_message(w);
    context_note_sources(w, message);
    note_left_out(w, message, true);
    buf_text(out, "{\"role\":\"assistant\",");
    if (message->speaker.len > 0)
        put_name(w, message->speaker);
    buf_text(out, "\"content\":");
    if (counts.of[CONTEXT_TEXT] > 0)
        context_put_texts(w, message, "\\n\\n");
    else
        buf_text(out, "null");
    put_thinking(w, message);
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
    note_left_out(w, message, true);
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
            if (!is_file(part) || context_is_as_stored(w->ctx, at))
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
        if (context_is_as_stored(w->ctx, at))
            context_put_original(w, at);
        else
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

static void leave_out_message(context_writer *w, const context_message *message)
{
    note_left_out(w, message, false);
    context_add_repair(w->ctx, CONTEXT_EMPTY_MESSAGE, message, (slice){"", 0});
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
        if (context_is_as_stored(w->ctx, at))
            context_put_original(w, at);
        else if (context_openai_leaves_out(w, at))
            leave_out_message(w, at);
        else if (at->role == CONTEXT_ASSISTANT)
            put_assistant(w, at);
        else
            put_message(w, at, at->role == CONTEXT_SYSTEM ? "system" : "user");
        at = at->next;
    }
}
