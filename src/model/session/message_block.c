/*
 * message_block.c: reads the content blocks of entries. Blocks have the format of pi, which is that
 * of MCP too. Images may also have the formats of OpenAI's and Anthropic's APIs.
 */
#include "model/session/message.h"
#include "model/content/class.h"

/* The members of blocks of all types. One pass over a block reads all of its members. */
enum {
    BLOCK_TYPE,
    BLOCK_TEXT,
    BLOCK_THINKING,
    BLOCK_SIGNATURE,
    BLOCK_REDACTED,
    BLOCK_DATA,
    BLOCK_MIME,
    BLOCK_ID,
    BLOCK_NAME,
    BLOCK_ARGUMENTS,
    BLOCK_IMAGE_URL,
    BLOCK_SOURCE,
    BLOCK_RESOURCE,
    BLOCK_URI,
    BLOCK_MEMBERS
};

/* --- images --- */

/* Models accept images of these MIME types. */
static const char *const MIME_TYPES[] = {"image/png", "image/jpeg", "image/gif", "image/webp"};
enum { MIME_TYPE_COUNT = sizeof(MIME_TYPES) / sizeof(MIME_TYPES[0]) };

static bool is_base64_digit(uint32_t code)
{
    /* One bit for each ASCII character: 0 to 63, 64 to 127. */
    static const uint64_t DIGITS[] = {0x03FF880000000000, 0x07FFFFFE07FFFFFE};

    return code < 128 && (DIGITS[code >> 6] >> (code & 63) & 1) != 0;
}

/* Removes the first character of the inside of a JSON string, and returns it. Bytes of characters
 * that are not ASCII are returned one by one. */
static uint32_t next_byte_or_escape(slice *rest)
{
    if (rest->ptr[0] == '\\')
        return content_next_char(rest);
    uint32_t code = (unsigned char)rest->ptr[0];
    *rest = (slice){rest->ptr + 1, rest->len - 1};
    return code;
}

/* Returns true if the inside of a JSON string is base64 with padding, of at least one byte. */
static bool is_base64(slice inside)
{
    size_t digits = 0, padding = 0;

    while (inside.len > 0) {
        uint32_t code = next_byte_or_escape(&inside);
        if (code == '=')
            padding++;
        else if (padding == 0 && is_base64_digit(code))
            digits++;
        else
            return false;
    }
    return digits > 0 && padding <= 2 && (digits + padding) % 4 == 0;
}

/* Returns true if the inside of a JSON string has white space or a control character. */
static bool has_space_or_control(slice inside)
{
    while (inside.len > 0) {
        const char *from = inside.ptr;
        uint32_t code = content_next_char(&inside);
        if (code <= ' ' || (code >= 0x7F && code < 0xA0))
            return true;
        if (code >= 0xA0 && content_trim((slice){from, (size_t)(inside.ptr - from)}).len == 0)
            return true;
    }
    return false;
}

static bool set_data(context_part *out, scan_value mime, scan_value data)
{
    out->data = scan_string_inside(data);
    for (size_t i = 0; i < MIME_TYPE_COUNT; i++) {
        if (session_string_is(mime, MIME_TYPES[i]))
            out->mime = slice_of(MIME_TYPES[i]);
    }
    return out->mime.len > 0 && is_base64(out->data);
}

/* Removes `text` from the start of `inside`, the inside of a JSON string, in which an escape may
 * stand for a slash. Returns false if `inside` begins with other text. */
static bool skip_text(slice *inside, const char *text)
{
    slice rest = *inside;

    for (; *text != '\0'; text++) {
        size_t escape = *text == '/' && rest.len > 0 && rest.ptr[0] == '\\';
        if (rest.len <= escape || rest.ptr[escape] != *text)
            return false;
        rest = (slice){rest.ptr + escape + 1, rest.len - escape - 1};
    }
    *inside = rest;
    return true;
}

/* Sets the image of a URL: the MIME type and the data of a data: URL with base64, or an http or
 * https URL as it is. Returns false for other URLs, and for an http or https URL with white space
 * or control characters. */
