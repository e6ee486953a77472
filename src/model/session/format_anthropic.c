/*
 * format_anthropic.c: writes messages for Anthropic's API, alternating between user and assistant:
 * consecutive messages of one role become one message, here called a turn. Results are blocks of a
 * user's turn. The system text is written separately.
 */
#include "model/session/format.h"
#include "model/content/class.h"

typedef enum side { SIDE_NONE, SIDE_USER, SIDE_ASSISTANT } side;

typedef struct turns {
    context_writer *w;
    side open; /* the role of the turn that is being written */
} turns;

static void close_turn(turns *t)
{
    if (t->open == SIDE_NONE)
        return;
    buf_text(&t->w->out->messages, "]}");
    context_end_message(t->w);
    t->open = SIDE_NONE;
}

static void open_turn(turns *t, side wanted)
{
    close_turn(t);
    context_begin_message(t->w);
    buf_printf(&t->w->out->messages, "{\"role\":\"%s\",\"content\":[",
               wanted == SIDE_USER ? "user" : "assistant");
    t->open = wanted;
}

/* Begins a block, and a new turn if the role changes. A turn begins with its first block, so no
 * turn is empty. If a repaired context would begin with the assistant, a user's turn is inserted at
 * its start. */
static buf *begin_block(turns *t, const context_message *message)
{
    side wanted = message->role == CONTEXT_ASSISTANT ? SIDE_ASSISTANT : SIDE_USER;
    buf *out = &t->w->out->messages;

    if (wanted == SIDE_ASSISTANT && t->open == SIDE_NONE && t->w->out->count == 0 &&
        t->w->repairs_text) {
        open_turn(t, SIDE_USER);
        buf_text(out, "{\"type\":\"text\",\"text\":\"(the conversation begins with the "
                      "assistant)\"}");
        context_add_repair(t->w->ctx, CONTEXT_FIRST_MESSAGE, message, (slice){"", 0});
    }
    if (t->open != wanted)
        open_turn(t, wanted);
    context_note_sources(t->w, message);
    buf_comma(out);
    return out;
}

/* --- blocks --- */

static void put_image(turns *t, buf *out, const context_part *part)
{
    if (part->url.len > 0)
        context_put_form(t->w, out,
                         "{\"type\":\"image\",\"source\":{\"type\":\"url\",\"url\":\"$\"}}",
                         context_inside(part->url));
    else
        context_put_form(t->w, out,
                         "{\"type\":\"image\",\"source\":{\"type\":\"base64\","
                         "\"media_type\":\"$\",\"data\":\"$\"}}",
                         context_inside(part->mime), context_inside(part->data));
}

static void put_thinking(turns *t, buf *out, const context_part *part)
{
    if (part->is_redacted)
        context_put_form(t->w, out, "{\"type\":\"redacted_thinking\",\"data\":\"$\"}",
                         context_inside(part->signature));
    else
        context_put_form(t->w, out,
                         "{\"type\":\"thinking\",\"thinking\":\"$\",\"signature\":\"$\"}",
                         part->text, context_inside(part->signature));
}

/* Writes the arguments of a call as an object, which Anthropic's API requires. An object, also as
 * JSON in a string, is written without changes except of unpaired surrogates. Absent, null and ""
 * become {}; other values are wrapped in an object. */
static void put_input(turns *t, buf *out, scan_value arguments)
{
    scan_value object = arguments;
    slice text;

    if (session_text_of(&text, arguments, t->w->ctx->memory))
        scan_check(text, CARDBOX_JSON_DEPTH_MAX, &object, NULL, NULL);
    if (object.kind == SCAN_OBJECT) {
        context_put_inside(t->w, out, context_inside(object.text));
    } else if (arguments.kind == SCAN_NONE || arguments.kind == SCAN_NULL ||
               (arguments.kind == SCAN_STRING && arguments.text.len == 2)) {
        buf_text(out, "{}");
    } else {
        buf_text(out, "{\"arguments\":");
        context_put_inside(t->w, out, context_inside(arguments.text));
        buf_char(out, '}');
    }
}

static void put_call(turns *t, buf *out, const context_part *part)
{
    context_put_form(t->w, out, "{\"type\":\"tool_use\",\"id\":\"$\",\"name\":\"$\",\"input\":",
                     context_inside(part->call_id), context_inside(part->name));
    put_input(t, out, part->arguments);
    buf_char(out, '}');
}

/* --- messages --- */

/* A fast check: true means that the text ends in a visible ASCII character. False means that the
 * end of the text is unknown. */
