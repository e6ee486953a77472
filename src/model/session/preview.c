/*
 * preview.c: takes the texts out of entries. A tree of a hundred thousand of them is looked
 * at: of each only the beginning is kept.
 */
#include "model/session/preview.h"

enum {
    TEXT_KEPT = 1000, /* bytes of what an entry says, */
    NAMES_KEPT = 400  /* and of the names of tools */
};

typedef struct preview {
    buf text, tools;
    slice tool;   /* the last one, as JSON has it, */
    size_t calls; /* and how often in a row it is called */
    bool thinks;  /* what is there so far are thoughts only */
} preview;

/* --- contents --- */

void session_say_value(buf *out, scan_value value)
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

static void add_text(preview *w, scan_value text)
{
    if (w->thinks)
        buf_reset(&w->text, SIZE_MAX);
    w->thinks = false;
    add_gap(&w->text, " ");
    session_say_value(&w->text, text);
}

static void end_calls(preview *w)
{
    if (w->calls > 1)
        buf_printf(&w->tools, " x%zu", w->calls);
    w->calls = 0;
}

static void add_tool(preview *w, scan_value name)
{
    if (name.kind != SCAN_STRING)
        return;
    if (w->calls == 0 || !slice_equal(name.text, w->tool)) {
        end_calls(w);
        add_gap(&w->tools, ", ");
        session_say_value(&w->tools, name);
        w->tool = name.text;
    }
    w->calls++;
}

static void add_block(preview *w, scan_value block)
{
    scan_value type = scan_find(block, "type");

    if (session_says(type, "text")) {
        add_text(w, scan_find(block, "text"));
    } else if (session_says(type, "toolCall")) {
        add_tool(w, scan_find(block, "name"));
    } else if (session_says(type, "image")) {
        add_gap(&w->text, " ");
        buf_text(&w->text, "(image)");
    } else if (session_says(type, "thinking") && (w->text.len == 0 || w->thinks)) {
        add_text(w, scan_find(block, "thinking"));
        w->thinks = true;
    }
}

static void add_content(preview *w, scan_value content)
{
    scan_walk walk = scan_enter(content);
    scan_value block;

    if (content.kind != SCAN_ARRAY) {
        if (content.kind != SCAN_NONE)
            add_text(w, content);
        return;
    }
    while (w->text.len <= TEXT_KEPT && scan_element(&walk, &block)) {
        if (block.kind == SCAN_OBJECT)
            add_block(w, block);
    }
}

/* --- entries --- */

static void add_assistant(preview *w, const session_entry *entry)
{
    scan_value calls = scan_find(entry->value, "toolCalls"), call;
    scan_value error = scan_find(entry->body, "errorMessage");
    scan_walk walk = scan_enter(calls);

    add_content(w, entry->content);
    while (calls.kind == SCAN_ARRAY && scan_element(&walk, &call)) {
        if (call.kind == SCAN_OBJECT)
            add_tool(w, scan_find(call, "name"));
    }
    if (session_says(scan_find(entry->body, "stopReason"), "aborted")) {
        add_gap(&w->text, " ");
        buf_text(&w->text, "(aborted)");
    } else if (error.kind == SCAN_STRING) {
        add_gap(&w->text, " ");
        buf_text(&w->text, "(error) ");
        session_say_value(&w->text, error);
    }
}

static void add_message(preview *w, const session_entry *entry)
{
    if (entry->role == SESSION_ROLE_ASSISTANT) {
        add_assistant(w, entry);
    } else if (entry->role == SESSION_ROLE_BASH) {
        buf_text(&w->text, "$ ");
        session_say_value(&w->text, scan_find(entry->body, "command"));
    } else {
        if (scan_find(entry->body, "isError").kind == SCAN_TRUE)
            buf_text(&w->text, "(error)");
        add_content(w, entry->content);
    }
}

static void add_model(preview *w, const session_entry *entry)
{
    buf_text(&w->text, "model ");
    session_say_value(&w->text, scan_find(entry->value, "provider"));
    buf_char(&w->text, '/');
    session_say_value(&w->text, scan_find(entry->value, "modelId"));
}

static void add_thinking(preview *w, const session_entry *entry)
{
    buf_text(&w->text, "thinking ");
    session_say_value(&w->text, scan_find(entry->value, "thinkingLevel"));
}

static void add_label(preview *w, const session_entry *entry)
{
    buf_text(&w->text, entry->label.kind == SCAN_STRING ? "[" : "none any more");
    if (entry->label.kind == SCAN_STRING) {
        session_say_value(&w->text, entry->label);
        buf_char(&w->text, ']');
    }
    buf_text(&w->text, " for ");
    session_say_value(&w->text, entry->target);
}

