/*
 * documented.c: the tables of documented members, from the references of OpenAI and Anthropic.
 * Members that only answers have are missing.
 */
#include "model/session/documented.h"

typedef struct documented {
    documented_place place;
    const char *name;
    const char *members;
} documented;

static const documented OPENAI[] = {
    {DOCUMENTED_MESSAGE, "system", "role content name"},
    {DOCUMENTED_MESSAGE, "developer", "role content name"},
    {DOCUMENTED_MESSAGE, "user", "role content name"},
    {DOCUMENTED_MESSAGE, "assistant", "role content name refusal audio tool_calls function_call"},
    {DOCUMENTED_MESSAGE, "tool", "role content tool_call_id"},
    {DOCUMENTED_MESSAGE, "function", "role content name"},
    {DOCUMENTED_BLOCK, "text", "type text"},
    {DOCUMENTED_BLOCK, "image_url", "type image_url"},
    {DOCUMENTED_BLOCK, "input_audio", "type input_audio"},
    {DOCUMENTED_BLOCK, "file", "type file"},
    {DOCUMENTED_BLOCK, "refusal", "type refusal"},
    {DOCUMENTED_CALL, "function", "id type function"},
    {DOCUMENTED_CALL, "custom", "id type custom"},
    {DOCUMENTED_OBJECT, "function", "name arguments"},
    {DOCUMENTED_OBJECT, "custom", "name input"},
    {DOCUMENTED_OBJECT, "function_call", "name arguments"},
    {DOCUMENTED_OBJECT, "audio", "id"},
    {DOCUMENTED_OBJECT, "image_url", "url detail"},
    {DOCUMENTED_OBJECT, "input_audio", "data format"},
    {DOCUMENTED_OBJECT, "file", "file_data file_id filename"},
    {DOCUMENTED_OBJECT, NULL, NULL},
};

static const documented RESPONSES[] = {
    {DOCUMENTED_MESSAGE, "message", "type role content id status phase"},
    {DOCUMENTED_MESSAGE, "function_call", "type call_id name arguments id status namespace"},
    {DOCUMENTED_MESSAGE, "function_call_output", "type call_id output id status"},
    {DOCUMENTED_MESSAGE, "custom_tool_call", "type call_id name input id namespace"},
    {DOCUMENTED_MESSAGE, "custom_tool_call_output", "type call_id output id"},
    {DOCUMENTED_MESSAGE, "reasoning", "type id summary content encrypted_content status"},
    {DOCUMENTED_MESSAGE, "compaction", "type id encrypted_content"},
    {DOCUMENTED_MESSAGE, "item_reference", "type id"},
    {DOCUMENTED_MESSAGE, "web_search_call", "type id status action"},
    {DOCUMENTED_MESSAGE, "file_search_call", "type id status queries results"},
    {DOCUMENTED_MESSAGE, "tool_search_call", "type id call_id arguments execution status"},
    {DOCUMENTED_MESSAGE, "tool_search_output", "type id call_id tools execution status"},
    {DOCUMENTED_MESSAGE, "image_generation_call", "type id status result"},
    {DOCUMENTED_MESSAGE, "code_interpreter_call", "type id status code container_id outputs"},
    {DOCUMENTED_MESSAGE, "computer_call",
     "type id call_id action actions pending_safety_checks status"},
    {DOCUMENTED_MESSAGE, "computer_call_output",
     "type id call_id output acknowledged_safety_checks status"},
    {DOCUMENTED_MESSAGE, "local_shell_call", "type id call_id action status"},
    {DOCUMENTED_MESSAGE, "local_shell_call_output", "type id output status"},
    {DOCUMENTED_MESSAGE, "shell_call", "type id call_id action environment status"},
    {DOCUMENTED_MESSAGE, "shell_call_output", "type id call_id output max_output_length status"},
    {DOCUMENTED_MESSAGE, "apply_patch_call", "type id call_id operation status"},
    {DOCUMENTED_MESSAGE, "apply_patch_call_output", "type id call_id output status"},
    {DOCUMENTED_MESSAGE, "mcp_list_tools", "type id server_label tools error"},
    {DOCUMENTED_MESSAGE, "mcp_call",
     "type id server_label name arguments output error status approval_request_id"},
    {DOCUMENTED_MESSAGE, "mcp_approval_request", "type id server_label name arguments"},
    {DOCUMENTED_MESSAGE, "mcp_approval_response", "type id approval_request_id approve reason"},
    {DOCUMENTED_BLOCK, "input_text", "type text"},
    {DOCUMENTED_BLOCK, "input_image", "type image_url file_id detail"},
    {DOCUMENTED_BLOCK, "input_file", "type file_data file_id file_url filename"},
    {DOCUMENTED_BLOCK, "input_audio", "type input_audio"},
    {DOCUMENTED_BLOCK, "output_text", "type text annotations logprobs"},
    {DOCUMENTED_BLOCK, "refusal", "type refusal"},
    {DOCUMENTED_BLOCK, "reasoning_text", "type text"},
    {DOCUMENTED_OBJECT, NULL, NULL},
};