static bool ends_plainly(slice inside)
{
    /* an escape has at most 6 bytes, from its backslash on */
    size_t tail = inside.len < 6 ? inside.len : 6;
    const char *end = inside.ptr + inside.len;

    return tail > 0 && end[-1] > ' ' && end[-1] < 0x7F && memchr(end - tail, '\\', tail) == NULL;
}

/* Removes white space at the end of an assistant's text, because Anthropic's API rejects such white
 * space in the last message. This is done in all of the assistant's messages, since a later message
 * must not change the bytes of earlier messages. */
static context_text without_end(context_text text)
{
    if (text.is_raw) {
        while (text.bytes.len > 0 && (unsigned char)text.bytes.ptr[text.bytes.len - 1] <= ' ')
            text.bytes.len--;
        return text;
    }
    if (ends_plainly(text.bytes))
        return text;
    slice trimmed = content_trim(text.bytes);
    text.bytes.len = (size_t)(trimmed.ptr + trimmed.len - text.bytes.ptr);
    return text;
}

static bool is_sent(const turns *t, const context_part *part)
{
    if (part->kind != CONTEXT_THINKING)
        return !context_is_empty(t->w, part);
    return part->signature.len > 0 &&
           (part->is_redacted || !t->w->repairs_text || !context_is_blank(part->text));
}

/* Returns the last part of a message that is written; NULL: no part is written. In a repaired
 * context, thinking is not returned, because Anthropic's API rejects an assistant's message that
 * ends in thinking. */
static const context_part *last_sent(const turns *t, const context_message *message)
{
    const context_part *last = NULL;

    for (const context_part *part = message->parts; part != NULL; part = part->next) {
        if (is_sent(t, part) && (part->kind != CONTEXT_THINKING || !t->w->repairs_text))
            last = part;
    }
    return last;
}

bool context_anthropic_leaves_out(context_writer *w, const context_message *message)
{
    turns t = {.w = w};

    return last_sent(&t, message) == NULL;
}

static void put_part(turns *t, buf *out, const context_message *message, const context_part *part)
{
    bool is_cut = message->role == CONTEXT_ASSISTANT && t->w->repairs_text;

    switch (part->kind) {
    case CONTEXT_TEXT:
        context_put_text(t->w, out, is_cut ? without_end(part->text) : part->text);
        break;
    case CONTEXT_THINKING:
        put_thinking(t, out, part);
        break;
    case CONTEXT_IMAGE:
        put_image(t, out, part);
        break;
    case CONTEXT_CALL:
        put_call(t, out, part);
        break;
    }
}

static void put_message(turns *t, const context_message *message)
{
    const context_part *last = last_sent(t, message);

    if (last == NULL && t->w->repairs_text) {
        context_add_repair(t->w->ctx, CONTEXT_EMPTY_MESSAGE, message, (slice){"", 0});
        return;
    }
    for (const context_part *part = message->parts; last != NULL; part = part->next) {
        if (is_sent(t, part))
            put_part(t, begin_block(t, message), message, part);
        if (part == last)
            break;
    }
}

static void put_result(turns *t, const context_message *message)
{
    buf *out = begin_block(t, message);
    bool is_empty = true;

    context_put_form(t->w, out, "{\"type\":\"tool_result\",\"tool_use_id\":\"$\",\"content\":[",
                     context_inside(message->call_id));
    for (const context_part *part = message->parts; part != NULL; part = part->next) {
        if (context_is_empty(t->w, part))
            continue;
        if (message->is_error && part->kind != CONTEXT_TEXT && t->w->repairs_text) {
            context_add_repair(t->w->ctx, CONTEXT_DROPPED_BLOCK, message, message->call);
            continue; /* the API accepts only text in the result of a failed call */
        }
        buf_comma(out);
        put_part(t, out, message, part);
        is_empty = false;
    }
    if (is_empty && t->w->repairs_text) {
        context_put_text(t->w, out, context_inside(SLICE("(no output)")));
        context_add_repair(t->w->ctx, CONTEXT_EMPTY_RESULT, message, message->call);
    }
    buf_text(out, message->is_error ? "],\"is_error\":true}" : "]}");
}

void context_write_anthropic(context_writer *w)
{
    turns t = {.w = w};

    context_write_system(w);
    for (context_message *at = w->ctx->list.first; at != NULL; at = at->next) {
        context_mark(w, at);
        if (at->role == CONTEXT_RESULT)
            put_result(&t, at);
        else if (at->role != CONTEXT_SYSTEM)
            put_message(&t, at);
        if (t.open != SIDE_NONE && at->role != CONTEXT_SYSTEM)
            at->number = w->out->count + 1;
    }
    close_turn(&t);
}
