/*
 * preview.c: makes the short texts that represent entries in lists and trees. Only the beginning of
 * a text is kept, since a tree may show a hundred thousand entries.
 */
#include "model/session/preview.h"
#include "model/session/dialect/dialect.h"
#include "model/session/message.h"

enum {
    TEXT_KEPT = 1000,    /* maximum bytes of a preview's text */
    NAMES_KEPT = 400,    /* maximum bytes of a preview's list of tools, and of its list of calls */
    ARGUMENTS_KEPT = 120 /* maximum bytes of the arguments of a call */
};

typedef struct preview {
    buf text, tools, calls;
    slice tool;       /* name of the tool of the last call, as a JSON string */
    size_t times;     /* number of consecutive calls of the tool `tool` so far */
    bool is_thinking; /* true: `text` contains only thinking so far */
    bool failed;      /* true: the entry reports an error */
    arena *memory;
} preview;

/* --- contents --- */

void session_value_text(buf *out, scan_value value)
{
    if (value.kind == SCAN_STRING && scan_decode(out, value.text))
        return;
    scan_compact(out, value.text);
}

static void add_gap(buf *out, const char *gap)
{
    if (out->len > 0)
        buf_text(out, gap);
}

static void add_text(preview *p, scan_value text)
{
    if (p->is_thinking)
        buf_reset(&p->text, SIZE_MAX);
    p->is_thinking = false;
    add_gap(&p->text, " ");
    session_value_text(&p->text, text);
}

static void end_calls(preview *p)
{
    if (p->times > 1)
        buf_printf(&p->tools, " x%zu", p->times);
    p->times = 0;
}

/* Adds a call to the list of calls, with the beginning of its arguments. */
static void add_call_text(preview *p, scan_value name, scan_value arguments)
{
    buf text = BUF_INIT(SIZE_MAX / 4);

    if (p->calls.len > NAMES_KEPT)
        return;
    add_gap(&p->calls, ", ");
    session_value_text(&p->calls, name);
    if (arguments.kind == SCAN_NONE)
        return;
    session_value_text(&text, arguments);
    slice kept = buf_as_slice(&text);
    kept.len = slice_cut(kept, ARGUMENTS_KEPT);
    buf_char(&p->calls, ' ');
    buf_slice(&p->calls, kept);
    if (kept.len < text.len)
        buf_text(&p->calls, "\xe2\x80\xa6");
    buf_free(&text);
}

static void add_tool(preview *p, scan_value name, scan_value arguments)
{
    if (name.kind != SCAN_STRING)
        return;
    add_call_text(p, name, arguments);
    if (p->times == 0 || !slice_equal(name.text, p->tool)) {
        end_calls(p);
        add_gap(&p->tools, ", ");
        session_value_text(&p->tools, name);
        p->tool = name.text;
    }
    p->times++;
}

static void add_block(preview *p, scan_value block)
{
    scan_value type = scan_find(block, "type");

    if (session_string_is(type, "text")) {
        add_text(p, scan_find(block, "text"));
    } else if (session_string_is(type, "toolCall")) {
        add_tool(p, scan_find(block, "name"), scan_find(block, "arguments"));
    } else if (session_string_is(type, "image")) {
        add_gap(&p->text, " ");
        buf_text(&p->text, "(image)");
    } else if (session_string_is(type, "thinking") && (p->text.len == 0 || p->is_thinking)) {
        add_text(p, scan_find(block, "thinking"));
        p->is_thinking = true;
    }
}

static void add_content(preview *p, const session_entry *entry)
{
    scan_value content = entry->content;
    scan_walk walk = scan_enter(content);
    scan_value block;

    if (content.kind != SCAN_ARRAY) {
        if (content.kind != SCAN_NONE)
            add_text(p, content);
        return;
    }
    while (p->text.len <= TEXT_KEPT && scan_element(&walk, &block)) {
        if (block.kind == SCAN_OBJECT)
            add_block(p, block);
    }
}

/* --- entries --- */

static void add_error(preview *p, const char *mark)
{
    buf_text(&p->text, mark);
    p->failed = true;
}

static void add_assistant(preview *p, const session_entry *entry)
{
    scan_value calls = scan_find(entry->value, "toolCalls"), call;
    scan_value error = scan_find(entry->body, "errorMessage");
    scan_walk walk = scan_enter(calls);

    add_content(p, entry);
    while (calls.kind == SCAN_ARRAY && scan_element(&walk, &call)) {
        if (call.kind == SCAN_OBJECT)
            add_tool(p, scan_find(call, "name"), scan_find(call, "params"));
    }
    if (session_string_is(scan_find(entry->body, "stopReason"), "aborted")) {
        add_gap(&p->text, " ");
        buf_text(&p->text, "(aborted)");
    } else if (error.kind == SCAN_STRING) {
        add_gap(&p->text, " ");
        add_error(p, "(error) ");
        session_value_text(&p->text, error);
    }
}

