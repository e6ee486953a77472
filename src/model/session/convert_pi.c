/*
 * convert_pi.c: entries of plain as a line of pi. An assistant's entry and the tools that follow it
 * alone become one message with the last one's id, so that what hangs on the run keeps its parent.
 * Provider and model are left out: plain does not say them, and what is said here would be taken
 * for the session's model.
 */
#include "base/isotime.h"
#include "model/session/convert_internal.h"

#define USAGE                                                                                      \
    "{\"input\":0,\"output\":0,\"cacheRead\":0,\"cacheWrite\":0,\"totalTokens\":0,\"cost\":{"      \
    "\"input\":0,\"output\":0,\"cacheRead\":0,\"cacheWrite\":0,\"total\":0}}"

/* The blocks of a message under way. */
typedef struct blocks {
    buf *out;
    size_t count;
    size_t calls;
} blocks;

static void put_timestamp(buf *out, const session_entry *entry)
{
    view text = entry->timestamp;
    isotime time;

    if (!isotime_parse(scan_inside(text), &time))
        return;
    buf_text(out, ",\"timestamp\":");
    buf_int(out, isotime_to_micros(&time) / 1000);
}

/* Begins a block of a type; gives its index. */
static size_t begin_block(blocks *b, const char *type)
{
    if (b->count > 0)
        buf_char(b->out, ',');
    buf_printf(b->out, "{\"type\":\"%s\"", type);
    return b->count++;
}

/* A block of one string, unless there is none or it is empty. */
static void put_text(blocks *b, const char *type, scan_value string, hole_kind kind, holes *h)
{
    const char *name = kind == HOLE_THOUGHT ? "thinking" : "text";

    if (string.kind != SCAN_STRING || string.text.len == 2)
        return;
    holes_add(h, scan_inside(string.text), kind, begin_block(b, type), 0);
    convert_put_member(b->out, name, string.text);
    buf_char(b->out, '}');
}

static void put_call(blocks *b, scan_value id, scan_value name, scan_value params, holes *h)
{
    size_t index = begin_block(b, "toolCall");

    convert_put_member(b->out, "id", id.text);
    convert_put_member(b->out, "name", name.text);
    convert_put_member(b->out, "arguments", params.kind != SCAN_NONE ? params.text : VIEW("{}"));
    buf_char(b->out, '}');
    if (params.kind != SCAN_NONE)
        holes_add(h, params.text, HOLE_ARGUMENTS, index, 0);
    b->calls++;
}

static void put_listed_calls(blocks *b, scan_value calls, holes *h)
{
    static const char *const NAMES[] = {"id", "name", "params"};
    scan_value call, found[3];
    scan_walk walk = scan_enter(calls);

    while (calls.kind == SCAN_ARRAY && scan_element(&walk, &call)) {
        session_pick(call, NAMES, found, 3);
        if (call.kind == SCAN_OBJECT)
            put_call(b, found[0], found[1], found[2], h);
    }
}

/* One entry's blocks. */
static void put_blocks(blocks *b, const session_entry *entry, holes *h)
{
    static const char *const NAMES[] = {"thinking", "toolCalls", "name"};
    scan_value found[3];

    session_pick(entry->value, NAMES, found, 3);
    if (entry->kind == SESSION_PLAIN_TOOL) {
        put_call(b, entry->target, found[2], entry->content, h);
        return;
    }
    put_text(b, "thinking", found[0], HOLE_THOUGHT, h);
    put_text(b, "text", entry->content, HOLE_TEXT, h);
    put_listed_calls(b, found[1], h);
}

static void put_assistant(buf *out, const session_item *run, size_t count, holes *all)
{
    blocks b = {out, 0, 0};

    buf_text(out, "\"assistant\",\"content\":[");
    for (size_t i = 0; i < count; i++)
        put_blocks(&b, run[i].entry, &all[i]);
    buf_printf(out, "],\"usage\":" USAGE ",\"stopReason\":\"%s\"",
               b.calls > 0 ? "toolUse" : "stop");
}

