/*
 * format.c: writes a context and the digests of its prefixes, and compares two contexts. The
 * format_*.c files write the messages.
 */
#include "model/session/format.h"

#include <stdarg.h>
#include <stdlib.h>
#include "model/content/class.h"

#define XXH_INLINE_ALL
#include <xxhash.h>

const char *const CONTEXT_FORMATS[] = {
    [CARDBOX_FORMAT_OPENAI] = "openai",       [CARDBOX_FORMAT_ANTHROPIC] = "anthropic",
    [CARDBOX_FORMAT_ENTRIES] = "entries",     [CARDBOX_FORMAT_MESSAGES] = "messages",
    [CARDBOX_FORMAT_RESPONSES] = "responses", NULL,
};

const char *const CONTEXT_THINKING_NAMES[] = {
    [CARDBOX_THINKING_ALL] = "all",
    [CARDBOX_THINKING_TURN] = "turn",
    [CARDBOX_THINKING_NONE] = "none",
    NULL,
};

bool context_format_of(cardbox_format *out, slice name)
{
    for (int i = 0; CONTEXT_FORMATS[i] != NULL; i++) {
        if (slice_equal(name, slice_of(CONTEXT_FORMATS[i]))) {
            *out = (cardbox_format)i;
            return true;
        }
    }
    return false;
}

/* --- texts --- */

void context_put_without_halves(buf *out, slice inside)
{
    slice rest = inside, from = inside;
    const char *escape;

    while (rest.len > 0 && (escape = memchr(rest.ptr, '\\', rest.len)) != NULL) {
        slice at = {escape, rest.len - (size_t)(escape - rest.ptr)};

        if (at.len > 1 && at.ptr[1] != 'u') { /* most escapes are of a quote or a line feed */
            rest = (slice){at.ptr + 2, at.len - 2};
            continue;
        }
        rest = at;
        uint32_t code = content_next_char(&rest);
        if (code < 0xD800 || code > 0xDFFF)
            continue;
        buf_slice(out, (slice){from.ptr, (size_t)(escape - from.ptr)});
        buf_text(out, "\\ufffd");
        from = rest;
    }
    buf_slice(out, from);
}

void context_put_inside(context_writer *w, buf *out, context_text text)
{
    if (text.bytes.len == 0)
        return;
    if (text.is_raw)
        buf_json_inside(out, text.bytes);
    else if (w->repairs_text && scan_may_have_half(text.bytes))
        context_put_without_halves(out, text.bytes);
    else
        buf_slice(out, text.bytes);
}

void context_put_form(context_writer *w, buf *out, const char *form, ...)
{
    va_list args;

    va_start(args, form);
    for (size_t len = strcspn(form, "$"); *form != '\0'; len = strcspn(form, "$")) {
        buf_add(out, form, len);
        if (form[len] == '$')
            context_put_inside(w, out, va_arg(args, context_text));
        form += len + (form[len] == '$');
    }
    va_end(args);
}

void context_put_text(context_writer *w, buf *out, context_text text)
{
    context_put_form(w, out, "{\"type\":\"text\",\"text\":\"$\"}", text);
}

bool context_is_blank(context_text text)
{
    unsigned char first = text.bytes.len > 0 ? (unsigned char)text.bytes.ptr[0] : 0;

    if (first > ' ' && first < 0x7F && first != '\\')
        return false;
    if (!text.is_raw)
        return content_trim(text.bytes).len == 0;
    for (size_t i = 0; i < text.bytes.len; i++) {
        if ((unsigned char)text.bytes.ptr[i] > ' ')
            return false;
    }
    return true;
}

bool context_is_empty(const context_writer *w, const context_part *part)
{
    return part->kind == CONTEXT_TEXT && w->drops_blank && context_is_blank(part->text);
}

