/*
 * format_anthropic.c: writes messages for Anthropic's API. Consecutive messages of one role become
 * one message, here called a turn, unless they are stored in this format. Results are blocks of a
 * user's turn, and all results of an answer are in one turn. The system text is written separately.
 */
#include "model/session/format.h"
#include "model/content/class.h"

typedef enum side { SIDE_NONE, SIDE_USER, SIDE_ASSISTANT } side;

typedef struct turns {
    context_writer *w;
    side open;                        /* the role of the turn that is being written */
    const context_original *original; /* the original whose blocks the turn has last; NULL: none */
} turns;

static void close_turn(turns *t)
{
    if (t->open == SIDE_NONE)
        return;
    buf_text(&t->w->out->messages, "]}");
    context_end_message(t->w);
    t->open = SIDE_NONE;
    t->original = NULL;
}

static void open_turn(turns *t, side wanted)
{
    close_turn(t);
    context_begin_message(t->w);
    buf_printf(&t->w->out->messages, "{\"role\":\"%s\",\"content\":[",
               wanted == SIDE_USER ? "user" : "assistant");
    t->open = wanted;
}

/* If a repaired context would begin with the assistant, inserts a user's turn at its start. */
static void insert_first_turn(turns *t, const context_message *message)
{
    if (message->role != CONTEXT_ASSISTANT || t->open != SIDE_NONE || t->w->out->count > 0 ||
        !t->w->repairs_text)
        return;
    open_turn(t, SIDE_USER);
    buf_text(&t->w->out->messages,
             "{\"type\":\"text\",\"text\":\"(the conversation begins with the "
             "assistant)\"}");
    context_add_repair(t->w->ctx, CONTEXT_FIRST_MESSAGE, message, (slice){"", 0});
}

/* Begins a block, and a new turn if the role changes. A turn begins with its first block, so no
 * turn is empty. */
