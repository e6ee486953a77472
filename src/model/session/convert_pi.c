/*
 * convert_pi.c: writes one plain entry, or several plain entries that become one message, as one
 * line of pi. Such a message gets the id of the last of the entries, so that the children of that
 * entry keep their parent. Provider and model are left out, because invented values would change
 * the session's settings.
 */
#include "model/session/convert_internal.h"
#include "model/session/message.h"

#define USAGE                                                                                      \
    "{\"input\":0,\"output\":0,\"cacheRead\":0,\"cacheWrite\":0,\"totalTokens\":0,\"cost\":{"      \
    "\"input\":0,\"output\":0,\"cacheRead\":0,\"cacheWrite\":0,\"total\":0}}"

/* The content blocks of a message that is being written. */
typedef struct blocks {
    buf *out;
    size_t calls;
} blocks;

static void begin_block(blocks *b, const char *type)
{
    buf_comma(b->out);
    buf_printf(b->out, "{\"type\":\"%s\"", type);
}

/* If `string` is a string and not empty, appends a block of the type "text" or "thinking". */
static void put_text(blocks *b, const char *type, scan_value string)
{
    if (string.kind != SCAN_STRING || string.text.len == 2)
        return;
    begin_block(b, type);
    convert_put_member(b->out, type, string.text);
    buf_char(b->out, '}');
}

static void put_call(blocks *b, scan_value id, scan_value name, scan_value params)
{
    begin_block(b, "toolCall");
    convert_put_member(b->out, "id", id.text);
    convert_put_member(b->out, "name", name.text);
    convert_put_member(b->out, "arguments", params.kind != SCAN_NONE ? params.text : SLICE("{}"));
    buf_char(b->out, '}');
    b->calls++;
}

static void put_listed_calls(blocks *b, scan_value calls)
{
    static const char *const NAMES[] = {"id", "name", "params"};
    scan_value call, found[3];
    scan_walk walk = scan_enter(calls);

    while (calls.kind == SCAN_ARRAY && scan_element(&walk, &call)) {
        session_pick(call, NAMES, found, 3);
        if (call.kind == SCAN_OBJECT)
            put_call(b, found[0], found[1], found[2]);
    }
}

/* Appends the content blocks for one "assistant" or "tool" entry. */
static void put_blocks(blocks *b, const session_entry *entry)
{
    static const char *const NAMES[] = {"thinking", "toolCalls", "name"};
    scan_value found[3];

    session_pick(entry->value, NAMES, found, 3);
    if (entry->kind == SESSION_PLAIN_TOOL) {
        put_call(b, entry->target, found[2], entry->content);
        return;
    }
    put_text(b, "thinking", found[0]);
    put_text(b, "text", entry->content);
    put_listed_calls(b, found[1]);
}

static void put_assistant(buf *out, const session_item *run, size_t count)
{
    blocks b = {out, 0};

    buf_text(out, "\"assistant\",\"content\":[");
    for (size_t i = 0; i < count; i++)
        put_blocks(&b, run[i].entry);
    buf_printf(out, "],\"usage\":" USAGE ",\"stopReason\":\"%s\"",
               b.calls > 0 ? "toolUse" : "stop");
}

static void put_result(buf *out, const session_entry *entry, slice name)
{
    static const char *const NAMES[] = {"details", "success"};
    blocks b = {out, 0};
    scan_value found[2];

    session_pick(entry->value, NAMES, found, 2);
    buf_text(out, "\"toolResult\"");
    convert_put_member(out, "toolCallId", entry->target.text);
    convert_put_member(out, "toolName", name.len > 0 ? name : SLICE("\"unknown\""));
    buf_text(out, ",\"content\":[");
    if (entry->content.kind == SCAN_STRING) {
        put_text(&b, "text", entry->content);
    } else if (entry->content.kind != SCAN_NONE && entry->content.kind != SCAN_NULL) {
        begin_block(&b, "text");
        buf_member_text(out, "text", entry->content.text);
        buf_char(out, '}');
    }
    buf_char(out, ']');
    convert_put_member(out, "details", found[0].text);
    buf_text(out, found[1].kind == SCAN_FALSE ? ",\"isError\":true" : ",\"isError\":false");
}

