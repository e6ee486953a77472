/*
 * whole.c: recognises files that are one JSON value, and writes messages of a model's API as
 * entries. whole_chatgpt.c writes conversations of ChatGPT.
 */
#include "model/session/whole.h"
#include "model/session/context.h"
#include "model/session/foreign.h"

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

static scan_value messages_of(scan_value value)
{
    return value.kind == SCAN_OBJECT ? scan_find(value, "messages") : value;
}

session_whole_kind session_whole_of(scan_value *out, slice file)
{
    scan_value first = {SCAN_NONE, {NULL, 0}};
    slice text = skip_space(file);

    while (text.len > 0 && strchr(" \t\r\n", text.ptr[text.len - 1]) != NULL)
        text.len--;
    if (!scan_check(text, CARDBOX_JSON_DEPTH_MAX, out, NULL, NULL))
        return SESSION_WHOLE_NONE;
    if (has(*out, "mapping", SCAN_OBJECT))
        return SESSION_WHOLE_CONVERSATION;
    scan_value messages = messages_of(*out);
    scan_walk walk = scan_enter(messages.kind == SCAN_ARRAY ? messages : (scan_value){0});
    if (!scan_element(&walk, &first))
        return SESSION_WHOLE_NONE;
    if (has(first, "mapping", SCAN_OBJECT) && scan_count(messages) > 1) {
        *out = messages;
        return SESSION_WHOLE_CONVERSATIONS;
    }
    if (has(first, "mapping", SCAN_OBJECT)) {
        *out = first;
        return SESSION_WHOLE_CONVERSATION;
    }
    return has(first, "role", SCAN_STRING) || has(first, "type", SCAN_STRING)
               ? SESSION_WHOLE_MESSAGES
               : SESSION_WHOLE_NONE;
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

/* Returns the formats that a message can only have; 0: it may have any format, or its type is
 * unknown, which sets *is_unknown. */
static unsigned format_of_message(scan_value message, bool *is_unknown)
{
    static const char *const NAMES[] = {"role",         "type",       "content",
                                        "tool_call_id", "tool_calls", "stop_reason"};
    static const char *const OPENAI_ROLES[] = {"system", "developer", "tool", "function"};
    scan_value found[6];
    unsigned formats = 0;

    session_pick(message, NAMES, found, 6);
    if (found[1].kind == SCAN_STRING && !session_string_is(found[1], "message")) {
        bool is_item = session_is_api_item(found[1]);
        *is_unknown = *is_unknown || !is_item;
        return is_item ? IS_RESPONSES : 0;
    }
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

int session_messages_format(scan_value value, const char **reason)
{
    scan_walk walk = scan_enter(messages_of(value));
    scan_value message;
    unsigned formats = 0;
    bool is_unknown = false;

    *reason = NULL;
    while (scan_element(&walk, &message))
        formats |= message.kind == SCAN_OBJECT ? format_of_message(message, &is_unknown) : 0;
    if (formats == 0 && is_unknown)
        *reason = "the elements have types of no API that is known";
    else if (formats == IS_RESPONSES)
        return CARDBOX_FORMAT_RESPONSES;
    else if (formats == IS_ANTHROPIC && !is_unknown)
        return CARDBOX_FORMAT_ANTHROPIC;
    else if ((formats == 0 || formats == IS_OPENAI) && !is_unknown)
        return CARDBOX_FORMAT_OPENAI;
    else
        *reason = "the messages are of several formats";
    return -1;
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

void session_put_rest(buf *out, scan_value object, const char *const *names, size_t count)
{
    scan_walk walk = scan_enter(object);
    scan_value value;
    slice key;

    while (object.kind == SCAN_OBJECT && scan_member(&walk, &key, &value)) {
        size_t i = 0;
        while (i < count && !scan_string_is(key, slice_of(names[i])))
            i++;
        if (i < count)
            continue;
        buf_comma(out);
        buf_slice(out, key);
        buf_char(out, ':');
        scan_compact(out, value.text);
    }
}

void session_put_object(buf *out, const char *name, buf *members, arena *memory)
{
    if (members->len > 0) {
        buf_member(out, name, SLICE("{"));
        buf_slice(out, buf_as_slice(members));
        buf_char(out, '}');
    }
    memory->failed = memory->failed || !buf_ok(members);
    buf_free(members);
}

/* Appends the message and, of a whole answer of Anthropic's API, the members that a request may not
 * have as "answer". */
static void put_message(buf *out, scan_value message, cardbox_format format, arena *memory)
{
    static const char *const SENT[] = {"role", "content"};
    buf answer = BUF_INIT(SIZE_MAX / 4);
    scan_value found[2];

    if (format == CARDBOX_FORMAT_ANTHROPIC)
        session_put_rest(&answer, message, SENT, 2);
    buf_name(out, "message");
    if (answer.len == 0) {
        put_json(out, message.text);
    } else {
        session_pick(message, SENT, found, 2);
        buf_char(out, '{');
        buf_name(out, "role");
        put_json(out, found[0].text);
        if (found[1].kind != SCAN_NONE) {
            buf_name(out, "content");
            put_json(out, found[1].text);
        }
        buf_char(out, '}');
    }
    session_put_object(out, "answer", &answer, memory);
}

/* Begins a line with an id that is made from `owner` and `part`. Returns this id. NULL: out of
 * memory. */
static const char *begin_line(buf *out, slice owner, const char *part, const char *parent,
                              arena *memory)
{
    const char *id = session_make_id(owner, slice_of(part), memory);

    if (id == NULL)
        return NULL;
    buf_char(out, '{');
    session_put_links(out, SESSION_PLAIN, slice_of(id), slice_of(parent), (slice){NULL, 0});
    return id;
}

/* Appends an entry for the members of an object beside its messages: one of the type settings, or
 * of the type metadata if the object has no settings. Returns the entry's id; NULL: there are no
 * such members, or memory ran out. */
static const char *put_beside(buf *out, scan_value object, cardbox_format format, slice owner,
                              arena *memory)
{
    static const char *const NAMES[] = {"system", "instructions", "tools", "parameters",
                                        "messages"};
    static const char *const SETTINGS[] = {"system", "system", "tools", "parameters"};
    scan_value found[4];
    buf settings = BUF_INIT(SIZE_MAX / 4), rest = BUF_INIT(SIZE_MAX / 4);
    const char *id = NULL;

    session_pick(object, NAMES, found, 4);
    for (size_t i = 0; i < 4; i++) {
        if (found[i].kind == SCAN_NONE || (i == 1 && found[0].kind != SCAN_NONE))
            continue;
        buf_name(&settings, SETTINGS[i]);
        put_json(&settings, found[i].text);
    }
    session_put_rest(&rest, object, NAMES, 5);
    if (settings.len > 0 || rest.len > 0)
        id = begin_line(out, owner, "settings", NULL, memory);
    if (id != NULL) {
        buf_member_text(out, "type", settings.len > 0 ? SLICE("settings") : SLICE("metadata"));
        if (settings.len > 0) {
            buf_member_text(out, "format", slice_of(CONTEXT_FORMATS[format]));
            buf_char(out, ',');
            buf_slice(out, buf_as_slice(&settings));
        }
        session_put_object(out, "metadata", &rest, memory);
        buf_text(out, "}\n");
    }
    memory->failed = memory->failed || !buf_ok(&settings);
    buf_free(&settings);
    buf_free(&rest);
    return id;
}

bool session_messages_lines(buf *out, scan_value value, cardbox_format format, slice owner,
                            size_t *bad, arena *memory)
{
    scan_walk walk = scan_enter(messages_of(value));
    const char *parent =
        value.kind == SCAN_OBJECT ? put_beside(out, value, format, owner, memory) : NULL;
    scan_value message;

    for (*bad = 0; !memory->failed && scan_element(&walk, &message); (*bad)++) {
        char part[32];

        if (!is_message(message, format))
            return false;
        snprintf(part, sizeof(part), "message %zu", *bad + 1);
        parent = begin_line(out, owner, part, parent, memory);
        buf_member(out, "type", SLICE("\"message\""));
        buf_member_text(out, "format", slice_of(CONTEXT_FORMATS[format]));
        put_message(out, message, format, memory);
        buf_text(out, "}\n");
    }
    return buf_ok(out) && !memory->failed;
}
