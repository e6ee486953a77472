/*
 * format_anthropic.c: messages for Anthropic's API. Turns alternate, so that messages of one side
 * that follow each other are one; results are blocks of the user's turn; the system is apart.
 */
#include "model/session/format.h"
#include "model/content/class.h"

typedef enum side { SIDE_NONE, SIDE_USER, SIDE_ASSISTANT } side;

typedef struct turns {
    context_writer *w;
    side open;         /* the turn under way */
    bool has_block;    /* in it */
    bool is_after_any; /* not the first turn */
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
    t->has_block = false;
    t->is_after_any = true;
}

/* Begins a block of a message; the turn opens with its first one, so that none is empty. */
static buf *begin_block(turns *t, const context_message *message)
{
    side wanted = message->role == CONTEXT_ASSISTANT ? SIDE_ASSISTANT : SIDE_USER;
    buf *out = &t->w->out->messages;

    if (wanted == SIDE_ASSISTANT && !t->is_after_any && t->w->mends) {
        open_turn(t, SIDE_USER);
        buf_text(out, "{\"type\":\"text\",\"text\":\"(the conversation begins with the "
                      "assistant)\"}");
        context_repaired(t->w->ctx, CONTEXT_FIRST_MESSAGE, message->id, (slice){"", 0});
    }
    if (t->open != wanted)
        open_turn(t, wanted);
    if (t->has_block)
        buf_char(out, ',');
    t->has_block = true;
    return out;
}

/* --- blocks --- */

static void put_text(turns *t, buf *out, context_text text)
{
    buf_text(out, "{\"type\":\"text\",\"text\":");
    context_put_string(t->w, out, text);
    buf_char(out, '}');
}

static void put_image(turns *t, buf *out, const context_part *part)
{
    buf_text(out, "{\"type\":\"image\",\"source\":{\"type\":");
    if (part->url.len > 0) {
        buf_text(out, "\"url\",\"url\":");
        context_put_string(t->w, out, context_plain(part->url));
    } else {
        buf_text(out, "\"base64\",\"media_type\":");
        context_put_string(t->w, out, context_plain(part->mime));
        buf_text(out, ",\"data\":");
        context_put_string(t->w, out, context_plain(part->data));
    }
    buf_text(out, "}}");
}

static void put_thinking(turns *t, buf *out, const context_part *part)
{
    if (part->is_redacted) {
        buf_text(out, "{\"type\":\"redacted_thinking\",\"data\":");
    } else {
        buf_text(out, "{\"type\":\"thinking\",\"thinking\":");
        context_put_string(t->w, out, part->text);
        buf_text(out, ",\"signature\":");
    }
    context_put_string(t->w, out, context_plain(part->signature));
    buf_char(out, '}');
}

/* Arguments that a string holds, if they are an object. */
static bool put_decoded(turns *t, buf *out, scan_value arguments)
{
    slice text;
    scan_value value;

    if (!session_text_of(&text, arguments, t->w->ctx->memory) ||
        !scan_check(text, CARDBOX_JSON_DEPTH_MAX, &value, NULL, NULL) || value.kind != SCAN_OBJECT)
        return false;
    context_put_inside(t->w, out, context_plain(value.text));
    return true;
}

/* This API wants an object: the exact bytes. An escape is found in JSON's strings only, so that
 * what mends a string mends an object too. */
static void put_input(turns *t, buf *out, scan_value arguments)
{
    if (arguments.kind == SCAN_OBJECT) {
        context_put_inside(t->w, out, context_plain(arguments.text));
    } else if (arguments.kind == SCAN_NONE || arguments.kind == SCAN_NULL ||
               (arguments.kind == SCAN_STRING && arguments.text.len == 2)) {
        buf_text(out, "{}");
    } else if (arguments.kind != SCAN_STRING || !put_decoded(t, out, arguments)) {
        buf_text(out, "{\"arguments\":");
        context_put_inside(t->w, out, context_plain(arguments.text));
        buf_char(out, '}');
    }
}

static void put_call(turns *t, buf *out, const context_part *part)
{
    buf_text(out, "{\"type\":\"tool_use\",\"id\":");
    context_put_string(t->w, out, context_plain(part->call_id));
    buf_text(out, ",\"name\":");
    context_put_string(t->w, out, context_plain(part->name));
    buf_text(out, ",\"input\":");
    put_input(t, out, part->arguments);
    buf_char(out, '}');
}

/* --- messages --- */