static void add_name(preview *w, const session_entry *entry)
{
    session_say_value(&w->text, entry->label);
}

static void add_custom(preview *w, const session_entry *entry)
{
    session_say_value(&w->text, scan_find(entry->value, "customType"));
}

static void add_call(preview *w, const session_entry *entry)
{
    add_tool(w, scan_find(entry->value, "name"));
    scan_compact(&w->text, scan_find(entry->value, "params").text);
}

static void add_result(preview *w, const session_entry *entry)
{
    if (scan_find(entry->value, "success").kind == SCAN_FALSE)
        buf_text(&w->text, "(error)");
    add_content(w, entry->content);
}

static void add_said(preview *w, const session_entry *entry)
{
    add_content(w, entry->content);
}

/* What an entry has besides what every entry has. */
static void add_rest(preview *w, const session_entry *entry)
{
    static const char *const EVERY[] = {"id", "parentId", "timestamp", "type"};
    scan_walk walk = scan_enter(entry->value);
    scan_value value;
    slice key;

    while (w->text.len <= TEXT_KEPT && scan_member(&walk, &key, &value)) {
        size_t i = 0;

        while (i < sizeof(EVERY) / sizeof(EVERY[0]) && !scan_string_is(key, slice_of(EVERY[i])))
            i++;
        if (i < sizeof(EVERY) / sizeof(EVERY[0]))
            continue;
        add_gap(&w->text, ", ");
        session_say_value(&w->text, (scan_value){SCAN_STRING, key});
        buf_text(&w->text, ": ");
        session_say_value(&w->text, value);
    }
}

static const struct {
    const char *role; /* NULL: as the message says */
    void (*add)(preview *w, const session_entry *entry);
} KINDS[SESSION_KINDS] = {
    [SESSION_OTHER] = {"", add_rest},
    [SESSION_MESSAGE] = {NULL, add_message},
    [SESSION_THINKING_LEVEL_CHANGE] = {"setting", add_thinking},
    [SESSION_MODEL_CHANGE] = {"setting", add_model},
    [SESSION_COMPACTION] = {"summary", add_said},
    [SESSION_BRANCH_SUMMARY] = {"summary", add_said},
    [SESSION_CUSTOM] = {"custom", add_custom},
    [SESSION_CUSTOM_MESSAGE] = {"custom", add_said},
    [SESSION_LABEL] = {"label", add_label},
    [SESSION_INFO] = {"name", add_name},
    [SESSION_PLAIN_USER] = {"user", add_said},
    [SESSION_PLAIN_ASSISTANT] = {"assistant", add_assistant},
    [SESSION_PLAIN_TOOL] = {"call", add_call},
    [SESSION_PLAIN_TOOL_RESULT] = {"result", add_result},
    [SESSION_PLAIN_SYSTEM] = {"system", add_said},
    [SESSION_PLAIN_METADATA] = {"metadata", add_rest},
};

static const char *const SPEAKERS[] = {
    [SESSION_ROLE_NONE] = "",
    [SESSION_ROLE_USER] = "user",
    [SESSION_ROLE_ASSISTANT] = "assistant",
    [SESSION_ROLE_TOOL_RESULT] = "result",
    [SESSION_ROLE_BASH] = "bash",
    [SESSION_ROLE_CUSTOM] = "custom",
    [SESSION_ROLE_SYSTEM] = "system",
};

/* The first bytes of a text, up to the end of a character. */
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
    preview w = {.text = BUF_INIT(SIZE_MAX / 4), .tools = BUF_INIT(SIZE_MAX / 4)};

    KINDS[entry->kind].add(&w, entry);
    end_calls(&w);
    memory->failed = memory->failed || !buf_ok(&w.text) || !buf_ok(&w.tools);
    out->role = slice_of(role ? role : SPEAKERS[entry->role]);
    if (out->role.len == 0)
        out->role = entry->type;
    out->text = keep(&w.text, TEXT_KEPT, memory);
    out->tools = keep(&w.tools, NAMES_KEPT, memory);
    out->time = entry->timestamp;
    buf_free(&w.text);
    buf_free(&w.tools);
}

void session_preview_of_line(session_preview *out, slice line, slice type, arena *memory)
{
    session_lines lines = session_lines_of(line);
    session_line one;
    session_entry entry;
    const char *reason = NULL;

    *out = (session_preview){.role = type, .text = line, .tools = SLICE("")};
    if (session_lines_next(&lines, &one) && one.kind == SESSION_LINE_ENTRY &&
        session_entry_read(&entry, &one, SLICE("none"), memory, &reason))
        session_preview_of(out, &entry, memory);
}