void context_put_texts(context_writer *w, const context_message *message, const char *between)
{
    buf *out = &w->out->messages;
    bool is_first = true;

    buf_char(out, '"');
    if (message->status.len > 0) {
        context_put_form(w, out, "status: $", context_inside(message->status));
        is_first = false;
    }
    if (message->speaker.len > 0 && w->names_in_text)
        context_put_form(w, out, "$:\\n", context_inside(message->speaker));
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

/* --- messages and digests --- */

void context_mark(context_writer *w, context_message *message)
{
    if (w->offsets != NULL)
        *w->offsets++ = w->out->messages.len;
    message->number = w->is_system_apart && message->role == CONTEXT_SYSTEM ? 0 : w->out->count + 1;
}

static void put_ids(buf *out, const context_source *sources)
{
    for (const context_source *at = sources; at != NULL; at = at->next) {
        buf_comma(out);
        buf_json_string(out, at->id);
    }
}

void context_begin_message(context_writer *w)
{
    buf_comma(&w->out->messages);
    w->from = w->out->messages.len;
    w->sources_from = w->out->sources.len;
    w->noted = NULL;
    if (w->offsets == NULL)
        buf_text(&w->out->sources, w->out->count > 0 ? ",[" : "[");
}

void context_note_source(context_writer *w, const context_source *source)
{
    if (w->offsets != NULL)
        return;
    buf_comma(&w->out->sources);
    buf_json_string(&w->out->sources, source->id);
}

void context_note_sources(context_writer *w, const context_message *message)
{
    if (w->offsets == NULL && w->noted != message)
        put_ids(&w->out->sources, message->sources);
    w->noted = message;
}

static bool reserve_digest(context_output *out)
{
    size_t count = out->count;

    if ((count & (count - 1)) != 0) /* the array is full if `count` is 0 or a power of two */
        return true;
    context_digest *more = reallocarray(out->digests, count == 0 ? 1 : count * 2, sizeof(*more));
    if (more != NULL)
        out->digests = more;
    return more != NULL;
}

/* The new digest of the prefix is a hash of the old digest and of the hash of the added bytes. */
static void chain(context_digest *prefix, slice added)
{
    struct {
        context_digest before;
        XXH128_canonical_t added;
    } both;
    XXH128_canonical_t result;

    both.before = *prefix;
    XXH128_canonicalFromHash(&both.added, XXH3_128bits(added.ptr, added.len));
    XXH128_canonicalFromHash(&result, XXH3_128bits(&both, sizeof(both)));
    memcpy(prefix->bytes, result.digest, sizeof(prefix->bytes));
}

void context_end_message(context_writer *w)
{
    const buf *written = &w->out->messages;

    /* Measuring needs no digests. context_write_anthropic reads the count. */
    if (w->offsets != NULL) {
        w->out->count++;
        return;
    }
    buf_char(&w->out->sources, ']');
    size_t added = written->len - w->from + w->out->sources.len - w->sources_from;
    if (!buf_ok(written) || !buf_ok(&w->out->sources) || !reserve_digest(w->out) ||
        !arena_count(w->ctx->memory, added + sizeof(w->prefix))) {
        w->ctx->memory->failed = true;
        return;
    }
    chain(&w->prefix, (slice){written->data + w->from, written->len - w->from});
    w->out->digests[w->out->count++] = w->prefix;
}

/* --- system text --- */

static bool has_text(const context_writer *w, const context_message *message)
{
    const context_part *part = message->parts;

    while (part != NULL && (part->kind != CONTEXT_TEXT || context_is_empty(w, part)))
        part = part->next;
    return part != NULL;
}

void context_leave_out(context_writer *w, const context_message *message, const context_part *part)
{
    static const char *const NAMES[CONTEXT_PART_KINDS] = {
        [CONTEXT_THINKING] = "thinking",
        [CONTEXT_IMAGE] = "image",
        [CONTEXT_DOCUMENT] = "document",
    };
    slice what = part->kind == CONTEXT_OTHER ? part->name : slice_of(NAMES[part->kind]);

    if (w->offsets == NULL)
        context_add_repair(w->ctx, CONTEXT_LEFT_OUT, message, what);
}

static void put_json(const context_writer *w, buf *out, slice json)
{
    if (w->repairs_text && scan_may_have_half(json))
        context_put_without_halves(out, json);
    else
        buf_slice(out, json);
}

static void put_system(context_writer *w, const context_message *message)
{
    buf *out = &w->out->system;
    bool is_written = false;

    for (const context_part *part = message->parts; part != NULL; part = part->next) {
        if (part->kind != CONTEXT_TEXT)
            context_leave_out(w, message, part);
        if (part->kind != CONTEXT_TEXT || context_is_empty(w, part))
            continue;
        buf_char(out, out->len == 0 ? '[' : ',');
        if (message == w->ctx->instructions && part->block.len > 0 &&
            w->ctx->format == CARDBOX_FORMAT_ANTHROPIC)
            put_json(w, out, part->block);
        else
            context_put_text(w, out, part->text);
        is_written = true;
    }
    if (is_written)
        put_ids(&w->out->system_sources, message->sources);
    if (message->speaker.len > 0 && w->offsets == NULL)
        context_add_repair(w->ctx, CONTEXT_LEFT_OUT, message, SLICE("name"));
    if (w->repairs_text && !has_text(w, message))
        context_add_repair(w->ctx, CONTEXT_EMPTY_MESSAGE, message, (slice){"", 0});
}

/* Returns true if the system text of the settings is the only one, and the API accepts all of it,
 * so that it is written as it is stored. */
static bool has_only_instructions(const context_writer *w)
{
    const context_message *only = w->ctx->instructions;

    if (only == NULL || w->ctx->format != CARDBOX_FORMAT_ANTHROPIC || only->parts == NULL)
        return false;
    for (const context_part *part = only->parts; part != NULL; part = part->next) {
        if (part->kind != CONTEXT_TEXT || context_is_empty(w, part))
            return false;
    }
    for (const context_message *at = w->ctx->list.first; at != NULL; at = at->next) {
        if (at->role == CONTEXT_SYSTEM && at != only)
            return false;
    }
    return true;
}

void context_write_instructions(context_writer *w)
{
    const context_message *message = w->ctx->instructions;
    buf *out = &w->out->system;

    if (message == NULL)
        return;
    for (const context_part *part = message->parts; part != NULL; part = part->next) {
        if (part->kind != CONTEXT_TEXT)
            context_leave_out(w, message, part);
        if (part->kind != CONTEXT_TEXT || context_is_empty(w, part))
            continue;
        buf_text(out, out->len == 0 ? "\"" : "\\n\\n");
        context_put_inside(w, out, part->text);
    }
    if (out->len > 0) {
        buf_char(out, '"');
        put_ids(&w->out->system_sources, message->sources);
    }
    chain(&w->prefix, buf_as_slice(out));
}

void context_write_system(context_writer *w)
{
    w->is_system_apart = true;
    if (has_only_instructions(w)) {
        put_json(w, &w->out->system, w->ctx->settings.system.text);
        put_ids(&w->out->system_sources, w->ctx->instructions->sources);
        chain(&w->prefix, buf_as_slice(&w->out->system));
        return;
    }
    for (const context_message *at = w->ctx->list.first; at != NULL; at = at->next) {
        if (at->role == CONTEXT_SYSTEM)
            put_system(w, at);
    }
    if (w->out->system.len > 0)
        buf_char(&w->out->system, ']');
    chain(&w->prefix, buf_as_slice(&w->out->system));
}

/* --- contexts --- */

static context_writer writer_of(context_output *out, context *ctx)
{
    cardbox_format format = ctx->format;

    return (context_writer){
        .out = out,
        .ctx = ctx,
        .repairs_text = ctx->is_repaired,
        .drops_blank = ctx->is_repaired && format != CARDBOX_FORMAT_MESSAGES,
        .names_in_text = format == CARDBOX_FORMAT_MESSAGES || format == CARDBOX_FORMAT_RESPONSES,
    };
}

bool context_leaves_out(context *ctx, const context_message *message)
{
    context_writer w = writer_of(NULL, ctx);
    cardbox_format format = ctx->format;

    if (format == CARDBOX_FORMAT_ENTRIES || message->role == CONTEXT_RESULT ||
        (context_is_as_stored(ctx, message) && format != CARDBOX_FORMAT_ANTHROPIC))
        return false;
    if (format == CARDBOX_FORMAT_OPENAI)
        return context_openai_leaves_out(&w, message);
    if (message->role == CONTEXT_SYSTEM)
        return !has_text(&w, message);
    if (format == CARDBOX_FORMAT_RESPONSES)
        return context_responses_leaves_out(&w, message);
    return format == CARDBOX_FORMAT_ANTHROPIC && context_anthropic_leaves_out(&w, message);
}

context_output context_output_of(size_t most)
{
    return (context_output){.messages = BUF_INIT(most),
                            .system = BUF_INIT(most),
                            .sources = BUF_INIT(most),
                            .system_sources = BUF_INIT(most)};
}

int64_t context_discount(const context *ctx, const context_message *message)
{
    const int64_t file = (int64_t)CONTEXT_FILE_TOKENS * CONTEXT_BYTES_PER_TOKEN;
    int64_t discount = 0;

    for (const context_part *part = message->parts; part != NULL; part = part->next) {
        int64_t bytes = (int64_t)part->data.len;
        if (bytes == 0 || ctx->format == CARDBOX_FORMAT_MESSAGES)
            continue;
        int64_t sections = part->kind == CONTEXT_IMAGE ? 1 : bytes / CONTEXT_PDF_PIECE + 1;
        discount += bytes - sections * file;
    }
    return discount;
}

size_t context_weight(const context_output *out, const context *ctx)
{
    int64_t bytes = (int64_t)(out->messages.len + out->system.len);

    for (const context_message *at = ctx->list.first; at != NULL; at = at->next)
        bytes -= context_discount(ctx, at);
    return bytes > 0 ? (size_t)bytes : 0;
}

/* If `offsets` is not NULL, writes no digests and sources, and stores the bytes before each message
 * there. */
static bool write_context(context_output *out, context *ctx, size_t *offsets)
{
    context_writer w = writer_of(out, ctx);
    cardbox_format format = ctx->format;

    w.offsets = offsets;
    *out = context_output_of(ctx->most);
    buf_char(&out->messages, '[');
    if (format == CARDBOX_FORMAT_OPENAI)
        context_write_openai(&w);
    else if (format == CARDBOX_FORMAT_ANTHROPIC)
        context_write_anthropic(&w);
    else if (format == CARDBOX_FORMAT_MESSAGES)
        context_write_messages(&w);
    else if (format == CARDBOX_FORMAT_RESPONSES)
        context_write_responses(&w);
    else
        context_write_entries(&w);
    buf_char(&out->messages, ']');
    ctx->tokens =
        (context_weight(out, ctx) + CONTEXT_BYTES_PER_TOKEN - 1) / CONTEXT_BYTES_PER_TOKEN;
    return buf_ok(&out->messages) && buf_ok(&out->system) && buf_ok(&out->system_sources) &&
           !ctx->memory->failed;
}

bool context_write(context_output *out, context *ctx)
{
    return write_context(out, ctx, NULL);
}

bool context_measure(context_output *out, context *ctx, size_t *offsets)
{
    return write_context(out, ctx, offsets);
}

bool context_is_too_large(const context_output *out)
{
    return out->messages.failure == BUF_TOO_LARGE || out->system.failure == BUF_TOO_LARGE;
}

void context_output_free(context_output *output)
{
    buf_free(&output->messages);
    buf_free(&output->system);
    buf_free(&output->sources);
    buf_free(&output->system_sources);
    free(output->digests);
    output->digests = NULL;
    output->count = 0;
}

/* A binary search is possible because the digest of a message also covers all earlier messages. */
size_t context_first_difference(const context_digest *a, size_t a_count, const context_digest *b,
                                size_t b_count)
{
    size_t from = 0, to = a_count < b_count ? a_count : b_count;

    while (from < to) {
        size_t middle = from + (to - from) / 2;
        if (memcmp(&a[middle], &b[middle], sizeof(*a)) == 0)
            from = middle + 1;
        else
            to = middle;
    }
    return from;
}

void context_digest_text(char out[33], const context_digest *digest)
{
    static const char DIGITS[] = "0123456789abcdef";

    for (size_t i = 0; i < sizeof(digest->bytes); i++) {
        out[2 * i] = DIGITS[digest->bytes[i] >> 4];
        out[2 * i + 1] = DIGITS[digest->bytes[i] & 15];
    }
    out[2 * sizeof(digest->bytes)] = '\0';
}
