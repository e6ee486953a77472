/*
 * whole.c: recognises files that are one JSON value, and writes messages of a model's API as
 * entries. whole_chatgpt.c writes conversations of ChatGPT.
 */
#include "model/session/whole.h"
#include "model/session/api.h"
#include "model/session/format.h"

#include <stdio.h>

#define BOM "\xEF\xBB\xBF"

static slice skip_space(slice text)
{
    if (text.len >= 3 && memcmp(text.ptr, BOM, 3) == 0)
        text = (slice){text.ptr + 3, text.len - 3};
    while (text.len > 0 && strchr(" \t\r\n", *text.ptr) != NULL && *text.ptr != '\0')
        text = (slice){text.ptr + 1, text.len - 1};
    return text;
}

/* A line of JSON Lines is a whole object. The first line of an indented object is not, and an
 * object with messages may be the only line of its file. */
bool session_may_be_whole(slice beginning, bool is_end)
{
    static const char *const NAMES[] = {"messages", "mapping"};
    slice text = skip_space(beginning);
    const char *end = text.len > 0 ? memchr(text.ptr, '\n', text.len) : NULL;
    slice line = {text.ptr, end != NULL ? (size_t)(end - text.ptr) : text.len};
    scan_value value, found[2];

    if (text.len == 0 || (*text.ptr != '{' && *text.ptr != '['))
        return false;
    if (*text.ptr == '[')
        return true;
    if (end == NULL && !is_end)
        return true;
    if (!scan_check(line, CARDBOX_JSON_DEPTH_MAX, &value, NULL, NULL))
        return true;
    session_pick(value, NAMES, found, 2);
    return found[0].kind == SCAN_ARRAY || found[1].kind == SCAN_OBJECT;
}

static bool has(scan_value object, const char *name, scan_kind kind)
{
    return object.kind == SCAN_OBJECT && scan_find(object, name).kind == kind;
}

session_whole_kind session_whole_of(scan_value *out, slice file)
{
    scan_value first = {SCAN_NONE, {NULL, 0}}, messages;
    slice text = skip_space(file);

    while (text.len > 0 && strchr(" \t\r\n", text.ptr[text.len - 1]) != NULL)
        text.len--;
    if (!scan_check(text, CARDBOX_JSON_DEPTH_MAX, out, NULL, NULL))
        return SESSION_WHOLE_NONE;
    if (has(*out, "mapping", SCAN_OBJECT))
        return SESSION_WHOLE_CONVERSATION;
    messages = out->kind == SCAN_OBJECT ? scan_find(*out, "messages") : *out;
    if (messages.kind != SCAN_ARRAY)
        return SESSION_WHOLE_NONE;
    scan_walk walk = scan_enter(messages);
    if (!scan_element(&walk, &first) || first.kind != SCAN_OBJECT)
        return SESSION_WHOLE_NONE;
    if (has(first, "mapping", SCAN_OBJECT))
        return SESSION_WHOLE_CONVERSATIONS;
    if (!has(first, "role", SCAN_STRING) && !has(first, "type", SCAN_STRING))
        return SESSION_WHOLE_NONE;
    *out = messages;
    return SESSION_WHOLE_MESSAGES;
}

const char *session_whole_file(session_whole_kind kind, int format)
{
    if (kind == SESSION_WHOLE_CONVERSATION || kind == SESSION_WHOLE_CONVERSATIONS)
        return "a conversation of ChatGPT";
    return format == CARDBOX_FORMAT_ANTHROPIC   ? "messages of the format anthropic"
           : format == CARDBOX_FORMAT_RESPONSES ? "items of the format responses"
                                                : "messages of the format openai";
}

/* --- the format of messages --- */

enum { IS_OPENAI = 1, IS_RESPONSES = 2, IS_ANTHROPIC = 4 };

/* Types of content blocks that only one format has. */
static const struct {
    const char *type;
    unsigned format;
} BLOCKS[] = {
    {"image_url", IS_OPENAI},
    {"input_audio", IS_OPENAI},
    {"file", IS_OPENAI},
    {"tool_use", IS_ANTHROPIC},
    {"tool_result", IS_ANTHROPIC},
    {"thinking", IS_ANTHROPIC},
    {"image", IS_ANTHROPIC},
    {"document", IS_ANTHROPIC},
    {"input_text", IS_RESPONSES},
    {"output_text", IS_RESPONSES},
    {"input_image", IS_RESPONSES},
    {"input_file", IS_RESPONSES},
    {"redacted_thinking", IS_ANTHROPIC},
};

static unsigned format_of_blocks(scan_value content)
{
    scan_walk walk = scan_enter(content.kind == SCAN_ARRAY ? content : (scan_value){0});
    scan_value block;
    unsigned formats = 0;

    while (scan_element(&walk, &block)) {
        scan_value type = block.kind == SCAN_OBJECT ? scan_find(block, "type") : block;
        for (size_t i = 0; i < sizeof(BLOCKS) / sizeof(BLOCKS[0]); i++)
            formats |= session_string_is(type, BLOCKS[i].type) ? BLOCKS[i].format : 0;
    }
    return formats;
}