static void add_message(preview *p, const session_entry *entry)
{
    if (entry->role == SESSION_ROLE_ASSISTANT) {
        add_assistant(p, entry);
    } else if (entry->role == SESSION_ROLE_BASH) {
        buf_text(&p->text, "$ ");
        session_value_text(&p->text, scan_find(entry->body, "command"));
    } else {
        if (scan_find(entry->body, "isError").kind == SCAN_TRUE)
            add_error(p, "(error)");
        add_content(p, entry);
    }
}

/* Returns the string token whose inside is given. The inside must be part of such a token. */
static scan_value token_around(slice inside)
{
    if (inside.len == 0)
        return (scan_value){SCAN_NONE, {NULL, 0}};
    return (scan_value){SCAN_STRING, {inside.ptr - 1, inside.len + 2}};
}

static void add_part(preview *p, const context_part *part)
{
    bool begins = p->text.len == 0 || p->is_thinking;

    switch (part->kind) {
    case CONTEXT_TEXT:
        add_text(p, token_around(part->text.bytes));
        break;
    case CONTEXT_THINKING:
        if (begins)
            add_text(p, token_around(part->text.bytes));
        p->is_thinking = begins;
        break;
    case CONTEXT_CALL:
        add_tool(p, token_around(part->name), part->arguments);
        break;
    default:
        add_gap(&p->text, " ");
        buf_text(&p->text, part->kind == CONTEXT_IMAGE      ? "(image)"
                           : part->kind == CONTEXT_DOCUMENT ? "(document)"
                                                            : "(");
        if (part->kind == CONTEXT_OTHER) {
            buf_slice(&p->text, part->name);
            buf_char(&p->text, ')');
        }
    }
}

/* The parts of an API's message are those of a context, whatever its format is. */
static void add_api_message(preview *p, const session_entry *entry)
{
    context ctx = {.memory = p->memory};

    if (!string_map_init(&ctx.open_calls, 0, p->memory))
        return;
    dialect_add_api(&ctx, entry);
    for (const context_message *at = ctx.list.first; at != NULL; at = at->next) {
        if (at->is_error)
            add_error(p, "(error)");
        for (const context_part *part = at->parts; part != NULL; part = part->next) {
            if (p->text.len <= TEXT_KEPT && (part->kind != CONTEXT_OTHER || part->block.len > 0))
                add_part(p, part);
        }
    }
}

static void add_model(preview *p, const session_entry *entry)
{
    buf_text(&p->text, "model ");
    session_value_text(&p->text, scan_find(entry->value, "provider"));
    buf_char(&p->text, '/');
    session_value_text(&p->text, scan_find(entry->value, "modelId"));
}

static void add_thinking(preview *p, const session_entry *entry)
{
    buf_text(&p->text, "thinking ");
    session_value_text(&p->text, scan_find(entry->value, "thinkingLevel"));
}

static void add_label(preview *p, const session_entry *entry)
{
    buf_text(&p->text, entry->label.kind == SCAN_STRING ? "[" : "none any more");
    if (entry->label.kind == SCAN_STRING) {
        session_value_text(&p->text, entry->label);
        buf_char(&p->text, ']');
    }
    buf_text(&p->text, " for ");
    session_value_text(&p->text, entry->target);
}

static void add_call(preview *p, const session_entry *entry)
{
    add_tool(p, scan_find(entry->value, "name"), (scan_value){SCAN_NONE, {NULL, 0}});
    scan_compact(&p->text, scan_find(entry->value, "params").text);
}

static void add_result(preview *p, const session_entry *entry)
{
    if (scan_find(entry->value, "success").kind == SCAN_FALSE)
        add_error(p, "(error)");
    add_content(p, entry);
}

/* Adds the members of an entry to the text, except id, parentId, timestamp and type. */
static void add_members(preview *p, const session_entry *entry)
{
    static const char *const EVERY[] = {"id", "parentId", "timestamp", "type"};
    scan_walk walk = scan_enter(entry->value);
    scan_value value;
    slice key;

    while (p->text.len <= TEXT_KEPT && scan_member(&walk, &key, &value)) {
        size_t i = 0;

        while (i < sizeof(EVERY) / sizeof(EVERY[0]) && !scan_string_is(key, slice_of(EVERY[i])))
            i++;
        if (i < sizeof(EVERY) / sizeof(EVERY[0]))
            continue;
        add_gap(&p->text, ", ");
        session_value_text(&p->text, (scan_value){SCAN_STRING, key});
        buf_text(&p->text, ": ");
        session_value_text(&p->text, value);
    }
}

