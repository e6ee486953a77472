/*
 * foreign.c: recognises objects of other programs by their members: the first object of a file, and
 * messages of models' APIs. A file is never foreign if a model would read something from its first
 * entry, or if this entry has an unknown type and an id. An export may begin with such an entry.
 */
#include "model/session/foreign.h"

#include "cardbox/context.h"
#include "model/session/plain_types.h"

enum { FOREIGN_MEMBERS = 2 };

#define MESSAGES_OF_API                                                                            \
    {                                                                                              \
        "messages of a model's API", "`cardbox session add` and POST .../messages append them"     \
    }

/* A file whose first object has these members. The first row that fits counts. */
static const struct {
    const char *members[FOREIGN_MEMBERS]; /* NULL: any */
    session_foreign is;
} FILES[] = {
    {{"role", "content"}, MESSAGES_OF_API},
    {{"messages", NULL},
     {"messages of a model's API", "import the array of each line as a file of its own"}},
    {{"mapping", NULL},
     {"conversations of ChatGPT", "import each line, or the array of all, as one JSON value"}},
    {{"kind", "created_at"}, {"an export of a project", "a project is read by `cardbox import`"}},
};
static const session_foreign MESSAGES = MESSAGES_OF_API;
static const session_foreign UNKNOWN = {"a file of another program", NULL};

static const session_foreign *find_file(scan_value object)
{
    scan_value found[FOREIGN_MEMBERS];

    for (size_t i = 0; i < sizeof(FILES) / sizeof(FILES[0]); i++) {
        session_pick(object, FILES[i].members, found, FOREIGN_MEMBERS);
        if (found[0].kind != SCAN_NONE &&
            (FILES[i].members[1] == NULL || found[1].kind != SCAN_NONE))
            return &FILES[i].is;
    }
    return NULL;
}

const session_foreign *session_foreign_file(scan_value object, const session_entry *entry)
{
    bool is_bare_item = entry != NULL && entry->dialect == SESSION_CODEX &&
                        entry->format == CARDBOX_FORMAT_RESPONSES &&
                        scan_find(object, "payload").kind == SCAN_NONE;

    if (is_bare_item) /* the first line of an early rollout of codex is missing */
        return &MESSAGES;
    if (entry != NULL &&
        (entry->dialect >= SESSION_CLAUDE || session_entry_not_in_context(entry) == NULL))
        return NULL;
    if (entry != NULL && entry->kind == SESSION_OTHER && !entry->id_is_made &&
        scan_find(object, "type").kind == SCAN_STRING)
        return NULL;
    const session_foreign *file = find_file(object);
    return file == NULL && entry != NULL && entry->id_is_made ? &UNKNOWN : file;
}

/* --- the beginning of a file --- */

static void check_line(session_beginning *begin, session_line *line, arena *memory)
{
    bool has_object = begin->foreign != NULL;
    session_header header;
    session_entry entry;

    begin->lines = line->number;
    if (line->kind == SESSION_LINE_HEADER) {
        begin->is_session = true;
        if (!has_object && session_header_read(&header, line, memory) && header.id.len > 0)
            begin->id = arena_copy(memory, header.id);
    } else if (line->kind == SESSION_LINE_ENTRY) {
        begin->is_session = session_entry_read(&entry, line, SLICE(""), memory, &line->reason) ||
                            line->reason == SESSION_KEPT_LINE;
        if (!has_object)
            begin->foreign = find_file(line->value);
        if (begin->foreign == NULL)
            begin->foreign = &UNKNOWN;
    } else if (line->kind == SESSION_LINE_BAD) {
        begin->is_session = line->is_torn && line->text.len > 0 && line->text.ptr[0] == '{';
    }
    if (!begin->is_session && begin->bad == 0 && line->kind != SESSION_LINE_BLANK) {
        begin->bad = line->number;
        begin->reason = line->reason;
    }
}

bool session_beginning_read(session_beginning *out, slice bytes, arena *memory)
{
    size_t len = bytes.len < SESSION_BEGINNING_BYTES ? bytes.len : SESSION_BEGINNING_BYTES;
    session_lines lines = session_lines_of((slice){bytes.ptr, len});
    session_line line;

    *out = (session_beginning){.lines = 0};
    while (!out->is_session && session_lines_next(&lines, &line))
        check_line(out, &line, memory);
    return !memory->failed;
}

/* --- messages of models' APIs --- */

/* Types of items of OpenAI's Responses API. The type "message" is missing, because pi has it too.
 */
static const char *const ITEMS[] = {
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
    NULL,
};

/* Roles that some programs send as types. */
static const char *const ROLES[] = {
    "developer", "function", "model", "human", "ai", "toolResult", NULL,
};

static bool is_listed(scan_value type, const char *const *names)
{
    while (*names != NULL && !session_string_is(type, *names))
        names++;
    return *names != NULL;
}

bool session_is_api_item(scan_value type)
{
    return is_listed(type, ITEMS);
}

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
    if (is_listed(found[API_TYPE], ITEMS) || is_listed(found[API_TYPE], ROLES)) {
        *out = (session_api_sign){"type", type};
        return true;
    }
    return plain_type_named(type) != NULL && find_api_member(out, found, API_CALLS);
}
