/*
 * convert_plain.c: an entry of pi as a line of plain. Texts of several blocks become one, its parts
 * known by their place; what ended in error has no counterpart, since plain can't say so.
 */
#include "model/session/convert_internal.h"
#include "model/session/message.h"

/* What of a message has a counterpart. The texts are insides. */
typedef struct parts {
    buf content, thinking, calls;
    size_t call_count;
    bool has_text, has_thinking;
    bool is_less; /* than what a model saw: plain has no images, and no signatures of thinking */
    holes holes;
} parts;

static void join(parts *p, buf *to, bool *has_any, scan_value string, hole_kind kind)
{
    view inside;

    if (string.kind != SCAN_STRING)
        return;
    inside = scan_inside(string.text);
    if (*has_any)
        buf_text(to, "\\n\\n");
    *has_any = true;
    holes_add(&p->holes, inside, kind, to->len, inside.len);
    buf_view(to, inside);
}

/* In the words around it in which a model is given it. */
static void join_summary(parts *p, scan_value summary)
{
    buf_text(&p->content, SESSION_BRANCH_BEGINS);
    join(p, &p->content, &p->has_text, summary, HOLE_CONTENT);
    buf_text(&p->content, SESSION_SUMMARY_ENDS);
}

static void add_call(parts *p, scan_value block)
{
    static const char *const NAMES[] = {"id", "name", "arguments"};
    scan_value found[3];
    buf *calls = &p->calls;

    session_pick(block, NAMES, found, 3);
    buf_text(calls, p->call_count > 0 ? ",{" : "{");
    buf_text(calls, "\"id\":");
    buf_view(calls, found[0].kind == SCAN_STRING ? found[0].text : VIEW("null"));
    convert_put_member(calls, "name", found[1].text);
    convert_put_member(calls, "params", found[2].text);
    buf_char(calls, '}');
    if (found[2].kind != SCAN_NONE)
        holes_add(&p->holes, found[2].text, HOLE_PARAMS, p->call_count, 0);
    p->call_count++;
}

static void add_block(parts *p, scan_value block, hole_kind text)
{
    scan_value type = scan_find(block, "type");
    bool is_thinking = session_says(type, "thinking");

    p->is_less = p->is_less || session_says(type, "image") ||
                 (is_thinking && scan_string_inside(scan_find(block, "thinkingSignature")).len > 0);
    if (session_says(type, "text"))
        join(p, &p->content, &p->has_text, scan_find(block, "text"), text);
    else if (text != HOLE_CONTENT)
        return;
    else if (is_thinking)
        join(p, &p->thinking, &p->has_thinking, scan_find(block, "thinking"), HOLE_THINKING);
    else if (session_says(type, "toolCall"))
        add_call(p, block);
}

static void read_parts(parts *p, const session_entry *entry, arena *memory)
{
    hole_kind text = entry->role == SESSION_ROLE_TOOL_RESULT ? HOLE_OUTPUT : HOLE_CONTENT;
    size_t most = 2 * entry->text.len + 512; /* a block is longer than what joins two */
    scan_walk walk = scan_enter(entry->content);
    scan_value block;

    *p = (parts){.content = BUF_INIT(most),
                 .thinking = BUF_INIT(most),
                 .calls = BUF_INIT(most),
                 .holes = {.memory = memory}};
    if (entry->kind == SESSION_BRANCH_SUMMARY)
        join_summary(p, entry->content);
    else if (entry->content.kind == SCAN_STRING)
        join(p, &p->content, &p->has_text, entry->content, text);
    while (entry->content.kind == SCAN_ARRAY && scan_element(&walk, &block))
        add_block(p, block, text);
}

static void put_joined(buf *out, const char *name, const buf *inside)
{
    buf_printf(out, ",\"%s\":", name);
    buf_json_quoted(out, buf_as_view(inside));
}

