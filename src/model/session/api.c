/*
 * api.c: the formats of APIs, and who speaks in a message.
 */
#include "model/session/api.h"
#include "model/session/entry.h"

const char *const API_FORMAT_NAMES[API_FORMATS] = {"openai", "responses", "anthropic"};
const cardbox_format API_FORMAT_NUMBERS[API_FORMATS] = {
    CARDBOX_FORMAT_OPENAI, CARDBOX_FORMAT_RESPONSES, CARDBOX_FORMAT_ANTHROPIC};

bool api_is_format(cardbox_format format)
{
    return format == CARDBOX_FORMAT_OPENAI || format == CARDBOX_FORMAT_RESPONSES ||
           format == CARDBOX_FORMAT_ANTHROPIC;
}

typedef struct role_of_text {
    const char *text;
    api_role role;
} role_of_text;

static const role_of_text ROLES[] = {
    {"system", API_SYSTEM}, {"developer", API_SYSTEM},
    {"user", API_USER},     {"assistant", API_ASSISTANT},
    {"tool", API_RESULT},   {"function", API_RESULT},
    {NULL, API_NONE},
};

/* The types of items that contain no model's output. All other items but messages do. */
static const role_of_text ITEMS[] = {
    {"function_call_output", API_RESULT},  {"custom_tool_call_output", API_RESULT},
    {"computer_call_output", API_RESULT},  {"local_shell_call_output", API_RESULT},
    {"shell_call_output", API_RESULT},     {"apply_patch_call_output", API_RESULT},
    {"mcp_approval_response", API_RESULT}, {NULL, API_ASSISTANT},
};

static api_role find_role(const role_of_text *table, scan_value text)
{
    while (table->text != NULL && !session_string_is(text, table->text))
        table++;
    return table->role;
}

/* Returns true if a content has blocks, and all of them are results. */
static bool has_only_results(scan_value content)
{
    scan_walk walk = scan_enter(content.kind == SCAN_ARRAY ? content : (scan_value){0});
    scan_value block;
    bool is_result = false;

    while (scan_element(&walk, &block)) {
        is_result = session_string_is(scan_find(block, "type"), "tool_result");
        if (!is_result)
            return false;
    }
    return is_result;
}

api_role api_role_of(scan_value message, cardbox_format format)
{
    static const char *const NAMES[] = {"role", "type", "content"};
    scan_value found[3];

    session_pick(message, NAMES, found, 3);
    if (format == CARDBOX_FORMAT_RESPONSES && found[1].kind == SCAN_STRING &&
        !session_string_is(found[1], "message"))
        return find_role(ITEMS, found[1]);
    api_role role = find_role(ROLES, found[0]);
    if (format == CARDBOX_FORMAT_ANTHROPIC && role == API_USER && has_only_results(found[2]))
        return API_RESULT;
    return role;
}
