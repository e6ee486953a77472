/*
 * message_responses.c: reads items of OpenAI's Responses API, which becomes one message of a
 * context each. Several items of an answer follow each other.
 */
#include "model/session/message_api.h"
#include "model/session/api.h"

enum { I_TYPE, I_CONTENT, I_CALL_ID, I_NAME, I_ARGUMENTS, I_INPUT, I_OUTPUT, I_MEMBERS };

static const char *const ITEM_NAMES[I_MEMBERS] = {"type",      "content", "call_id", "name",
                                                  "arguments", "input",   "output"};

/* Members of items that say nothing to a model. */
static const char *const KNOWN[] = {"type", "role",      "content", "id",     "status", "call_id",
                                    "name", "arguments", "input",   "output", NULL};

static bool read_file(context_part *out, scan_value block)
{
    static const char *const NAMES[] = {"file_data", "file_url", "filename"};
    scan_value found[3];

    session_pick(block, NAMES, found, 3);
    if (!api_document_of_url(out, found[0]))
        *out = (context_part){.kind = CONTEXT_DOCUMENT, .url = scan_string_inside(found[1])};
    out->name = scan_string_inside(found[2]);
    return out->data.len > 0 || out->url.len > 0;
}

static void add_block(api_reading *r, context_message *message, scan_value block)
{
    static const char *const NAMES[] = {"type", "text", "refusal", "image_url"};
    static const char *const KNOWN_INSIDE[] = {"type",      "text",     "refusal",
                                               "image_url", "detail",   "file_data",
                                               "file_url",  "filename", NULL};
    scan_value found[4];
    context_part part = {.kind = CONTEXT_IMAGE};

    session_pick(block, NAMES, found, 4);
    bool is_text = session_string_is(found[0], "input_text") ||
                   session_string_is(found[0], "output_text") ||
                   session_string_is(found[0], "text");
    if (is_text && found[1].kind == SCAN_STRING) {
        api_add_text(r, message, found[1], block.text);
    } else if (session_string_is(found[0], "refusal") && found[2].kind == SCAN_STRING) {
        api_add_text(r, message, found[2], block.text);
    } else if (session_string_is(found[0], "input_image")) {
        bool can_be_sent = context_image_of_url(&part, found[3]);
        api_add_image(r, message, can_be_sent, part, block);
    } else if (session_string_is(found[0], "input_file") && read_file(&part, block)) {
        part.block = block.text;
        context_add_part(r->ctx, message, part);
    } else {
        api_add_unknown(r, message, block);
        return;
    }
    api_add_members(r, message, block, KNOWN_INSIDE);
}

static void add_message(api_reading *r, api_role role, const scan_value *found)
{
    context_message *message = api_add_section(r, role == API_SYSTEM      ? CONTEXT_SYSTEM
                                                  : role == API_ASSISTANT ? CONTEXT_ASSISTANT
                                                                          : CONTEXT_USER);

    if (role == API_NONE)
        api_add_other(r, message, SLICE("role"), (slice){"", 0});
    else
        api_add_content(r, message, found[I_CONTENT], add_block);
    api_add_members(r, message, r->added->value, KNOWN);
}

static void add_result(api_reading *r, const scan_value *found)
{
    context_message *message = api_add_section(r, CONTEXT_RESULT);

    if (message == NULL)
        return;
    context_set_call(r->ctx, message, found[I_CALL_ID], (scan_value){SCAN_NONE, {NULL, 0}});
    api_add_content(r, message, found[I_OUTPUT], add_block);
    api_add_members(r, message, r->added->value, KNOWN);
}

static void add_call(api_reading *r, const scan_value *found, bool is_custom)
{
    context_message *message = api_add_section(r, CONTEXT_ASSISTANT);

    api_add_call(r, message, found[I_CALL_ID], found[I_NAME],
                 found[is_custom ? I_INPUT : I_ARGUMENTS], is_custom, r->added->value.text);
    api_add_members(r, message, r->added->value, KNOWN);
}

/* Adds an item that only this API has: reasoning, and calls and results of built-in tools. */
static void add_other(api_reading *r, api_role role, scan_value type)
{
    context_message *message =
        api_add_section(r, role == API_RESULT ? CONTEXT_USER : CONTEXT_ASSISTANT);

    if (message != NULL)
        message->is_reasoning = session_string_is(type, "reasoning");
    api_add_other(r, message, scan_string_inside(type), r->added->value.text);
}

void api_add_responses(api_reading *r)
{
    api_role role = api_role_of(r->added->value, CARDBOX_FORMAT_RESPONSES);
    scan_value found[I_MEMBERS];

    session_pick(r->added->value, ITEM_NAMES, found, I_MEMBERS);
    scan_value type = found[I_TYPE];
    bool is_custom_result = session_string_is(type, "custom_tool_call_output");
    if (type.kind != SCAN_STRING || session_string_is(type, "message"))
        add_message(r, role, found);
    else if (session_string_is(type, "function_call"))
        add_call(r, found, false);
    else if (session_string_is(type, "custom_tool_call"))
        add_call(r, found, true);
    else if (is_custom_result || session_string_is(type, "function_call_output"))
        add_result(r, found);
    else
        add_other(r, role, type);
}