static void put_result(buf *out, const session_entry *entry, parts *p)
{
    static const char *const NAMES[] = {"toolCallId", "details", "isError"};
    scan_value found[3];

    session_pick(entry->body, NAMES, found, 3);
    buf_text(out, ",\"type\":\"tool_result\"");
    convert_put_member(out, "toolCallId", found[0].text);
    put_joined(out, "output", &p->content);
    convert_put_member(out, "details", found[1].text);
    if (found[1].kind != SCAN_NONE)
        holes_add(&p->holes, found[1].text, HOLE_DETAILS, 0, 0);
    buf_text(out, found[2].kind == SCAN_TRUE ? ",\"success\":false" : ",\"success\":true");
}

static void put_message(buf *out, const session_entry *entry, parts *p)
{
    if (entry->role == SESSION_ROLE_TOOL_RESULT) {
        put_result(out, entry, p);
        return;
    }
    buf_printf(out, ",\"type\":\"%s\"",
               entry->role == SESSION_ROLE_ASSISTANT ? "assistant" : "user");
    put_joined(out, "content", &p->content);
    if (p->has_thinking)
        put_joined(out, "thinking", &p->thinking);
    if (p->call_count > 0) {
        buf_text(out, ",\"toolCalls\":[");
        buf_view(out, buf_as_view(&p->calls));
        buf_char(out, ']');
    }
}

/* An index would name another entry in another file. */
static void put_kept(buf *out, const session_entry *entry)
{
    if (entry->kind != SESSION_COMPACTION || entry->target.kind != SCAN_NUMBER ||
        entry->kept.ptr == NULL)
        return;
    buf_text(out, ",\"firstKeptEntryId\":");
    if (entry->kept.len > 0)
        buf_json_string(out, entry->kept);
    else
        buf_text(out, "null");
}

static void put_whole(buf *out, const session_entry *entry, arena *memory)
{
    holes none = {.memory = memory};

    buf_text(out, ",\"type\":\"metadata\"");
    put_kept(out, entry);
    buf_text(out, ",\"pi\":");
    if (convert_is_deep(entry->text))
        holes_put(out, entry->text, &none);
    else
        buf_view(out, entry->text);
    buf_text(out, "}\n");
}

static bool has_counterpart(const session_entry *entry)
{
    scan_value reason = scan_find(entry->body, "stopReason");

    if (convert_is_deep(entry->text))
        return false;
    if (entry->kind == SESSION_BRANCH_SUMMARY)
        return entry->in_context;
    if (entry->kind != SESSION_MESSAGE ||
        (entry->content.kind != SCAN_STRING && entry->content.kind != SCAN_ARRAY))
        return false;
    if (entry->role == SESSION_ROLE_ASSISTANT)
        return !session_says(reason, "error") && !session_says(reason, "aborted");
    return entry->role == SESSION_ROLE_USER || entry->role == SESSION_ROLE_TOOL_RESULT;
}

bool convert_to_plain(buf *out, const session_item *item, view id, arena *memory)
{
    const session_entry *entry = item->entry;
    parts p;

    if (convert_put_same(out, item))
        return true;
    convert_put_link(out, item, id);
    if (!has_counterpart(entry)) {
        put_whole(out, entry, memory);
        return false;
    }
    read_parts(&p, entry, memory);
    put_message(out, entry, &p);
    buf_text(out, ",\"pi\":");
    holes_put(out, entry->text, &p.holes);
    buf_text(out, "}\n");
    if (!buf_ok(&p.content) || !buf_ok(&p.thinking) || !buf_ok(&p.calls))
        memory->failed = true;
    buf_free(&p.content);
    buf_free(&p.thinking);
    buf_free(&p.calls);
    return !p.is_less;
}

view convert_header_to_plain(buf *out, const session_header *header, arena *memory)
{
    view id = view_of(session_make_id(header->id, VIEW("header"), memory));

    buf_text(out, "{\"id\":");
    buf_json_string(out, id);
    buf_text(out, ",\"parentId\":null,\"type\":\"metadata\",\"pi\":");
    buf_view(out, header->text);
    buf_text(out, "}\n");
    return id;
}
