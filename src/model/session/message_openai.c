/*
 * message_openai.c: reads messages of the chat completions API, which becomes one message of a
 * context each.
 */
#include "model/session/message_api.h"
#include "model/session/api.h"

enum { M_CONTENT, M_TOOL_CALLS, M_FUNCTION_CALL, M_REFUSAL, M_NAME, M_TOOL_CALL_ID, M_MEMBERS };

static bool read_file(context_part *out, scan_value block)
{
    scan_value file = scan_find(block, "file");

    if (!api_document_of_url(out, scan_find(file, "file_data")))
        return false;
    out->name = scan_string_inside(scan_find(file, "filename"));
    return true;
}

static void add_block(api_reading *r, context_message *message, scan_value block)
{
    static const char *const NAMES[] = {"type", "text", "refusal", "image_url"};
    static const char *const KNOWN[] = {"type", "text", "refusal", "image_url", "file", NULL};
    scan_value found[4];
    context_part part = {.kind = CONTEXT_IMAGE};

    if (block.kind != SCAN_OBJECT) {
        api_add_text(r, message, block, block.text);
        return;
    }
    session_pick(block, NAMES, found, 4);
    if (session_string_is(found[0], "text") && found[1].kind == SCAN_STRING) {
        api_add_text(r, message, found[1], block.text);
    } else if (session_string_is(found[0], "refusal") && found[2].kind == SCAN_STRING) {
        api_add_text(r, message, found[2], block.text);
    } else if (session_string_is(found[0], "image_url")) {
        bool can_be_sent = context_image_of_url(&part, scan_find(found[3], "url"));
        api_add_image(r, message, can_be_sent, part, block);
    } else if (session_string_is(found[0], "file") && read_file(&part, block)) {
        part.block = block.text;
        context_add_part(r->ctx, message, part);
    } else {
        api_add_unknown(r, message, block);
        return;
    }
    api_add_members(r, message, block, KNOWN);
}

/* Adds a call: {"id", "function": {"name", "arguments"}}, or {"id", "custom": {"name", "input"}}.
 */
static void add_call(api_reading *r, context_message *message, scan_value call)
{
    static const char *const NAMES[] = {"id", "function", "custom"};
    static const char *const KNOWN[] = {"id", "type", "function", "custom", "index", NULL};
    static const char *const INSIDE[] = {"name", "arguments", "input"};
    scan_value found[3], inside[3];

    session_pick(call, NAMES, found, 3);
    bool is_custom = found[2].kind == SCAN_OBJECT;
    session_pick(found[is_custom ? 2 : 1], INSIDE, inside, 3);
    api_add_call(r, message, found[0], inside[0], inside[is_custom ? 2 : 1], is_custom, call.text);
    api_add_members(r, message, call, KNOWN);
}

static void add_calls(api_reading *r, context_message *message, const scan_value *found)
{
    scan_walk walk =
        scan_enter(found[M_TOOL_CALLS].kind == SCAN_ARRAY ? found[M_TOOL_CALLS] : (scan_value){0});
    scan_value call;
    const scan_value none = {SCAN_NONE, {NULL, 0}};

    while (scan_element(&walk, &call))
        add_call(r, message, call);
    if (found[M_FUNCTION_CALL].kind == SCAN_OBJECT)
        api_add_call(r, message, none, scan_find(found[M_FUNCTION_CALL], "name"),
                     scan_find(found[M_FUNCTION_CALL], "arguments"), false, (slice){"", 0});
}

void api_add_openai(api_reading *r)
{
    static const char *const NAMES[] = {"content", "tool_calls", "function_call",
                                        "refusal", "name",       "tool_call_id"};
    static const char *const KNOWN[] = {"role",    "content", "tool_calls",   "function_call",
                                        "refusal", "name",    "tool_call_id", NULL};
    static const context_role ROLES[] = {
        [API_NONE] = CONTEXT_USER,           [API_SYSTEM] = CONTEXT_SYSTEM,
        [API_USER] = CONTEXT_USER,           [API_RESULT] = CONTEXT_RESULT,
        [API_ASSISTANT] = CONTEXT_ASSISTANT,
    };
    api_role role = api_role_of(r->added->value, CARDBOX_FORMAT_OPENAI);
    scan_value found[M_MEMBERS];
    context_message *message = api_add_section(r, ROLES[role]);

    if (message == NULL)
        return;
    session_pick(r->added->value, NAMES, found, M_MEMBERS);
    if (role == API_NONE) {
        api_add_other(r, message, SLICE("role"), (slice){"", 0});
        return;
    }
    api_add_content(r, message, found[M_CONTENT], add_block);
    if (role == API_ASSISTANT) {
        api_add_text(r, message, found[M_REFUSAL], (slice){"", 0});
        add_calls(r, message, found);
    } else if (role == API_RESULT) {
        context_set_call(r->ctx, message, found[M_TOOL_CALL_ID], found[M_NAME]);
    }
    if (role != API_RESULT)
        message->speaker = scan_string_inside(found[M_NAME]);
    api_add_members(r, message, r->added->value, KNOWN);
}
