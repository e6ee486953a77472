/*
 * foreign.c: recognises objects of other programs by their members: the first object of a file, and
 * messages of models' APIs. A file is never foreign if a model would read something from its first
 * entry, or if this entry has an unknown type and an id. An export may begin with such an entry.
 */
#include "model/session/foreign.h"

#include "model/session/plain_types.h"

#define CODEX "a rollout of an early version of codex"
#define API   "messages of a model's API"

enum { FOREIGN_MEMBERS = 2 };

/* A file whose first object has these members. The first description that fits counts. */
static const struct {
    const char *members[FOREIGN_MEMBERS]; /* NULL: any */
    const char *file;
} FILES[] = {
    {{"instructions", "timestamp"}, CODEX},
    {{"record_type", NULL}, CODEX},
    {{"role", "content"}, API},
    {{"messages", NULL}, API},
    {{"kind", "created_at"}, "an export of a project"},
};

const char *session_foreign_file(scan_value object, const session_entry *entry)
{
    scan_value found[FOREIGN_MEMBERS];

    if (entry != NULL &&
        (entry->dialect >= SESSION_CLAUDE || session_entry_not_in_context(entry) == NULL))
        return NULL;
    if (entry != NULL && entry->kind == SESSION_OTHER && !entry->id_is_made &&
        scan_find(object, "type").kind == SCAN_STRING)
        return NULL;
    for (size_t i = 0; i < sizeof(FILES) / sizeof(FILES[0]); i++) {
        session_pick(object, FILES[i].members, found, FOREIGN_MEMBERS);
        if (found[0].kind != SCAN_NONE &&
            (FILES[i].members[1] == NULL || found[1].kind != SCAN_NONE))
            return FILES[i].file;
    }
    return entry != NULL && entry->id_is_made ? "a file of another program" : NULL;
}

/* --- messages of models' APIs --- */

/* Types of items of OpenAI's Responses API, and roles that some programs send as types. The type
 * "message" is missing, because pi has it too. */
static const char *const API_TYPES[] = {
    "function_call",
    "function_call_output",
    "custom_tool_call",
    "custom_tool_call_output",
    "reasoning",
    "web_search_call",
    "file_search_call",
    "computer_call",
    "computer_call_output",
    "code_interpreter_call",
    "image_generation_call",
    "local_shell_call",
    "local_shell_call_output",
    "shell_call",
    "shell_call_output",
    "apply_patch_call",
    "apply_patch_call_output",
    "mcp_call",
    "mcp_list_tools",
    "mcp_approval_request",
    "mcp_approval_response",
    "item_reference",
    "developer",
    "function",
    "model",
    "human",
    "ai",
    "toolResult",
};

enum { API_TYPE, API_MESSAGE, API_ROLE, API_CALLS, API_CALL_ID, API_USE_ID, API_MEMBERS };

static const char *const API_NAMES[API_MEMBERS] = {"type",       "message",      "role",
                                                   "tool_calls", "tool_call_id", "tool_use_id"};

/* Finds the first of the members from `first` on. */
static bool find_api_member(session_api_sign *out, const scan_value *found, size_t first)
{
    for (size_t i = first; i < API_MEMBERS; i++) {
        if (found[i].kind != SCAN_NONE) {
            *out = (session_api_sign){"member", slice_of(API_NAMES[i])};
            return true;
        }
    }
    return false;
}

bool session_is_api_message(session_api_sign *out, scan_value object)
{
    scan_value found[API_MEMBERS];

    session_pick(object, API_NAMES, found, API_MEMBERS);
    slice type = scan_string_inside(found[API_TYPE]);
    bool lacks_message =
        slice_equal(type, SLICE("message")) && found[API_MESSAGE].kind == SCAN_NONE;
    if (found[API_TYPE].kind != SCAN_STRING || lacks_message)
        return find_api_member(out, found, API_ROLE);
    for (size_t i = 0; i < sizeof(API_TYPES) / sizeof(API_TYPES[0]); i++) {
        if (slice_equal(type, slice_of(API_TYPES[i]))) {
            *out = (session_api_sign){"type", type};
            return true;
        }
    }
    return plain_type_named(type) != NULL && find_api_member(out, found, API_CALLS);
}