/* Whether an inside ends in a visible character of ASCII, for sure: most do. */
static bool ends_plainly(slice inside)
{
    size_t tail = inside.len < 6 ? inside.len : 6; /* an escape has no more bytes */
    const char *end = inside.ptr + inside.len;

    return tail > 0 && end[-1] > ' ' && end[-1] < 0x7F && memchr(end - tail, '\\', tail) == NULL;
}

/* An assistant's last text may not end in white space; which one will be the last can't be known,
 * so that it is cut from all: the bytes of a prefix may not change later. */
static context_text without_end(context_text text)
{
    slice trimmed;

    if (text.is_raw) {
        while (text.bytes.len > 0 && (unsigned char)text.bytes.ptr[text.bytes.len - 1] <= ' ')
            text.bytes.len--;
        return text;
    }
    if (ends_plainly(text.bytes))
        return text;
    trimmed = content_trim(text.bytes);
    text.bytes.len = (size_t)(trimmed.ptr + trimmed.len - text.bytes.ptr);
    return text;
}

static bool is_sent(const turns *t, const context_part *part)
{
    if (part->kind != CONTEXT_THINKING)
        return !context_is_empty(t->w, part);
    return part->signature.len > 0 &&
           (part->is_redacted || !t->w->mends || !context_is_blank(part->text));
}

/* Thinking behind the last of the other blocks is refused. */
static const context_part *last_sent(const turns *t, const context_message *message)
{
    const context_part *last = NULL;

    for (const context_part *part = message->parts; part != NULL; part = part->next) {
        if (is_sent(t, part) && (part->kind != CONTEXT_THINKING || !t->w->mends))
            last = part;
    }
    return last;
}

static void put_part(turns *t, buf *out, const context_message *message, const context_part *part)
{
    bool is_cut = message->role == CONTEXT_ASSISTANT && t->w->mends;

    switch (part->kind) {
    case CONTEXT_TEXT:
        put_text(t, out, is_cut ? without_end(part->text) : part->text);
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

static void put_spoken(turns *t, const context_message *message)
{
    const context_part *last = last_sent(t, message);

    if (last == NULL && t->w->mends) {
        context_repaired(t->w->ctx, CONTEXT_EMPTY_MESSAGE, message->id, (slice){"", 0});
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
    bool is_first = true;

    buf_text(out, "{\"type\":\"tool_result\",\"tool_use_id\":");
    context_put_string(t->w, out, context_plain(message->call_id));
    buf_text(out, ",\"content\":[");
    for (const context_part *part = message->parts; part != NULL; part = part->next) {
        if (context_is_empty(t->w, part))
            continue;
        if (message->is_error && part->kind != CONTEXT_TEXT && t->w->mends) {
            context_repaired(t->w->ctx, CONTEXT_DROPPED_BLOCK, message->id, message->call);
            continue; /* an error may hold text only */
        }
        if (!is_first)
            buf_char(out, ',');
        put_part(t, out, message, part);
        is_first = false;
    }
    if (is_first && t->w->mends) {
        put_text(t, out, context_plain(SLICE("(no output)")));
        context_repaired(t->w->ctx, CONTEXT_EMPTY_RESULT, message->id, message->call);
    }
    buf_text(out, message->is_error ? "],\"is_error\":true}" : "]}");
}

static void put_system(turns *t, const context_message *message)
{
    buf *out = &t->w->out->system;
    bool is_said = false;

    for (const context_part *part = message->parts; part != NULL; part = part->next) {
        if (part->kind != CONTEXT_TEXT || context_is_empty(t->w, part))
            continue;
        buf_char(out, out->len == 0 ? '[' : ',');
        put_text(t, out, part->text);
        is_said = true;
    }
    if (!is_said && t->w->mends)
        context_repaired(t->w->ctx, CONTEXT_EMPTY_MESSAGE, message->id, (slice){"", 0});
}

void context_write_anthropic(context_writer *w)
{
    turns t = {.w = w};

    for (const context_message *at = w->ctx->list.first; at != NULL; at = at->next) {
        if (at->role == CONTEXT_SYSTEM)
            put_system(&t, at);
    }
    if (w->out->system.len > 0)
        buf_char(&w->out->system, ']');
    context_digest_system(w);
    for (const context_message *at = w->ctx->list.first; at != NULL; at = at->next) {
        if (at->role == CONTEXT_RESULT)
            put_result(&t, at);
        else if (at->role != CONTEXT_SYSTEM)
            put_spoken(&t, at);
    }
    close_turn(&t);
}
