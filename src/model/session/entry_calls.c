/*
 * entry_calls.c: reads the calls and the content blocks of one entry as message_entry.c does, but
 * makes no messages.
 */
#include "model/session/entry_calls.h"

#include "model/session/message.h"

static void add_id(session_calls *out, size_t *capacity, scan_value id, arena *memory)
{
    slice call;

    if (out->count == SESSION_CALLS_MAX || scan_string_inside(id).len == 0)
        return;
    slice *ids = arena_more(memory, out->ids, out->count, capacity, sizeof(*ids));
    if (ids == NULL)
        return;
    out->ids = ids;
    if (!session_text_of(&call, id, memory))
        call = scan_string_inside(id); /* the id can't be decoded: see context_call_of */
    ids[out->count++] = call;
}

static void read_blocks(session_calls *out, size_t *capacity, const session_entry *entry,
                        arena *memory)
{
    context_role role = entry->role == SESSION_ROLE_ASSISTANT     ? CONTEXT_ASSISTANT
                        : entry->role == SESSION_ROLE_TOOL_RESULT ? CONTEXT_RESULT
                        : entry->role == SESSION_ROLE_SYSTEM      ? CONTEXT_SYSTEM
                                                                  : CONTEXT_USER;
    scan_walk walk = scan_enter(entry->content);
    context_block block;

    while (entry->content.kind == SCAN_ARRAY && context_next_block(&block, &walk, role)) {
        if (!block.is_supported)
            out->has_unsupported_block = true;
        else if (block.part.kind == CONTEXT_CALL)
            add_id(out, capacity, block.call_id, memory);
    }
}

static void read_listed_calls(session_calls *out, size_t *capacity, const session_entry *entry,
                              arena *memory)
{
    scan_value calls = scan_find(entry->value, "toolCalls"), call;
    scan_walk walk = scan_enter(calls);

    while (calls.kind == SCAN_ARRAY && scan_element(&walk, &call))
        add_id(out, capacity, scan_find(call, "id"), memory);
}

bool session_calls_read(session_calls *out, const session_entry *entry, arena *memory)
{
    scan_value stop = entry->fields[SESSION_FIELD_STOP_REASON];
    size_t capacity = 0;

    *out = (session_calls){.is_result = entry->role == SESSION_ROLE_TOOL_RESULT};
    if (out->is_result || entry->kind == SESSION_PLAIN_TOOL)
        add_id(out, &capacity, entry->target, memory);
    if (entry->kind == SESSION_MESSAGE && entry->role == SESSION_ROLE_ASSISTANT)
        out->has_failed = session_string_is(stop, "error") || session_string_is(stop, "aborted");
    if (entry->kind == SESSION_PLAIN_ASSISTANT)
        read_listed_calls(out, &capacity, entry, memory);
    if (entry->kind != SESSION_PLAIN_TOOL && entry->kind != SESSION_PLAIN_TOOL_RESULT &&
        entry->role != SESSION_ROLE_NONE && entry->role != SESSION_ROLE_BASH)
        read_blocks(out, &capacity, entry, memory);
    return !memory->failed;
}