static const struct {
    const char *role; /* role of the preview; NULL: the name of the entry's role */
    void (*add)(preview *p, const session_entry *entry);
    const char *member; /* name of the member with the text; NULL: `add` makes the text */
} KINDS[SESSION_KINDS] = {
    [SESSION_OTHER] = {"", add_members, NULL},
    [SESSION_MESSAGE] = {NULL, add_message, NULL},
    [SESSION_THINKING_LEVEL_CHANGE] = {"setting", add_thinking, NULL},
    [SESSION_MODEL_CHANGE] = {"setting", add_model, NULL},
    [SESSION_COMPACTION] = {"summary", add_content, NULL},
    [SESSION_BRANCH_SUMMARY] = {"summary", add_content, NULL},
    [SESSION_CUSTOM] = {"custom", NULL, "customType"},
    [SESSION_CUSTOM_MESSAGE] = {"custom", add_content, NULL},
    [SESSION_LABEL] = {"label", add_label, NULL},
    [SESSION_INFO] = {"name", NULL, "name"},
    [SESSION_PLAIN_USER] = {"user", add_content, NULL},
    [SESSION_PLAIN_ASSISTANT] = {"assistant", add_assistant, NULL},
    [SESSION_PLAIN_TOOL] = {"call", add_call, NULL},
    [SESSION_PLAIN_TOOL_RESULT] = {"result", add_result, NULL},
    [SESSION_PLAIN_SYSTEM] = {"system", add_content, NULL},
    [SESSION_PLAIN_METADATA] = {"metadata", add_members, NULL},
    [SESSION_PLAIN_MESSAGE] = {NULL, add_api_message, NULL},
    [SESSION_PLAIN_SETTINGS] = {"settings", add_members, NULL},
};

static const char *const ROLE_NAMES[] = {
    [SESSION_ROLE_NONE] = "",
    [SESSION_ROLE_USER] = "user",
    [SESSION_ROLE_ASSISTANT] = "assistant",
    [SESSION_ROLE_TOOL_RESULT] = "result",
    [SESSION_ROLE_BASH] = "bash",
    [SESSION_ROLE_CUSTOM] = "custom",
    [SESSION_ROLE_SYSTEM] = "system",
};

/* Returns a copy of the first `most` bytes of a text, or of fewer so that no character is split. */
static slice keep(const buf *text, size_t most, arena *memory)
{
    slice kept = buf_as_slice(text);

    kept.len = slice_cut(kept, most);
    kept.ptr = arena_copy(memory, kept);
    return kept.ptr == NULL ? SLICE("") : kept;
}

void session_preview_of(session_preview *out, const session_entry *entry, arena *memory)
{
    const char *role = KINDS[entry->kind].role;
    preview p = {.text = BUF_INIT(SIZE_MAX / 4),
                 .tools = BUF_INIT(SIZE_MAX / 4),
                 .calls = BUF_INIT(SIZE_MAX / 4),
                 .memory = memory};
    entry_usage used;

    if (KINDS[entry->kind].member != NULL)
        session_value_text(&p.text, scan_find(entry->value, KINDS[entry->kind].member));
    else
        KINDS[entry->kind].add(&p, entry);
    end_calls(&p);
    usage_of_entry(&used, entry, NULL, memory);
    out->model = usage_model(entry->model, memory);
    out->usage = used.of;
    memory->failed = memory->failed || !buf_ok(&p.text) || !buf_ok(&p.tools) || !buf_ok(&p.calls);
    out->role = slice_of(role ? role : ROLE_NAMES[entry->role]);
    if (out->role.len == 0)
        out->role = entry->type;
    out->text = keep(&p.text, TEXT_KEPT, memory);
    out->tools = keep(&p.tools, NAMES_KEPT, memory);
    out->calls = keep(&p.calls, NAMES_KEPT, memory);
    out->time = entry->timestamp;
    out->failed = p.failed;
    buf_free(&p.text);
    buf_free(&p.tools);
    buf_free(&p.calls);
}

void session_preview_of_line(session_preview *out, slice line, slice type, arena *memory)
{
    session_line one;
    session_entry entry;
    const char *reason = NULL;

    *out = (session_preview){.role = type, .text = line, .tools = SLICE("")};
    if (session_line_of(&one, line) && one.kind == SESSION_LINE_ENTRY &&
        session_entry_read(&entry, &one, SLICE("none"), memory, &reason))
        session_preview_of(out, &entry, memory);
}