bool context_image_of_url(context_part *out, scan_value url)
{
    slice inside = scan_string_inside(url), rest = inside;

    if (skip_text(&rest, "https://") || skip_text(&rest, "http://")) {
        out->url = inside;
        return rest.len > 0 && !has_space_or_control(rest);
    }
    if (!skip_text(&rest, "data:"))
        return false;
    for (size_t i = 0; i < MIME_TYPE_COUNT; i++) {
        slice data = rest;
        if (!skip_text(&data, MIME_TYPES[i]) || !skip_text(&data, ";base64,"))
            continue;
        out->mime = slice_of(MIME_TYPES[i]);
        out->data = data;
        return is_base64(data);
    }
    return false;
}

/* Reads an image in Anthropic's format: a `source` with base64 or with a URL. */
bool context_image_of_source(context_part *out, scan_value source)
{
    static const char *const NAMES[] = {"type", "media_type", "data", "url"};
    scan_value found[4];

    session_pick(source, NAMES, found, 4);
    if (session_string_is(found[0], "base64"))
        return set_data(out, found[1], found[2]);
    return session_string_is(found[0], "url") && context_image_of_url(out, found[3]);
}

static bool read_image(context_part *out, const scan_value *found)
{
    *out = (context_part){.kind = CONTEXT_IMAGE};
    if (session_string_is(found[BLOCK_TYPE], "image_url"))
        return context_image_of_url(out, scan_find(found[BLOCK_IMAGE_URL], "url"));
    if (found[BLOCK_SOURCE].kind == SCAN_OBJECT)
        return context_image_of_source(out, found[BLOCK_SOURCE]);
    return set_data(out, found[BLOCK_MIME], found[BLOCK_DATA]);
}

/* --- blocks --- */

/* Reads the contents of a resource of MCP: a text, an image or a PDF. Returns false for others. */
static bool read_resource(context_part *out, scan_value resource)
{
    static const char *const NAMES[] = {"text", "mimeType", "blob"};
    scan_value found[3];

    session_pick(resource, NAMES, found, 3);
    if (found[0].kind == SCAN_STRING) {
        out->text = (context_text){scan_string_inside(found[0]), false};
        return true;
    }
    if (session_string_is(found[1], "application/pdf")) {
        *out = (context_part){.kind = CONTEXT_DOCUMENT,
                              .mime = SLICE("application/pdf"),
                              .data = scan_string_inside(found[2])};
        return is_base64(out->data);
    }
    *out = (context_part){.kind = CONTEXT_IMAGE};
    return set_data(out, found[1], found[2]);
}

/* Reads a block that only results have, as MCP has them. A link becomes a text with its JSON. */
static bool read_block_of_result(context_part *out, scan_value block, const scan_value *found)
{
    if (session_string_is(found[BLOCK_TYPE], "resource"))
        return read_resource(out, found[BLOCK_RESOURCE]);
    out->text = (context_text){block.text, true};
    return session_string_is(found[BLOCK_TYPE], "resource_link") &&
           found[BLOCK_URI].kind == SCAN_STRING;
}

/* Reads a block. Returns false if the block can't be sent in a message of this role. */
static bool read_block(context_part *out, context_role role, scan_value block,
                       const scan_value *found)
{
    scan_value type = found[BLOCK_TYPE];

    *out = (context_part){.kind = CONTEXT_TEXT};
    if (session_string_is(type, "text")) {
        out->text = (context_text){scan_string_inside(found[BLOCK_TEXT]), false};
        return found[BLOCK_TEXT].kind == SCAN_STRING;
    }
    if (session_string_is(type, "image") || session_string_is(type, "image_url"))
        return (role == CONTEXT_USER || role == CONTEXT_RESULT) && read_image(out, found);
    if (role == CONTEXT_RESULT)
        return read_block_of_result(out, block, found);
    if (role != CONTEXT_ASSISTANT)
        return false;
    if (session_string_is(type, "thinking")) {
        out->kind = CONTEXT_THINKING;
        out->text = (context_text){scan_string_inside(found[BLOCK_THINKING]), false};
        out->signature = scan_string_inside(found[BLOCK_SIGNATURE]);
        out->is_redacted = found[BLOCK_REDACTED].kind == SCAN_TRUE;
        return true;
    }
    if (session_string_is(type, "toolCall")) {
        out->kind = CONTEXT_CALL;
        return true;
    }
    return false;
}

/* A content block of a message. */
typedef struct content_block {
    bool is_supported; /* false: the block can't be sent in a message of this role */
    context_part part; /* the text, thinking or image; of a call only its kind */
    scan_value call_id, call_name, call_arguments;
} content_block;