/* Returns true if pi has all blocks of a user's content: texts, and images with their data. */
static bool has_pi_blocks(const session_entry *entry)
{
    scan_walk walk = scan_enter(entry->content);
    context_block block;

    while (context_next_block(&block, &walk, CONTEXT_USER)) {
        if (!block.is_supported || block.part.url.len > 0)
            return false;
    }
    return entry->content.kind == SCAN_ARRAY;
}

/* Appends the blocks of a user's content in pi's format. */
static void put_user_blocks(buf *out, const session_entry *entry)
{
    scan_walk walk = scan_enter(entry->content);
    blocks b = {out, 0};
    context_block block;

    buf_char(out, '[');
    while (context_next_block(&block, &walk, CONTEXT_USER)) {
        bool is_text = block.part.kind == CONTEXT_TEXT;
        begin_block(&b, is_text ? "text" : "image");
        buf_name(out, is_text ? "text" : "data");
        buf_json_quoted(out, is_text ? block.part.text.bytes : block.part.data);
        if (!is_text)
            buf_member_text(out, "mimeType", block.part.mime);
        buf_char(out, '}');
    }
    buf_char(out, ']');
}

static bool has_counterpart(const session_entry *entry)
{
    bool is_user = entry->kind == SESSION_PLAIN_USER &&
                   (entry->content.kind == SCAN_STRING || has_pi_blocks(entry));

    return (is_user || entry->kind == SESSION_PLAIN_ASSISTANT ||
            entry->kind == SESSION_PLAIN_TOOL || entry->kind == SESSION_PLAIN_TOOL_RESULT) &&
           !convert_is_deep(entry->text);
}

bool convert_to_pi(buf *out, const session_item *run, size_t count, slice name)
{
    const session_entry *entry = run[0].entry;
    bool is_message = has_counterpart(entry);
    int64_t ms;

    if (convert_put_same(out, &run[0]))
        return true;
    buf_char(out, '{');
    session_put_links(out, SESSION_PI, run[count - 1].entry->id, run[0].parent, entry->timestamp);
    buf_text(out, is_message ? ",\"type\":\"message\",\"message\":{\"role\":"
                             : ",\"type\":\"custom\",\"customType\":\"plain\"");
    if (is_message && entry->kind == SESSION_PLAIN_USER) {
        buf_text(out, "\"user\"");
        if (entry->content.kind == SCAN_STRING) {
            convert_put_member(out, "content", entry->content.text);
        } else {
            buf_name(out, "content");
            put_user_blocks(out, entry);
        }
    } else if (is_message && entry->kind == SESSION_PLAIN_TOOL_RESULT) {
        put_result(out, entry, name);
    } else if (is_message) {
        put_assistant(out, run, count);
    }
    if (is_message) {
        if (session_time_ms(&ms, entry->timestamp))
            buf_member_int(out, "timestamp", ms);
        buf_char(out, '}');
    }
    for (size_t i = 0; i < count; i++) {
        buf_text(out, i == 0 ? ",\"plain\":[" : ",");
        convert_put_original(out, run[i].entry->text);
    }
    buf_text(out, "]}\n");
    return is_message;
}

void convert_make_header(buf *out, slice id, slice timestamp)
{
    buf_text(out, "{\"type\":\"session\",\"version\":3,\"id\":");
    buf_json_string(out, id);
    buf_name(out, "timestamp");
    session_put_time(out, SESSION_PI,
                     timestamp.len > 0 ? timestamp : SLICE("\"1970-01-01T00:00:00.000Z\""));
    buf_text(out, ",\"cwd\":\"/\",\"plain\":true}\n");
}