static const documented ANTHROPIC[] = {
    {DOCUMENTED_MESSAGE, "user", "role content"},
    {DOCUMENTED_MESSAGE, "assistant", "role content"},
    {DOCUMENTED_BLOCK, "text", "type text cache_control citations"},
    {DOCUMENTED_BLOCK, "image", "type source cache_control transformations"},
    {DOCUMENTED_BLOCK, "document", "type source cache_control citations context title"},
    {DOCUMENTED_BLOCK, "search_result", "type source title content cache_control citations"},
    {DOCUMENTED_BLOCK, "thinking", "type thinking signature"},
    {DOCUMENTED_BLOCK, "redacted_thinking", "type data"},
    {DOCUMENTED_BLOCK, "tool_use", "type id name input cache_control caller toolset_name"},
    {DOCUMENTED_BLOCK, "tool_result",
     "type tool_use_id content is_error cache_control toolset_name"},
    {DOCUMENTED_BLOCK, "tool_reference", "type tool_name cache_control"},
    {DOCUMENTED_BLOCK, "browser_state", "type tabs state_changes cache_control"},
    {DOCUMENTED_BLOCK, "container_upload", "type file_id cache_control"},
    {DOCUMENTED_BLOCK, "server_tool_use", "type id name input cache_control caller"},
    {DOCUMENTED_BLOCK, "web_search_tool_result", "type tool_use_id content cache_control caller"},
    {DOCUMENTED_BLOCK, "web_search_result", "type url title encrypted_content page_age"},
    {DOCUMENTED_BLOCK, "web_fetch_tool_result", "type tool_use_id content cache_control caller"},
    {DOCUMENTED_BLOCK, "tool_search_tool_result", "type tool_use_id content cache_control"},
    {DOCUMENTED_BLOCK, "code_execution_tool_result", "type tool_use_id content cache_control"},
    {DOCUMENTED_BLOCK, "bash_code_execution_tool_result", "type tool_use_id content cache_control"},
    {DOCUMENTED_BLOCK, "text_editor_code_execution_tool_result",
     "type tool_use_id content cache_control"},
    {DOCUMENTED_BLOCK, "mcp_tool_use", "type id name server_name input cache_control"},
    {DOCUMENTED_BLOCK, "mcp_tool_result", "type tool_use_id content is_error cache_control"},
    {DOCUMENTED_OBJECT, NULL, NULL},
};

const char *documented_members(cardbox_format format, documented_place place, slice name)
{
    const documented *row = format == CARDBOX_FORMAT_OPENAI      ? OPENAI
                            : format == CARDBOX_FORMAT_RESPONSES ? RESPONSES
                                                                 : ANTHROPIC;

    while (row->name != NULL && (row->place != place || !slice_equal(name, slice_of(row->name))))
        row++;
    return row->members;
}

bool documented_has(const char *members, slice key)
{
    while (*members != '\0') {
        size_t len = strcspn(members, " ");
        if (scan_string_is(key, (slice){members, len}))
            return true;
        members += len + (members[len] == ' ');
    }
    return false;
}
