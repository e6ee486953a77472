/*
 * message_anthropic.c: reads messages of Anthropic's Messages API. An assistant's message becomes
 * one message of a context. A user's message becomes one for each result, and one for the blocks
 * between two results.
 */
#include "model/session/message_api.h"
#include "model/session/api.h"

enum {
    B_TYPE,
    B_TEXT,
    B_THINKING,
    B_SIGNATURE,
    B_DATA,
    B_SOURCE,
    B_ID,
    B_NAME,
    B_INPUT,
    B_RESULT_OF,
    B_CONTENT,
    B_IS_ERROR,
    B_TITLE,
    B_MEMBERS
};

static const char *const BLOCK_NAMES[B_MEMBERS + 1] = {
    "type", "text",  "thinking",    "signature", "data",     "source", "id",
    "name", "input", "tool_use_id", "content",   "is_error", "title",  NULL,
};

/* Reads a document with a PDF, or adds the text of one with a plain text. */
static bool add_document(api_reading *r, context_message *message, const scan_value *found,
                         slice block)
{
    static const char *const NAMES[] = {"type", "media_type", "data", "url"};
    scan_value source[4];
    context_part part = {.kind = CONTEXT_DOCUMENT, .block = block};

    session_pick(found[B_SOURCE], NAMES, source, 4);
    part.name = scan_string_inside(found[B_TITLE]);
    if (session_string_is(source[0], "text") && source[2].kind == SCAN_STRING) {
        api_add_text(r, message, source[2], block);
        return true;
    }
    if (session_string_is(source[0], "base64") && session_string_is(source[1], "application/pdf")) {
        part.mime = SLICE("application/pdf");
        part.data = scan_string_inside(source[2]);
    } else if (session_string_is(source[0], "url")) {
        part.url = scan_string_inside(source[3]);
    }
    if (part.data.len > 0 || part.url.len > 0)
        context_add_part(r->ctx, message, part);
    return part.data.len > 0 || part.url.len > 0;
}

static void add_thinking(api_reading *r, context_message *message, const scan_value *found,
                         slice block)
{
    bool is_redacted = session_string_is(found[B_TYPE], "redacted_thinking");

    context_add_part(
        r->ctx, message,
        (context_part){.kind = CONTEXT_THINKING,
                       .text = {scan_string_inside(found[B_THINKING]), false},
                       .signature = scan_string_inside(found[is_redacted ? B_DATA : B_SIGNATURE]),
                       .is_redacted = is_redacted,
                       .block = block});
}

static void add_block(api_reading *r, context_message *message, scan_value block)
{
    scan_value found[B_MEMBERS];
    context_part image = {.kind = CONTEXT_IMAGE};

    session_pick(block, BLOCK_NAMES, found, B_MEMBERS);
    scan_value type = found[B_TYPE];
    if (session_string_is(type, "text") && found[B_TEXT].kind == SCAN_STRING) {
        api_add_text(r, message, found[B_TEXT], block.text);
    } else if (session_string_is(type, "image")) {
        bool can_be_sent = context_image_of_source(&image, found[B_SOURCE]);
        api_add_image(r, message, can_be_sent, image, block);
    } else if (session_string_is(type, "thinking") ||
               session_string_is(type, "redacted_thinking")) {
        add_thinking(r, message, found, block.text);
    } else if (session_string_is(type, "tool_use") && message != NULL &&
               message->role == CONTEXT_ASSISTANT) {
        api_add_call(r, message, found[B_ID], found[B_NAME], found[B_INPUT], false, block.text);
    } else if (!session_string_is(type, "document") ||
               !add_document(r, message, found, block.text)) {
        api_add_unknown(r, message, block);
        return;
    }
    api_add_members(r, message, block, BLOCK_NAMES);
}

static void add_result(api_reading *r, scan_value block)
{
    context_message *message = api_add_section(r, CONTEXT_RESULT);
    scan_value found[B_MEMBERS];

    if (message == NULL)
        return;
    session_pick(block, BLOCK_NAMES, found, B_MEMBERS);
    message->block = block.text;
    message->is_error = found[B_IS_ERROR].kind == SCAN_TRUE;
    context_set_call(r->ctx, message, found[B_RESULT_OF], (scan_value){SCAN_NONE, {NULL, 0}});
    api_add_content(r, message, found[B_CONTENT], add_block);
    api_add_members(r, message, block, BLOCK_NAMES);
}

/* Adds the blocks of a user's message, each run of blocks that are no results as one section. */
static void add_user(api_reading *r, scan_value content)
{
    scan_walk walk = scan_enter(content.kind == SCAN_ARRAY ? content : (scan_value){0});
    context_message *message = NULL;
    scan_value block;

    while (scan_element(&walk, &block)) {
        if (session_string_is(scan_find(block, "type"), "tool_result")) {
            add_result(r, block);
            message = NULL;
            continue;
        }
        if (message == NULL)
            message = api_add_section(r, CONTEXT_USER);
        add_block(r, message, block);
    }
    if (r->original->sections == 0) /* a text, or no block at all */
        api_add_text(r, api_add_section(r, CONTEXT_USER), content, (slice){"", 0});
}

static bool is_of_request(slice key)
{
    return scan_string_is(key, SLICE("role")) || scan_string_is(key, SLICE("content"));
}

scan_value api_part_for_request(context *ctx, scan_value message)
{
    buf kept = BUF_INIT(SIZE_MAX / 4);
    scan_walk walk = scan_enter(message);
    bool is_whole = true;
    scan_value value;
    slice key;

    while (is_whole && scan_member(&walk, &key, &value))
        is_whole = is_of_request(key);
    if (is_whole)
        return message;
    walk = scan_enter(message);
    buf_char(&kept, '{');
    while (scan_member(&walk, &key, &value)) {
        if (!is_of_request(key))
            continue;
        buf_comma(&kept);
        buf_slice(&kept, key);
        buf_char(&kept, ':');
        buf_slice(&kept, value.text);
    }
    buf_char(&kept, '}');
    return scan_whole(arena_keep(ctx->memory, &kept));
}

void api_add_anthropic(api_reading *r)
{
    static const char *const NAMES[] = {"role", "content"};
    scan_value found[2];
    context_message *message = NULL;

    session_pick(r->added->value, NAMES, found, 2);
    if (session_string_is(found[0], "user")) {
        add_user(r, found[1]);
        return;
    }
    bool is_assistant = session_string_is(found[0], "assistant");
    message = api_add_section(r, is_assistant ? CONTEXT_ASSISTANT : CONTEXT_USER);
    if (is_assistant)
        api_add_content(r, message, found[1], add_block);
    else
        api_add_other(r, message, SLICE("role"), (slice){"", 0});
}