/* Reads the next block of a list, which scan_enter has begun. False: there are no more blocks. An
 * image is supported in messages of users and results, if it is base64 of a known MIME type, or has
 * an http or https URL. White space and control characters in the URL are not supported. */
static bool next_block(content_block *out, scan_walk *walk, context_role role)
{
    static const char *const NAMES[BLOCK_MEMBERS] = {
        "type", "text", "thinking",  "thinkingSignature", "redacted", "data",     "mimeType",
        "id",   "name", "arguments", "image_url",         "source",   "resource", "uri",
    };
    scan_value found[BLOCK_MEMBERS], block;

    if (!scan_to_element(walk))
        return false;
    block = session_pick_next(walk, NAMES, found, BLOCK_MEMBERS);
    if (block.kind == SCAN_NONE)
        return false;
    out->is_supported = read_block(&out->part, role, block, found);
    out->call_id = found[BLOCK_ID];
    out->call_name = found[BLOCK_NAME];
    out->call_arguments = found[BLOCK_ARGUMENTS];
    return true;
}

void context_add_content(context *ctx, context_message *message, scan_value content)
{
    scan_walk walk = scan_enter(content);
    content_block block;

    if (message == NULL)
        return;
    if (content.kind != SCAN_ARRAY) {
        context_add_value(ctx, message, content);
        return;
    }
    while (next_block(&block, &walk, message->role)) {
        if (!block.is_supported)
            context_add_repair(ctx, CONTEXT_DROPPED_BLOCK, message, (slice){"", 0});
        else if (block.part.kind == CONTEXT_CALL)
            context_add_call(ctx, message, block.call_id, block.call_name, block.call_arguments);
        else
            context_add_part(ctx, message, block.part);
    }
}

/* --- outputs of tools --- */

/* Returns true if a value is a block of MCP, or an image in the form of an API. */
static bool is_block(scan_value value)
{
    static const char *const NAMES[] = {"type",     "text", "data",     "source",
                                        "resource", "uri",  "image_url"};
    static const struct {
        const char *type;
        size_t member; /* index in NAMES of the member that the block needs */
        scan_kind kind;
    } TYPES[] = {
        {"text", 1, SCAN_STRING},      {"image", 2, SCAN_STRING},
        {"image", 3, SCAN_OBJECT},     {"audio", 2, SCAN_STRING},
        {"resource", 4, SCAN_OBJECT},  {"resource_link", 5, SCAN_STRING},
        {"image_url", 6, SCAN_OBJECT},
    };
    scan_value found[7];

    if (value.kind != SCAN_OBJECT)
        return false;
    session_pick(value, NAMES, found, 7);
    for (size_t i = 0; i < sizeof(TYPES) / sizeof(TYPES[0]); i++) {
        if (session_string_is(found[0], TYPES[i].type) &&
            found[TYPES[i].member].kind == TYPES[i].kind)
            return true;
    }
    return false;
}

static bool is_block_list(scan_value list)
{
    scan_walk walk = scan_enter(list.kind == SCAN_ARRAY ? list : (scan_value){0});
    scan_value value;
    bool is_list = false;

    while (scan_element(&walk, &value)) {
        is_list = is_block(value);
        if (!is_list)
            return false;
    }
    return is_list;
}

void context_add_output(context *ctx, context_message *message, scan_value output)
{
    scan_value content = output.kind == SCAN_OBJECT ? scan_find(output, "content") : output;
    scan_walk walk = scan_enter(output);
    scan_value value;
    slice key;

    if (message != NULL && is_block(output)) {
        buf list = BUF_INIT(SIZE_MAX / 4); /* a list with this block only */
        buf_char(&list, '[');
        buf_slice(&list, output.text);
        buf_char(&list, ']');
        context_add_content(ctx, message, scan_whole(arena_keep(ctx->memory, &list)));
        return;
    }
    if (message == NULL || !is_block_list(content)) {
        context_add_value(ctx, message, output);
        return;
    }
    context_add_content(ctx, message, content);
    while (output.kind == SCAN_OBJECT && scan_member(&walk, &key, &value)) {
        if (scan_string_is(key, SLICE("isError")))
            message->is_error = message->is_error || value.kind == SCAN_TRUE;
        else if (!scan_string_is(key, SLICE("content")))
            context_add_part(ctx, message,
                             (context_part){.kind = CONTEXT_OTHER, .name = scan_inside(key)});
    }
}
