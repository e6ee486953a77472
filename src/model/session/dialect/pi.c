/*
 * pi.c: the dialect of the pi coding agent: a header, then entries whose messages have the roles
 * user, assistant, toolResult, bashExecution and custom. Texts that are added to shell commands
 * explain them to the model.
 */
#include "model/session/dialect/dialect.h"

static bool recognise(const dialect_line *line)
{
    return session_kind_has_dialect(line->kind) && session_kind_dialect(line->kind) == SESSION_PI &&
           !dialect_is_of_api(line);
}

static const struct {
    const char *name;
    session_role role;
} ROLES[] = {
    {"user", SESSION_ROLE_USER},
    {"assistant", SESSION_ROLE_ASSISTANT},
    {"toolResult", SESSION_ROLE_TOOL_RESULT},
    {"bashExecution", SESSION_ROLE_BASH},
    {"custom", SESSION_ROLE_CUSTOM},
    {"hookMessage", SESSION_ROLE_CUSTOM},
};

static void read_message(session_entry *entry, const scan_value *found)
{
    for (size_t i = 0; i < sizeof(ROLES) / sizeof(ROLES[0]); i++) {
        if (session_string_is(found[BODY_ROLE], ROLES[i].name))
            entry->role = ROLES[i].role;
    }
    entry->in_context =
        entry->role != SESSION_ROLE_NONE &&
        (entry->role != SESSION_ROLE_BASH || found[BODY_EXCLUDED].kind != SCAN_TRUE);
}

static bool classify(session_entry *out, const dialect_line *line, arena *memory)
{
    dialect_read_body(out, line, memory);
    if (out->kind == SESSION_MESSAGE && line->found[LINE_MESSAGE].kind == SCAN_OBJECT)
        read_message(out, line->body);
    if (out->kind == SESSION_BRANCH_SUMMARY)
        out->in_context = out->content.kind == SCAN_STRING && out->content.text.len > 2;
    return true;
}

/* --- messages --- */

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
    dialect_add_made(ctx, entry, CONTEXT_OF_PI, &text);
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
    context_message *message = dialect_add(ctx, entry, CONTEXT_ASSISTANT, CONTEXT_OF_PI);
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

static size_t message(context *ctx, const dialect_path *path, size_t at)
{
    const session_entry *entry = path->entries[at];

    if (entry->kind == SESSION_BRANCH_SUMMARY)
        dialect_add_summary(ctx, entry, CONTEXT_OF_PI);
    else if (entry->role == SESSION_ROLE_ASSISTANT)
        add_assistant(ctx, entry);
    else if (entry->role == SESSION_ROLE_TOOL_RESULT)
        dialect_add_result(ctx, entry, CONTEXT_OF_PI);
    else if (entry->role == SESSION_ROLE_BASH)
        add_bash(ctx, entry);
    else
        dialect_add_text(ctx, entry, CONTEXT_OF_PI);
    return at + 1;
}

const dialect_table DIALECT_PI = {
    .name = "pi",
    .file = "a session of pi",
    .recognise = recognise,
    .id = dialect_id,
    .parent = dialect_parent,
    .classify = classify,
    .message = message,
};