/* Returns the formats that a message can only have; 0: it may have any format. */
static unsigned format_of_message(scan_value message)
{
    static const char *const NAMES[] = {"role",         "type",       "content",
                                        "tool_call_id", "tool_calls", "stop_reason"};
    static const char *const OPENAI_ROLES[] = {"system", "developer", "tool", "function"};
    scan_value found[6];
    unsigned formats = 0;

    session_pick(message, NAMES, found, 6);
    if (found[1].kind == SCAN_STRING && !session_string_is(found[1], "message"))
        return IS_RESPONSES;
    for (size_t i = 2; i < sizeof(OPENAI_ROLES) / sizeof(OPENAI_ROLES[0]); i++)
        formats |= session_string_is(found[0], OPENAI_ROLES[i]) ? IS_OPENAI : 0;
    if (found[3].kind != SCAN_NONE || found[4].kind == SCAN_ARRAY)
        formats |= IS_OPENAI;
    if (found[5].kind != SCAN_NONE)
        formats |= IS_ANTHROPIC;
    else if (found[1].kind == SCAN_STRING)
        formats |= IS_RESPONSES;
    return formats | format_of_blocks(found[2]);
}

int session_messages_format(scan_value messages, const char **reason)
{
    scan_walk walk = scan_enter(messages);
    scan_value message;
    unsigned formats = 0;

    *reason = NULL;
    while (scan_element(&walk, &message))
        formats |= message.kind == SCAN_OBJECT ? format_of_message(message) : 0;
    switch (formats) {
    case 0:
    case IS_OPENAI:
        return CARDBOX_FORMAT_OPENAI;
    case IS_RESPONSES:
        return CARDBOX_FORMAT_RESPONSES;
    case IS_ANTHROPIC:
        return CARDBOX_FORMAT_ANTHROPIC;
    default:
        *reason = "the messages are of several formats";
        return -1;
    }
}

/* --- lines --- */

static bool is_message(scan_value message, cardbox_format format)
{
    return has(message, "role", SCAN_STRING) ||
           (format == CARDBOX_FORMAT_RESPONSES && has(message, "type", SCAN_STRING));
}

/* A line of a session has no line breaks. */
static void put_json(buf *out, slice json)
{
    if (memchr(json.ptr, '\n', json.len) != NULL || memchr(json.ptr, '\r', json.len) != NULL)
        scan_compact(out, json);
    else
        buf_slice(out, json);
}

static slice or_null(scan_value value)
{
    return value.kind == SCAN_NONE ? SLICE("null") : value.text;
}

/* Appends the message and, of a whole answer of Anthropic's API, the members that a request may not
 * have as "answer". */
static void put_message(buf *out, scan_value message, cardbox_format format)
{
    static const char *const SENT[] = {"role", "content"};
    scan_walk walk = scan_enter(message);
    scan_value found[2], value;
    slice key;
    size_t answer = out->len;

    if (format != CARDBOX_FORMAT_ANTHROPIC || !has(message, "stop_reason", SCAN_STRING)) {
        buf_name(out, "message");
        put_json(out, message.text);
        return;
    }
    session_pick(message, SENT, found, 2);
    buf_member(out, "message", SLICE("{"));
    buf_name(out, "role");
    put_json(out, or_null(found[0]));
    buf_name(out, "content");
    put_json(out, or_null(found[1]));
    buf_text(out, "},\"answer\":{");
    answer = out->len;
    while (scan_member(&walk, &key, &value)) {
        if (scan_string_is(key, SLICE("role")) || scan_string_is(key, SLICE("content")))
            continue;
        if (out->len > answer)
            buf_char(out, ',');
        buf_slice(out, key);
        buf_char(out, ':');
        put_json(out, value.text);
    }
    buf_char(out, '}');
}

bool session_messages_lines(buf *out, scan_value messages, cardbox_format format, slice owner,
                            size_t *bad, arena *memory)
{
    scan_walk walk = scan_enter(messages);
    const char *parent = NULL;
    scan_value message;

    for (*bad = 0; scan_element(&walk, &message); (*bad)++) {
        char part[32];
        int len = snprintf(part, sizeof(part), "message %zu", *bad + 1);
        const char *id = session_make_id(owner, (slice){part, (size_t)len}, memory);

        if (id == NULL || !is_message(message, format))
            return false;
        buf_char(out, '{');
        session_put_links(out, SESSION_PLAIN, slice_of(id), slice_of(parent), (slice){NULL, 0});
        buf_member(out, "type", SLICE("\"message\""));
        buf_member_text(out, "format",
                        slice_of(format == CARDBOX_FORMAT_ANTHROPIC   ? "anthropic"
                                 : format == CARDBOX_FORMAT_RESPONSES ? "responses"
                                                                      : "openai"));
        put_message(out, message, format);
        buf_text(out, "}\n");
        parent = id;
    }
    return buf_ok(out);
}
