/*
 * message_entry.c: makes messages from entries of both dialects. A text that is added to summaries
 * and to shell commands of the user explains them to the model.
 */
#include "model/session/message.h"

static context_message *add(context *ctx, const session_entry *entry, context_role role)
{
    context_origin origin =
        session_kind_dialect(entry->kind) == SESSION_PI ? CONTEXT_OF_PI : CONTEXT_OF_PLAIN;
    context_message *message = context_add(ctx, role, origin, entry->id, entry->text);

    if (message != NULL)
        message->time = entry->timestamp;
    return message;
}

/* Adds a user's message with the text in `inside`, which is the inside of a JSON string. Frees
 * `inside`. */
static void add_made(context *ctx, const session_entry *entry, buf *inside)
{
    context_message *message;

    const context_part part = {.kind = CONTEXT_TEXT,
                               .text = {arena_keep(ctx->memory, inside), false}};

    message = add(ctx, entry, CONTEXT_USER);
    context_add_part(ctx, message, part);
    if (message != NULL)
        message->is_kept = entry->kind == SESSION_COMPACTION;
}

static void add_summary(context *ctx, const session_entry *entry)
{
    buf text = BUF_INIT(SIZE_MAX / 4);

    buf_text(&text, entry->kind == SESSION_BRANCH_SUMMARY
                        ? SESSION_BRANCH_BEGINS
                        : "The earlier part of this conversation was replaced by this summary of "
                          "it:\\n\\n<summary>\\n");
    buf_slice(&text, scan_string_inside(entry->content));
    buf_text(&text, SESSION_SUMMARY_ENDS);
    add_made(ctx, entry, &text);
}

/* Returns the number of back quotes of a fence around `output`. The number is at least 3, and
 * larger than the longest run of back quotes in `output`, so that `output` can't end the fence. */
static size_t fence_length(slice output)
{
    size_t longest = 2, run = 0;

    for (size_t i = 0; i < output.len; i++) {
        run = output.ptr[i] == '`' ? run + 1 : 0;
        longest = run > longest ? run : longest;
    }
    return longest + 1;
}

static void put_fence(buf *out, size_t length)
{
    while (length-- > 0)
        buf_char(out, '`');
}

static void put_output(buf *out, slice output)
{
    size_t fence = fence_length(output);

    put_fence(out, fence);
    buf_text(out, "\\n");
    buf_slice(out, output);
    buf_text(out, "\\n");
    put_fence(out, fence);
}

static void add_bash(context *ctx, const session_entry *entry)
{
    static const char *const NAMES[] = {"command",  "output",    "cancelled",
                                        "exitCode", "truncated", "fullOutputPath"};
    scan_value found[6];
    buf text = BUF_INIT(SIZE_MAX / 4);

    session_pick(entry->body, NAMES, found, 6);
    buf_text(&text, "Ran `");
    buf_slice(&text, scan_string_inside(found[0]));
    buf_text(&text, "`\\n");
    if (scan_string_inside(found[1]).len > 0)
        put_output(&text, scan_string_inside(found[1]));
    else
        buf_text(&text, "(no output)");
    if (found[2].kind == SCAN_TRUE) {
        buf_text(&text, "\\n\\n(the command was cancelled)");
    } else if (found[3].kind == SCAN_NUMBER && !slice_equal(found[3].text, SLICE("0"))) {
        buf_text(&text, "\\n\\nThe command exited with code ");
        buf_slice(&text, found[3].text);
    }
    if (found[4].kind == SCAN_TRUE && found[5].kind == SCAN_STRING) {
        buf_text(&text, "\\n\\n[The output was truncated; all of it is in ");
        buf_slice(&text, scan_string_inside(found[5]));
        buf_char(&text, ']');
    } else if (found[4].kind == SCAN_TRUE) {
        buf_text(&text, "\\n\\n[The output was truncated]");
    }
    add_made(ctx, entry, &text);
}

/* Returns true if a message names Anthropic's API, provider or models, or names nothing: then its
 * signatures are taken for Anthropic's. */
static bool may_be_of_anthropic(const session_entry *entry)
{
    static const session_field NAMED[] = {SESSION_FIELD_API, SESSION_FIELD_PROVIDER,
                                          SESSION_FIELD_MODEL};
    static const char *const NAMES[] = {"anthropic", "claude", "bedrock-converse"};
    bool names_any = false;

    for (size_t i = 0; i < sizeof(NAMED) / sizeof(NAMED[0]); i++) {
        slice text = scan_string_inside(entry->fields[NAMED[i]]);
        names_any = names_any || text.len > 0;
        for (size_t k = 0; k < sizeof(NAMES) / sizeof(NAMES[0]); k++) {
            if (text.len > 0 && memmem(text.ptr, text.len, NAMES[k], strlen(NAMES[k])) != NULL)
                return true;
        }
    }
    return !names_any;
}

/* Returns the member that has a message's thinking in chat completions: servers without signatures
 * name it, and pi stores its name as the signature. An empty slice: there is none. */
static slice thinking_member(const session_entry *entry, const context_part *part)
{
    static const char *const NAMES[] = {"reasoning_content", "reasoning", "reasoning_text"};

    for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++) {
        if (part->kind == CONTEXT_THINKING && !part->is_redacted &&
            slice_equal(part->signature, slice_of(NAMES[i])) &&
            session_string_is(entry->fields[SESSION_FIELD_API], "openai-completions"))
            return slice_of(NAMES[i]);
    }
    return (slice){"", 0};
}