static void put_result(buf *out, const session_entry *entry, view name, holes *h)
{
    static const char *const NAMES[] = {"details", "success"};
    blocks b = {out, 0, 0};
    scan_value found[2];

    session_pick(entry->value, NAMES, found, 2);
    buf_text(out, "\"toolResult\"");
    convert_put_member(out, "toolCallId", entry->target.text);
    convert_put_member(out, "toolName", name.len > 0 ? name : VIEW("\"unknown\""));
    buf_text(out, ",\"content\":[");
    if (entry->content.kind == SCAN_STRING) {
        put_text(&b, "text", entry->content, HOLE_TEXT, h);
    } else if (entry->content.kind != SCAN_NONE) {
        holes_add(h, entry->content.text, HOLE_JSON, begin_block(&b, "text"), 0);
        buf_text(out, ",\"text\":");
        buf_json_string(out, entry->content.text);
        buf_char(out, '}');
    }
    buf_char(out, ']');
    convert_put_member(out, "details", found[0].text);
    if (found[0].kind != SCAN_NONE)
        holes_add(h, found[0].text, HOLE_DETAILS, 0, 0);
    buf_text(out, found[1].kind == SCAN_FALSE ? ",\"isError\":true" : ",\"isError\":false");
}

static void put_user(buf *out, const session_entry *entry, holes *h)
{
    buf_text(out, "\"user\"");
    convert_put_member(out, "content", entry->content.text);
    holes_add(h, scan_inside(entry->content.text), HOLE_STRING, 0, 0);
}

static void put_custom(buf *out, const session_entry *entry, arena *memory)
{
    holes none = {.memory = memory};

    buf_text(out, ",\"type\":\"custom\",\"customType\":\"plain\",\"plain\":");
    if (convert_is_deep(entry->text)) {
        buf_char(out, '[');
        holes_put(out, entry->text, &none);
        buf_text(out, "]}\n");
    } else {
        buf_text(out, "true,\"data\":");
        buf_view(out, entry->text);
        buf_text(out, "}\n");
    }
}

static bool has_counterpart(const session_entry *entry)
{
    if (convert_is_deep(entry->text))
        return false;
    switch (entry->kind) {
    case SESSION_PLAIN_USER:
        return entry->content.kind == SCAN_STRING;
    case SESSION_PLAIN_ASSISTANT:
    case SESSION_PLAIN_TOOL:
    case SESSION_PLAIN_TOOL_RESULT:
        return true;
    default:
        return false;
    }
}

bool convert_to_pi(buf *out, const session_item *run, size_t count, view name, arena *memory)
{
    const session_entry *entry = run[0].entry;
    holes *all = arena_zeros(memory, count, sizeof(*all));

    if (convert_put_same(out, &run[0]))
        return true;
    convert_put_link(out, &run[0], run[count - 1].entry->id);
    if (all == NULL || !has_counterpart(entry)) {
        put_custom(out, entry, memory);
        return false;
    }
    for (size_t i = 0; i < count; i++)
        all[i].memory = memory;
    buf_text(out, ",\"type\":\"message\",\"message\":{\"role\":");
    if (entry->kind == SESSION_PLAIN_USER)
        put_user(out, entry, all);
    else if (entry->kind == SESSION_PLAIN_TOOL_RESULT)
        put_result(out, entry, name, all);
    else
        put_assistant(out, run, count, all);
    put_timestamp(out, entry);
    buf_text(out, "},\"plain\":[");
    for (size_t i = 0; i < count; i++) {
        if (i > 0)
            buf_char(out, ',');
        holes_put(out, run[i].entry->text, &all[i]);
    }
    buf_text(out, "]}\n");
    return true;
}

void convert_make_header(buf *out, view id, view timestamp)
{
    buf_text(out, "{\"type\":\"session\",\"version\":3,\"id\":");
    buf_json_string(out, id);
    convert_put_member(out, "timestamp",
                       timestamp.len > 0 ? timestamp : VIEW("\"1970-01-01T00:00:00.000Z\""));
    buf_text(out, ",\"cwd\":\"/\",\"plain\":true}\n");
}
