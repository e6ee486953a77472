/*
 * convert_plain.c: writes an entry of pi as a line of plain. Several text blocks become one text.
 * An assistant's message that ended in an error or was aborted has no counterpart, because
 * "assistant" entries of plain have no field for errors.
 */
#include "model/session/convert_internal.h"
#include "model/session/message.h"

/* The parts of a message that plain can express. Content and thinking are insides of JSON strings.
 */
typedef struct parts {
    buf content, thinking, calls;
    bool has_text, has_thinking;
    bool is_partial; /* true: the message has images or signatures, which plain can't express */
} parts;

static void add_text(buf *to, bool *has_any, scan_value string)
{
    if (string.kind != SCAN_STRING)
        return;
    if (*has_any)
        buf_text(to, "\\n\\n");
    *has_any = true;
    buf_slice(to, scan_inside(string.text));
}

static void add_call(parts *p, scan_value block)
{
    static const char *const NAMES[] = {"id", "name", "arguments"};
    scan_value found[3];
    buf *calls = &p->calls;

    session_pick(block, NAMES, found, 3);
    buf_comma(calls);
    buf_char(calls, '{');
    buf_member(calls, "id", found[0].kind == SCAN_STRING ? found[0].text : (slice){NULL, 0});
    convert_put_member(calls, "name", found[1].text);
    convert_put_member(calls, "params", found[2].text);
    buf_char(calls, '}');
}

/* Adds a block of a message to `p`. If the message is the result of a tool, adds only text. */
static void add_block(parts *p, scan_value block, bool is_result)
{
    scan_value type = scan_find(block, "type");
    bool is_thinking = session_string_is(type, "thinking");

    p->is_partial =
        p->is_partial || session_string_is(type, "image") ||
        (is_thinking && scan_string_inside(scan_find(block, "thinkingSignature")).len > 0);
    if (session_string_is(type, "text"))
        add_text(&p->content, &p->has_text, scan_find(block, "text"));
    else if (is_thinking && !is_result)
        add_text(&p->thinking, &p->has_thinking, scan_find(block, "thinking"));
    else if (session_string_is(type, "toolCall") && !is_result)
        add_call(p, block);
}

static void read_parts(parts *p, const session_entry *entry)
{
    size_t most = 2 * entry->text.len + 512;
    scan_walk walk = scan_enter(entry->content);
    scan_value block;

    *p = (parts){.content = BUF_INIT(most), .thinking = BUF_INIT(most), .calls = BUF_INIT(most)};
    if (entry->kind == SESSION_BRANCH_SUMMARY) /* plain has no entries for summaries */
        buf_text(&p->content, SESSION_BRANCH_BEGINS);
    if (entry->content.kind == SCAN_STRING)
        add_text(&p->content, &p->has_text, entry->content);
    if (entry->kind == SESSION_BRANCH_SUMMARY)
        buf_text(&p->content, SESSION_SUMMARY_ENDS);
    while (entry->content.kind == SCAN_ARRAY && scan_element(&walk, &block))
        add_block(p, block, entry->role == SESSION_ROLE_TOOL_RESULT);
}

static void put_joined(buf *out, const char *name, const buf *inside)
{
    buf_name(out, name);
    buf_json_quoted(out, buf_as_slice(inside));
}

static void put_result(buf *out, const session_entry *entry, const parts *p)
{
    static const char *const NAMES[] = {"toolCallId", "details", "isError"};
    scan_value found[3];

    session_pick(entry->body, NAMES, found, 3);
    buf_text(out, ",\"type\":\"tool_result\"");
    convert_put_member(out, "toolCallId", found[0].text);
    put_joined(out, "output", &p->content);
    convert_put_member(out, "details", found[1].text);
    buf_text(out, found[2].kind == SCAN_TRUE ? ",\"success\":false" : ",\"success\":true");
}

static void put_message(buf *out, const session_entry *entry, const parts *p)
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
    if (p->calls.len > 0) {
        buf_text(out, ",\"toolCalls\":[");
        buf_slice(out, buf_as_slice(&p->calls));
        buf_char(out, ']');
    }
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
        return !session_string_is(reason, "error") && !session_string_is(reason, "aborted");
    return entry->role == SESSION_ROLE_USER || entry->role == SESSION_ROLE_TOOL_RESULT;
}

bool convert_to_plain(buf *out, const session_item *item, slice id, arena *memory)
{
    const session_entry *entry = item->entry;
    bool is_message = has_counterpart(entry);
    parts p = {.has_text = false};

    if (convert_put_same(out, item))
        return true;
    buf_char(out, '{');
    session_put_links(out, SESSION_PLAIN, id, item->parent, entry->timestamp);
    if (is_message) {
        read_parts(&p, entry);
        put_message(out, entry, &p);
    } else {
        buf_text(out, ",\"type\":\"metadata\"");
        /* The index of the first kept entry is valid only in the original file, so the id of this
         * entry is added. */
        if (entry->kind == SESSION_COMPACTION && entry->target.kind == SCAN_NUMBER &&
            entry->first_kept.ptr != NULL)
            buf_member_text(out, "firstKeptEntryId",
                            entry->first_kept.len > 0 ? entry->first_kept : (slice){NULL, 0});
    }
    buf_text(out, ",\"pi\":");
    convert_put_original(out, entry->text);
    buf_text(out, "}\n");
    if (!buf_ok(&p.content) || !buf_ok(&p.thinking) || !buf_ok(&p.calls))
        memory->failed = true;
    buf_free(&p.content);
    buf_free(&p.thinking);
    buf_free(&p.calls);
    return is_message && !p.is_partial;
}

slice convert_header_to_plain(buf *out, const session_header *header, arena *memory)
{
    slice id = slice_of(session_make_id(header->id, SLICE("header"), memory));

    buf_char(out, '{');
    session_put_links(out, SESSION_PLAIN, id, (slice){NULL, 0}, header->timestamp);
    buf_text(out, ",\"type\":\"metadata\",\"pi\":");
    convert_put_original(out, header->text);
    buf_text(out, "}\n");
    return id;
}