static void add_assistant(context *ctx, const session_entry *entry)
{
    context_message *message = add(ctx, entry, CONTEXT_ASSISTANT);
    scan_value stop = entry->fields[SESSION_FIELD_STOP_REASON];

    if (message == NULL)
        return;
    message->has_failed = session_string_is(stop, "error") || session_string_is(stop, "aborted");
    context_add_content(ctx, message, entry->content);
    bool is_of_anthropic = may_be_of_anthropic(entry);
    for (context_part *part = message->parts; part != NULL; part = part->next) {
        slice member = thinking_member(entry, part);
        if (member.len > 0)
            part->name = member;
        if (!is_of_anthropic || member.len > 0)
            part->signature = (slice){"", 0}; /* only signatures of Anthropic's API are sent */
    }
}

static void add_result(context *ctx, const session_entry *entry)
{
    context_message *message = add(ctx, entry, CONTEXT_RESULT);
    const scan_value *fields = entry->fields;

    if (message == NULL)
        return;
    context_set_call(ctx, message, entry->target, fields[SESSION_FIELD_TOOL_NAME]);
    message->is_error = entry->kind == SESSION_MESSAGE
                            ? fields[SESSION_FIELD_IS_ERROR].kind == SCAN_TRUE
                            : fields[SESSION_FIELD_SUCCESS].kind == SCAN_FALSE;
    if (entry->kind == SESSION_MESSAGE)
        context_add_content(ctx, message, entry->content);
    else
        context_add_output(ctx, message, entry->content);
}

/* --- plain --- */

static void add_plain_assistant(context *ctx, const session_entry *entry)
{
    static const char *const NAMES[] = {"thinking", "toolCalls"};
    static const char *const CALL[] = {"id", "name", "params"};
    context_message *message = add(ctx, entry, CONTEXT_ASSISTANT);
    scan_value found[2], call[3], element;

    if (message == NULL)
        return;
    session_pick(entry->value, NAMES, found, 2);
    if (found[0].kind == SCAN_STRING)
        context_add_part(ctx, message,
                         (context_part){.kind = CONTEXT_THINKING,
                                        .text = {scan_string_inside(found[0]), false}});
    context_add_content(ctx, message, entry->content);
    scan_walk walk = scan_enter(found[1].kind == SCAN_ARRAY ? found[1] : (scan_value){0});
    while (scan_element(&walk, &element)) {
        session_pick(element, CALL, call, 3);
        context_add_call(ctx, message, call[0], call[1], call[2]);
    }
}

/* Adds a "tool" entry, which is a call. If the last message is an assistant's in the plain dialect,
 * the call becomes part of that message, otherwise of a new message. If a call with the same id was
 * added before and has no result yet, both count as one call, which is not added again. */
static void add_plain_tool(context *ctx, const session_entry *entry)
{
    context_message *last = ctx->list.last;
    slice call = context_call_of(ctx, entry->target);
    scan_value name = scan_find(entry->value, "name");

    if (last != NULL && call.len > 0 && context_call_is_open(ctx, call)) {
        context_add_source(ctx, last, entry->id, entry->text);
        return;
    }
    if (last != NULL && last->role == CONTEXT_ASSISTANT && last->origin == CONTEXT_OF_PLAIN)
        context_add_source(ctx, last, entry->id, entry->text);
    else
        last = add(ctx, entry, CONTEXT_ASSISTANT);
    if (last != NULL)
        context_add_call(ctx, last, entry->target, name, entry->content);
}

static void add_text(context *ctx, const session_entry *entry, context_role role)
{
    context_message *message = add(ctx, entry, role);

    context_add_content(ctx, message, entry->content);
    if (message != NULL && entry->kind == SESSION_PLAIN_USER)
        message->speaker = scan_string_inside(entry->fields[SESSION_FIELD_NAME]);
}

static void add_role(context *ctx, const session_entry *entry)
{
    static const context_role ROLES[] = {
        [SESSION_ROLE_USER] = CONTEXT_USER,
        [SESSION_ROLE_CUSTOM] = CONTEXT_USER,
        [SESSION_ROLE_SYSTEM] = CONTEXT_SYSTEM,
    };

    if (entry->role == SESSION_ROLE_ASSISTANT)
        add_assistant(ctx, entry);
    else if (entry->role == SESSION_ROLE_TOOL_RESULT)
        add_result(ctx, entry);
    else if (entry->role == SESSION_ROLE_BASH)
        add_bash(ctx, entry);
    else
        add_text(ctx, entry, ROLES[entry->role]);
}

void context_add_entry(context *ctx, const session_entry *entry)
{
    if (!entry->in_context)
        return;
    switch (entry->kind) {
    case SESSION_PLAIN_MESSAGE:
        context_add_api(ctx, &(context_api_message){entry->id, entry->text, entry->timestamp,
                                                    entry->body, (cardbox_format)entry->format});
        break;
    case SESSION_COMPACTION:
    case SESSION_BRANCH_SUMMARY:
        add_summary(ctx, entry);
        break;
    case SESSION_PLAIN_ASSISTANT:
        add_plain_assistant(ctx, entry);
        break;
    case SESSION_PLAIN_TOOL:
        add_plain_tool(ctx, entry);
        break;
    default:
        add_role(ctx, entry);
    }
}