static buf *begin_block(turns *t, const context_message *message)
{
    side wanted = message->role == CONTEXT_ASSISTANT ? SIDE_ASSISTANT : SIDE_USER;
    buf *out = &t->w->out->messages;

    insert_first_turn(t, message);
    if (t->open != wanted)
        open_turn(t, wanted);
    else if (t->original != NULL && t->original != message->original &&
             context_is_as_stored(t->w->ctx, message) && t->w->repairs_text)
        context_add_repair(t->w->ctx, CONTEXT_MERGED, message, message->call);
    t->original = context_is_as_stored(t->w->ctx, message) ? message->original : NULL;
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

static void put_document(turns *t, buf *out, const context_part *part)
{
    if (part->url.len > 0)
        context_put_form(t->w, out,
                         "{\"type\":\"document\",\"source\":{\"type\":\"url\",\"url\":\"$\"}",
                         context_inside(part->url));
    else
        context_put_form(t->w, out,
                         "{\"type\":\"document\",\"source\":{\"type\":\"base64\","
                         "\"media_type\":\"$\",\"data\":\"$\"}",
                         context_inside(part->mime), context_inside(part->data));
    if (part->name.len > 0)
        context_put_form(t->w, out, ",\"title\":\"$\"", context_inside(part->name));
    buf_char(out, '}');
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

/* Writes the arguments of a call as an object, which Anthropic's API requires. */
static void put_input(turns *t, buf *out, const context_part *part)
{
    slice object;

    if (part->is_custom) {
        context_put_form(t->w, out, "{\"input\":\"$\"}",
                         context_inside(scan_string_inside(part->arguments)));
        return;
    }
    context_object_of(t->w->ctx, part->arguments, &object);
    buf_slice(out, object);
}

static void put_call(turns *t, buf *out, const context_part *part)
{
    context_put_form(t->w, out, "{\"type\":\"tool_use\",\"id\":\"$\",\"name\":\"$\",\"input\":",
                     context_inside(part->call_id), context_inside(part->name));
    put_input(t, out, part);
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

/* Returns true if a part is written. An original has blocks that other formats can't express. */
static bool is_sent(const turns *t, const context_message *message, const context_part *part)
{
    if (part->kind == CONTEXT_OTHER)
        return part->block.len > 0 && context_is_as_stored(t->w->ctx, message);
    if (part->kind == CONTEXT_THINKING)
        return part->signature.len > 0 || context_is_as_stored(t->w->ctx, message);
    return !context_is_empty(t->w, part);
}

/* Returns the last part of a message that is written; NULL: no part is written. In a repaired
 * context, this is no thinking, because Anthropic's API rejects an assistant's message that ends in
 * thinking. */
static const context_part *last_sent(const turns *t, const context_message *message)
{
    const context_part *last = NULL;

    for (const context_part *part = message->parts; part != NULL; part = part->next) {
        if (is_sent(t, message, part) && (part->kind != CONTEXT_THINKING || !t->w->repairs_text))
            last = part;
    }
    return last;
}

bool context_anthropic_leaves_out(context_writer *w, const context_message *message)
{
    turns t = {.w = w};

    return last_sent(&t, message) == NULL;
}

/* Returns the first part of a message that is written; NULL: no part is written. */
static const context_part *first_sent(const turns *t, const context_message *message)
{
    const context_part *part = message->parts;

    while (part != NULL && !is_sent(t, message, part))
        part = part->next;
    return part;
}

/* Writes a text. The name of who speaks becomes its first line. */
static void put_text(turns *t, buf *out, const context_message *message, const context_part *part)
{
    bool is_cut = message->role == CONTEXT_ASSISTANT && t->w->repairs_text;
    context_text text = is_cut ? without_end(part->text) : part->text;

    if (message->speaker.len > 0 && part == first_sent(t, message))
        context_put_form(t->w, out, "{\"type\":\"text\",\"text\":\"$:\\n$\"}",
                         context_inside(message->speaker), text);
    else
        context_put_text(t->w, out, text);
}

static void put_part(turns *t, buf *out, const context_message *message, const context_part *part)
{
    if (part->block.len > 0 && context_is_as_stored(t->w->ctx, message)) {
        context_put_edited(out, message->original, part->block);
        return;
    }
    switch (part->kind) {
    case CONTEXT_TEXT:
        put_text(t, out, message, part);
        break;
    case CONTEXT_THINKING:
        put_thinking(t, out, part);
        break;
    case CONTEXT_IMAGE:
        put_image(t, out, part);
        break;
    case CONTEXT_DOCUMENT:
        put_document(t, out, part);
        break;
    case CONTEXT_CALL:
        put_call(t, out, part);
        break;
    case CONTEXT_OTHER:
        break;
    }
}

/* Reports the parts of a message that are not written because the format has no counterpart. */
static void note_left_out(turns *t, const context_message *message)
{
    if (context_is_as_stored(t->w->ctx, message))
        return;
    for (const context_part *part = message->parts; part != NULL; part = part->next) {
        if (part->kind != CONTEXT_TEXT && !is_sent(t, message, part))
            context_leave_out(t->w, message, part);
    }
}

static void put_message(turns *t, const context_message *message)
{
    const context_part *last = last_sent(t, message);

    note_left_out(t, message);
    if (last == NULL && t->w->repairs_text) {
        context_add_repair(t->w->ctx, CONTEXT_EMPTY_MESSAGE, message, (slice){"", 0});
        return;
    }
    if (last != NULL && message->speaker.len > 0 && first_sent(t, message)->kind != CONTEXT_TEXT)
        context_put_form(t->w, begin_block(t, message), "{\"type\":\"text\",\"text\":\"$:\"}",
                         context_inside(message->speaker));
    for (const context_part *part = message->parts; last != NULL; part = part->next) {
        if (is_sent(t, message, part))
            put_part(t, begin_block(t, message), message, part);
        if (part == last)
            break;
    }
}

static void put_result(turns *t, const context_message *message)
{
    buf *out = begin_block(t, message);
    bool is_empty = true;

    if (message->block.len > 0 && context_is_as_stored(t->w->ctx, message)) {
        context_put_edited(out, message->original, message->block);
        return;
    }
    note_left_out(t, message);

    context_put_form(t->w, out, "{\"type\":\"tool_result\",\"tool_use_id\":\"$\",\"content\":[",
                     context_inside(message->call_id));
    for (const context_part *part = message->parts; part != NULL; part = part->next) {
        if (!is_sent(t, message, part))
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

/* --- originals --- */

/* Returns the message after the last section of an original, if the list has all of its sections in
 * order; otherwise NULL. */
static const context_message *after_sections(const context_message *first)
{
    const context_message *at = first;

    for (size_t i = 0; i + 1 < first->original->sections; i++) {
        if (at->section != i || at->next == NULL || at->next->original != first->original)
            return NULL;
        at = at->next;
    }
    return at->section + 1 == first->original->sections ? at : NULL;
}

/* Returns the last section of an original that is written whole, as it is stored. NULL: its
 * sections are written one by one. This is so if some of them are missing, or if their results
 * share a turn with other results. */
static const context_message *whole_until(const turns *t, const context_message *first)
{
    const context_message *last = NULL;
    bool has_content = false, has_result = false;

    if (!context_is_as_stored(t->w->ctx, first) || first->section != 0)
        return NULL;
    last = after_sections(first);
    for (const context_message *at = first; last != NULL; at = at->next) {
        has_result = has_result || at->role == CONTEXT_RESULT;
        has_content = has_content || has_result || last_sent(t, at) != NULL;
        if (at == last)
            break;
    }
    if (last == NULL || (!has_content && t->w->repairs_text))
        return NULL;
    bool is_shared = has_result && (t->open == SIDE_USER ||
                                    (last->next != NULL && last->next->role == CONTEXT_RESULT));
    return is_shared ? NULL : last;
}

/* Writes the sections from `at` to `last` as they are stored. */
static context_message *put_whole(turns *t, context_message *at, const context_message *last)
{
    insert_first_turn(t, at);
    close_turn(t);
    for (;; at = at->next) {
        context_mark(t->w, at);
        if (at == last)
            break;
    }
    context_put_original(t->w, last);
    return at->next;
}

void context_write_anthropic(context_writer *w)
{
    turns t = {.w = w};
    context_message *at = w->ctx->list.first;

    context_write_system(w);
    while (at != NULL) {
        const context_message *last = at->role == CONTEXT_SYSTEM ? NULL : whole_until(&t, at);

        if (last != NULL) {
            at = put_whole(&t, at, last);
            continue;
        }
        context_mark(w, at);
        if (at->role == CONTEXT_RESULT)
            put_result(&t, at);
        else if (at->role != CONTEXT_SYSTEM)
            put_message(&t, at);
        if (t.open != SIDE_NONE && at->role != CONTEXT_SYSTEM)
            at->number = w->out->count + 1;
        at = at->next;
    }
    close_turn(&t);
}
