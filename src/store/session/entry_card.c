/*
 * entry_card.c: makes a card from a session entry: its content, its tool calls, and the id of its
 * tool call.
 */
#include "store/session/entry_card.h"

#include "base/errors.h"
#include "cardbox/session.h"
#include "model/session/context.h"
#include "store/client/check.h"
#include "store/card/card_write.h"

static bool is_call(scan_value block)
{
    return session_string_is(scan_find(block, "type"), "toolCall");
}

/* Joins the texts of pi's content blocks with line feeds, as a JSON string without its quotes.
 * Blocks with tool calls and thinking add no text. Returns false if a block of another kind has no
 * text. */
static bool join_texts(buf *out, scan_value content)
{
    scan_value block, text;
    size_t count = 0;

    for (scan_walk walk = scan_enter(content); scan_element(&walk, &block);) {
        if (is_call(block) || session_string_is(scan_find(block, "type"), "thinking"))
            continue;
        text = scan_find(block, "text");
        if (text.kind != SCAN_STRING)
            return false;
        buf_text(out, count++ == 0 ? "" : "\\n");
        buf_slice(out, scan_inside(text.text));
    }
    return true;
}

static slice make_message(const session_entry *entry, arena *memory)
{
    buf out = BUF_INIT(2 * (size_t)CARDBOX_CONTENT_MAX);

    buf_text(&out, "{\"__type__\":\"MessageContent\"");
    buf_member_text(&out, "format", slice_of(CONTEXT_FORMATS[entry->format]));
    buf_member(&out, "message", entry->body.text);
    buf_char(&out, '}');
    return arena_keep(memory, &out);
}

/* Returns a MessageContent for a message of an API, a TextContent for another entry with text or
 * without content, and a ToolCallContent for a plain entry of type "tool". Other content is
 * returned unchanged. */
static slice make_content(const session_entry *entry, arena *memory)
{
    buf out = BUF_INIT(2 * (size_t)CARDBOX_CONTENT_MAX);
    scan_value content = entry->content, name = scan_find(entry->value, "name");
    bool is_text = content.kind == SCAN_STRING || content.kind == SCAN_NONE;

    if (entry->kind == SESSION_PLAIN_MESSAGE)
        return make_message(entry, memory);
    if (entry->kind == SESSION_PLAIN_TOOL) {
        buf_text(&out, "{\"__type__\":\"ToolCallContent\"");
        buf_member(&out, "tool_name", name.kind == SCAN_STRING ? name.text : SLICE("\"\""));
        buf_member(&out, "arguments", content.kind == SCAN_OBJECT ? content.text : SLICE("{}"));
        buf_char(&out, '}');
        return arena_keep(memory, &out);
    }
    buf_text(&out, "{\"__type__\":\"TextContent\",\"text\":\"");
    if (content.kind == SCAN_STRING)
        buf_slice(&out, scan_inside(content.text));
    else if (entry->kind == SESSION_MESSAGE && content.kind == SCAN_ARRAY)
        is_text = join_texts(&out, content);
    buf_text(&out, "\"}");
    if (is_text)
        return arena_keep(memory, &out);
    buf_free(&out);
    return content.text;
}

/* Returns a JSON array of the tool calls of an assistant's entry. {NULL, 0}: the entry has none. */
static slice tool_calls_json(const session_entry *entry, arena *memory)
{
    scan_value calls = scan_find(entry->value, "toolCalls"), block;
    scan_walk walk = scan_enter(entry->content);
    buf out = BUF_INIT(CARDBOX_CONTENT_MAX);

    if (entry->kind == SESSION_PLAIN_ASSISTANT && calls.kind == SCAN_ARRAY)
        return calls.text;
    if (entry->kind != SESSION_MESSAGE || entry->role != SESSION_ROLE_ASSISTANT ||
        entry->content.kind != SCAN_ARRAY)
        return (slice){NULL, 0};
    while (scan_element(&walk, &block)) {
        if (!is_call(block))
            continue;
        buf_char(&out, out.len == 0 ? '[' : ',');
        buf_slice(&out, block.text);
    }
    if (out.len == 0)
        return (slice){NULL, 0};
    buf_char(&out, ']');
    return arena_keep(memory, &out);
}

static slice make_metadata(const entry_card *card, const session_entry *entry, arena *memory)
{
    buf out = BUF_INIT(8192);

    buf_printf(&out, "{\"type\":\"session.%s\"", session_kind_name(entry->kind));
    if (session_role_shown(entry->role) != NULL)
        buf_member_text(&out, "role", slice_of(session_role_shown(entry->role)));
    buf_member_text(&out, "session_id", card->session);
    buf_member_text(&out, "entry_id", card->entry);
    buf_char(&out, '}');
    return arena_keep(memory, &out);
}

cardbox_status entry_card_make(card_input *out, const entry_card *card, slice json, arena *memory,
                               cardbox_error *err)
{
    const char *reason = NULL;
    session_line line;
    session_entry entry;
    slice call = {NULL, 0};
    client_card given = {.tenant = card->tenant, .card_id = card->card_id, .sealed = true};

    json.ptr = arena_copy(memory, json);
    if (json.ptr == NULL || !session_line_from_store(&line, json) ||
        !session_entry_read(&entry, &line, SLICE(""), memory, &reason))
        return memory->failed ? error_nomem(err)
                              : error_set(err, CARDBOX_INTERNAL, "the stored entry is damaged");
    if (!entry.in_context)
        return error_set(err, CARDBOX_INVALID, "entry %.*s contains no message",
                         error_shown(card->entry), card->entry.ptr);
    bool has_call = entry.kind == SESSION_PLAIN_TOOL || entry.role == SESSION_ROLE_TOOL_RESULT;
    if (has_call && session_text_of(&call, entry.target, memory) &&
        slice_is_id(call, CARDBOX_CARD_ID_MAX))
        given.tool_call_id = call;
    given.content = make_content(&entry, memory);
    given.tool_calls = tool_calls_json(&entry, memory);
    given.metadata = make_metadata(card, &entry, memory);
    return memory->failed ? error_nomem(err) : card_input_make(out, &given, NULL, err);
}

/* --- the public function --- */

cardbox_status cardbox_card_from_entry(cardbox_outcome *outcome, cardbox *db, const char *tenant,
                                       const char *session_id, const char *entry_id,
                                       const char *card_id, cardbox_error *err)
{
    arena memory = ARENA_INIT;
    card_input input = {.sealed = true};
    cardbox_entries *found = NULL;
    cardbox_status status = check_id("card_id", card_id, CARDBOX_CARD_ID_MAX, err);

    if (status == CARDBOX_OK)
        status = check_id("entry_id", entry_id, SESSION_ID_MAX, err);
    if (status == CARDBOX_OK)
        status = cardbox_session_get_entries(&found, db, tenant, session_id, &entry_id, 1, err);
    if (status != CARDBOX_OK)
        return status;
    const cardbox_entry *entry = cardbox_entries_at(found, 0);
    const entry_card card = {slice_of(tenant), slice_of(session_id), slice_of(entry_id),
                             slice_of(card_id)};
    if (entry == NULL)
        status = session_entry_not_found(card.session, card.entry, err);
    else
        status = entry_card_make(&input, &card, slice_of(entry->json), &memory, err);
    if (status == CARDBOX_OK)
        status = cards_send(outcome, db, &input, 1, err);
    card_input_free(&input);
    cardbox_entries_free(found);
    arena_reset(&memory);
    return status;
}
