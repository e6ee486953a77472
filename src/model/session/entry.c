/*
 * entry.c: reads an entry's line: type, id and parent, and the locations of its content.
 * The files of dialect/ read the content itself. A line is rejected if its id is invalid, or if
 * both type and id are missing. Other invalid members are no reason to reject a line.
 */
#include "model/session/entry.h"
#include "model/session/api.h"
#include "model/session/dialect/dialect.h"

#include <stdio.h>
#include "base/isotime.h"

const char SESSION_KEPT_LINE[] = "the line is no entry of the tree, and is only kept";

/* For each type of entry: the role of the message that the entry becomes in a context, and the
 * names of members that are read. The role of a "message" entry is the member "role" of its
 * message. */
static const struct {
    const char *name;
    session_role role;
    const char *content; /* name of the member with the content; NULL: no such member */
    const char *target;
    const char *label;
} KINDS[SESSION_KINDS] = {
    [SESSION_OTHER] = {"", SESSION_ROLE_NONE, NULL, NULL, NULL},
    [SESSION_MESSAGE] = {"message", SESSION_ROLE_NONE, "content", "toolCallId", NULL},
    [SESSION_THINKING_LEVEL_CHANGE] = {"thinking_level_change", SESSION_ROLE_NONE, "thinkingLevel",
                                       NULL, NULL},
    [SESSION_MODEL_CHANGE] = {"model_change", SESSION_ROLE_NONE, "modelId", NULL, NULL},
    [SESSION_COMPACTION] = {"compaction", SESSION_ROLE_USER, "summary", "firstKeptEntryId", NULL},
    [SESSION_BRANCH_SUMMARY] = {"branch_summary", SESSION_ROLE_USER, "summary", "fromId", NULL},
    [SESSION_CUSTOM] = {"custom", SESSION_ROLE_NONE, "data", NULL, NULL},
    [SESSION_CUSTOM_MESSAGE] = {"custom_message", SESSION_ROLE_CUSTOM, "content", NULL, NULL},
    [SESSION_LABEL] = {"label", SESSION_ROLE_NONE, NULL, "targetId", "label"},
    [SESSION_INFO] = {"session_info", SESSION_ROLE_NONE, NULL, NULL, "name"},
    [SESSION_PLAIN_USER] = {"user", SESSION_ROLE_USER, "content", NULL, NULL},
    [SESSION_PLAIN_ASSISTANT] = {"assistant", SESSION_ROLE_ASSISTANT, "content", NULL, NULL},
    [SESSION_PLAIN_TOOL] = {"tool", SESSION_ROLE_ASSISTANT, "params", "toolCallId", NULL},
    [SESSION_PLAIN_TOOL_RESULT] = {"tool_result", SESSION_ROLE_TOOL_RESULT, "output", "toolCallId",
                                   NULL},
    [SESSION_PLAIN_SYSTEM] = {"system", SESSION_ROLE_SYSTEM, "content", NULL, NULL},
    [SESSION_PLAIN_METADATA] = {"metadata", SESSION_ROLE_NONE, NULL, NULL, NULL},
    [SESSION_PLAIN_MESSAGE] = {"message", SESSION_ROLE_NONE, NULL, NULL, NULL},
    [SESSION_PLAIN_SETTINGS] = {"settings", SESSION_ROLE_NONE, NULL, NULL, NULL},
};

session_kind session_kind_named(slice type)
{
    for (int kind = SESSION_MESSAGE; kind < SESSION_KINDS; kind++) {
        if (slice_equal(type, slice_of(KINDS[kind].name)))
            return (session_kind)kind;
    }
    return SESSION_OTHER;
}

session_kind session_kind_of(slice type, bool has_format)
{
    session_kind kind = session_kind_named(type);

    return kind == SESSION_MESSAGE && has_format ? SESSION_PLAIN_MESSAGE : kind;
}

const char *session_kind_name(session_kind kind)
{
    return KINDS[kind].name;
}

const char *session_role_shown(session_role role)
{
    static const char *const NAMES[] = {
        [SESSION_ROLE_NONE] = NULL,
        [SESSION_ROLE_USER] = "user",
        [SESSION_ROLE_ASSISTANT] = "assistant",
        [SESSION_ROLE_TOOL_RESULT] = "tool",
        [SESSION_ROLE_BASH] = "user",
        [SESSION_ROLE_CUSTOM] = "user",
        [SESSION_ROLE_SYSTEM] = "system",
    };

    return NAMES[role];
}

const char *const SESSION_DIALECTS[] = {[SESSION_PLAIN] = "plain",
                                        [SESSION_PI] = "pi",
                                        [SESSION_CLAUDE] = "claude",
                                        [SESSION_CODEX] = "codex",
                                        NULL};

session_dialect session_kind_dialect(session_kind kind)
{
    return kind >= SESSION_MESSAGE && kind <= SESSION_INFO ? SESSION_PI : SESSION_PLAIN;
}

bool session_kind_has_dialect(session_kind kind)
{
    return kind != SESSION_OTHER && kind != SESSION_LABEL && kind != SESSION_INFO &&
           kind != SESSION_COMPACTION;
}

bool session_kind_moves_head(session_kind kind)
{
    return kind == SESSION_MESSAGE || kind == SESSION_PLAIN_MESSAGE ||
           KINDS[kind].role != SESSION_ROLE_NONE;
}

bool session_string_is(scan_value value, const char *text)
{
    return value.kind == SCAN_STRING && scan_string_is(value.text, slice_of(text));
}

bool session_text_of(slice *out, scan_value string, arena *memory)
{
    *out = (slice){"", 0};
    if (string.kind != SCAN_STRING)
        return false;
    slice inside = scan_inside(string.text);
    if (inside.len == 0 || memchr(inside.ptr, '\\', inside.len) == NULL) {
        *out = inside;
        return true;
    }
    buf text = BUF_INIT(inside.len);
    if (!scan_decode(&text, string.text))
        return false;
    slice decoded = arena_keep(memory, &text);
    if (decoded.ptr != NULL)
        *out = decoded;
    return decoded.ptr != NULL;
}

/* Milliseconds since 1970 of the first and the last moment that isotime.h can write. */
#define TIME_MS_MIN INT64_C(-62135596800000)
#define TIME_MS_MAX INT64_C(253402300799999)

bool session_time_ms(int64_t *out, slice timestamp)
{
    isotime time;

    if (scan_integer(timestamp, out))
        return *out >= TIME_MS_MIN && *out <= TIME_MS_MAX;
    if (timestamp.len < 2 || *timestamp.ptr != '"' || !isotime_parse(scan_inside(timestamp), &time))
        return false;
    *out = isotime_to_micros(&time) / 1000;
    return true;
}

/* Appends a timestamp in the format of the dialect: a number of milliseconds in plain, text in pi.
 * A timestamp that can't be read as a time is appended unchanged. */
static void put_time(buf *out, session_dialect dialect, slice timestamp)
{
    bool is_text = timestamp.len > 0 && *timestamp.ptr == '"';
    int64_t ms;

    if (is_text == (dialect == SESSION_PI) || !session_time_ms(&ms, timestamp))
        buf_slice(out, timestamp);
    else if (is_text)
        buf_int(out, ms);
    else
        isotime_json_micros(out, ms * 1000);
}

void session_put_links(buf *out, session_dialect dialect, slice id, slice parent, slice timestamp)
{
    buf_member_text(out, "id", id);
    if (parent.ptr != NULL || dialect == SESSION_PI)
        buf_member_text(out, "parentId", parent);
    if (timestamp.len > 0) {
        buf_name(out, "timestamp");
        put_time(out, dialect, timestamp);
    }
}

const char *session_make_id(slice owner, slice part, arena *memory)
{
    char *key = arena_copy(memory, owner), *what = arena_copy(memory, part);
    char *made = arena_take(memory, CARDBOX_UUID_SIZE);

    if (key == NULL || what == NULL || made == NULL)
        return NULL;
    cardbox_uuid7_from_key(made, key, what);
    return made;
}

/* Each import of a file makes the same ids for lines without an id. */
const char *session_line_id(slice file_id, uint64_t line, arena *memory)
{
    char part[32];
    int len = snprintf(part, sizeof(part), "line %llu", (unsigned long long)line);

    return session_make_id(file_id, (slice){part, (size_t)len}, memory);
}

static bool read_id(session_entry *entry, scan_value id, slice file_id, arena *memory,
                    const char **reason)
{
    if (id.kind == SCAN_NONE || id.kind == SCAN_NULL) {
        entry->id = slice_of(session_line_id(file_id, entry->line, memory));
        entry->id_is_made = true;
        return entry->id.ptr != NULL;
    }
    if (id.kind != SCAN_STRING)
        *reason = "id must be a string";
    else if (!session_text_of(&entry->id, id, memory) || !slice_is_id(entry->id, SESSION_ID_MAX))
        *reason = "id must be 1 to 512 bytes of UTF-8 without control characters";
    return *reason == NULL;
}

static void read_parent(session_entry *entry, scan_value parent, arena *memory)
{
    if (parent.kind == SCAN_NONE)
        entry->parent_state = SESSION_PARENT_ABSENT;
    else if (parent.kind == SCAN_NULL || (parent.kind == SCAN_STRING && parent.text.len == 2))
        entry->parent_state = SESSION_PARENT_NULL;
    else if (session_text_of(&entry->parent, parent, memory) &&
             slice_is_id(entry->parent, SESSION_ID_MAX))
        entry->parent_state = SESSION_PARENT_NAMED;
    else
        entry->parent_state = SESSION_PARENT_UNUSABLE;
    if (entry->parent_state != SESSION_PARENT_NAMED)
        entry->parent = (slice){"", 0};
}

/* Returns true if a key is `name`. Compares the first letters first, because most keys differ in
 * them. */
static bool is_named(slice key, const char *name)
{
    return name != NULL && key.len > 2 && (key.ptr[1] == name[0] || key.ptr[1] == '\\') &&
           scan_string_is(key, slice_of(name));
}

scan_value session_pick_next(scan_walk *walk, const char *const *names, scan_value *out,
                             size_t count)
{
    bool is_object = walk->at < walk->end && *walk->at == '{';
    scan_walk inner = scan_into(walk);
    scan_value value = {SCAN_NONE, {NULL, 0}};
    slice key;

    for (size_t i = 0; i < count; i++)
        out[i] = value;
    if (!is_object) {
        scan_take(walk, &value);
        return value;
    }
    while (scan_member(&inner, &key, &value)) {
        for (size_t i = 0; i < count; i++) {
            if (is_named(key, names[i]))
                out[i] = value;
        }
    }
    return scan_leave(walk, &inner);
}

void session_pick(scan_value object, const char *const *names, scan_value *out, size_t count)
{
    slice text = object.kind == SCAN_OBJECT ? object.text : (slice){"", 0};
    scan_walk walk = {text.ptr, text.ptr + text.len};

    session_pick_next(&walk, names, out, count);
}

static void name_body(const char **names, session_kind kind)
{
    static const char *const ALL[BODY_MEMBERS] = {
        [BODY_ROLE] = "role",
        [BODY_EXCLUDED] = "excludeFromContext",
        [BODY_FIELDS + SESSION_FIELD_API] = "api",
        [BODY_FIELDS + SESSION_FIELD_STOP_REASON] = "stopReason",
        [BODY_FIELDS + SESSION_FIELD_PROVIDER] = "provider",
        [BODY_FIELDS + SESSION_FIELD_MODEL] = "model",
        [BODY_FIELDS + SESSION_FIELD_TOOL_NAME] = "toolName",
        [BODY_FIELDS + SESSION_FIELD_IS_ERROR] = "isError",
        [BODY_FIELDS + SESSION_FIELD_SUCCESS] = "success",
        [BODY_FIELDS + SESSION_FIELD_NAME] = "name",
        [BODY_FIELDS + SESSION_FIELD_USAGE] = "usage",
    };

    memcpy(names, ALL, sizeof(ALL));
    names[BODY_CONTENT] = KINDS[kind].content;
    names[BODY_TARGET] = KINDS[kind].target;
    names[BODY_LABEL] = KINDS[kind].label;
}

/* Reads the members of an entry, and the members of its "message", in one pass, because most bytes
 * of a line are in its message. */
static void pick_line(dialect_line *out, scan_value line)
{
    static const char *const NAMES[LINE_MEMBERS] = {
        "type", "id", "parentId", "timestamp", "message", "format", "uuid", "payload", "answer"};
    const char *names[BODY_MEMBERS];
    scan_walk walk = scan_enter(line);
    scan_value value;
    slice key;

    name_body(names, SESSION_MESSAGE);
    memset(out->found, 0, sizeof(out->found));
    memset(out->body, 0, sizeof(out->body));
    out->object = line;
    while (line.kind == SCAN_OBJECT && scan_to_member(&walk, &key)) {
        size_t i = 0;

        while (i < LINE_MEMBERS && !is_named(key, NAMES[i]))
            i++;
        if (i == LINE_MESSAGE)
            value = session_pick_next(&walk, names, out->body, BODY_MEMBERS);
        else if (!scan_take(&walk, &value))
            break;
        if (i < LINE_MEMBERS)
            out->found[i] = value;
    }
}

void dialect_read_body(session_entry *out, const dialect_line *line, arena *memory)
{
    bool is_message = out->kind == SESSION_MESSAGE && line->found[LINE_MESSAGE].kind == SCAN_OBJECT;
    scan_value own[BODY_MEMBERS];
    const scan_value *found = is_message ? line->body : own;

    out->role = KINDS[out->kind].role;
    out->in_context = out->role != SESSION_ROLE_NONE;
    out->body = is_message ? line->found[LINE_MESSAGE] : out->value;
    if (!is_message) {
        const char *names[BODY_MEMBERS];
        name_body(names, out->kind);
        session_pick(out->value, names, own, BODY_MEMBERS);
    }
    out->content = found[BODY_CONTENT];
    out->target = found[BODY_TARGET];
    out->label = found[BODY_LABEL];
    memcpy(out->fields, found + BODY_FIELDS, sizeof(out->fields));
    if (out->kind == SESSION_COMPACTION && out->target.kind == SCAN_NONE)
        out->target = scan_find(out->value, "firstKeptEntryIndex");
    if (out->kind == SESSION_COMPACTION && out->target.kind != SCAN_NUMBER)
        session_text_of(&out->first_kept, out->target, memory);
}

/* Sets the usage and the model of an answer or a summary. An API's message may have them in the
 * member "answer" of its entry. */
static void read_usage(session_entry *out, const dialect_line *line)
{
    static const char *const NAMES[] = {"usage", "model"};
    const scan_value *found =
        out->kind == SESSION_PLAIN_MESSAGE ? line->body + BODY_FIELDS : out->fields;
    scan_value answer[2];

    if (out->role != SESSION_ROLE_ASSISTANT && out->kind != SESSION_COMPACTION &&
        out->kind != SESSION_BRANCH_SUMMARY)
        return;
    session_pick(line->found[LINE_ANSWER], NAMES, answer, 2);
    out->usage =
        found[SESSION_FIELD_USAGE].kind != SCAN_NONE ? found[SESSION_FIELD_USAGE] : answer[0];
    out->model =
        found[SESSION_FIELD_MODEL].kind != SCAN_NONE ? found[SESSION_FIELD_MODEL] : answer[1];
}

bool session_entry_read(session_entry *out, const session_line *line, slice file_id, arena *memory,
                        const char **reason)
{
    dialect_line read;

    pick_line(&read, line->value);
    scan_value type = read.found[LINE_TYPE], timestamp = read.found[LINE_TIMESTAMP];
    *reason = NULL;
    *out = (session_entry){.line = line->number, .text = line->text, .flags = line->flags};
    out->format = -1;
    out->value = line->value;
    session_text_of(&out->type, type, memory);
    out->kind = read.kind = session_kind_named(out->type);
    out->dialect = dialect_of_line(&read);
    const dialect_table *of = dialect_numbered(out->dialect);
    scan_value id = of->id(&read);
    if (type.kind != SCAN_STRING && id.kind != SCAN_STRING && out->dialect < SESSION_CLAUDE) {
        *reason = "line has no type and no id";
        return false;
    }
    if (!read_id(out, id, file_id, memory, reason))
        return false;
    read_parent(out, of->parent(&read), memory);
    if (timestamp.kind == SCAN_STRING || timestamp.kind == SCAN_NUMBER)
        out->timestamp = timestamp.text;
    if (!of->classify(out, &read, memory))
        *reason = SESSION_KEPT_LINE;
    else
        read_usage(out, &read);
    return *reason == NULL && !memory->failed;
}

/* In the plain dialect, a "tool" entry needs no params, and an "assistant" entry may have toolCalls
 * or thinking instead of content. The output of a "tool_result" entry may be null. */
const char *session_entry_lacks(const session_entry *entry)
{
    static const char *const INSTEAD[] = {"toolCalls", "thinking"};
    scan_value found[2];

    if (entry->kind == SESSION_MESSAGE &&
        scan_find(scan_find(entry->value, "message"), "role").kind != SCAN_STRING)
        return "message with a role";
    if (entry->kind == SESSION_BRANCH_SUMMARY)
        return entry->content.kind == SCAN_STRING ? NULL : "summary, a text that may be empty";
    if (KINDS[entry->kind].role == SESSION_ROLE_NONE && entry->role == SESSION_ROLE_NONE)
        return NULL;
    if (entry->kind == SESSION_PLAIN_TOOL || entry->role == SESSION_ROLE_BASH ||
        (entry->content.kind != SCAN_NONE && entry->content.kind != SCAN_NULL) ||
        (entry->kind == SESSION_PLAIN_TOOL_RESULT && entry->content.kind == SCAN_NULL))
        return NULL;
    session_pick(entry->value, INSTEAD, found, 2);
    if (entry->kind == SESSION_PLAIN_ASSISTANT &&
        (found[0].kind == SCAN_ARRAY || found[1].kind == SCAN_STRING))
        return NULL;
    return KINDS[entry->kind].content;
}

const char *session_entry_not_in_context(const session_entry *entry)
{
    if (entry->kind == SESSION_OTHER)
        return entry->dialect == SESSION_CLAUDE ? SESSION_ADDITION : SESSION_UNKNOWN_TYPE;
    return session_entry_lacks(entry) != NULL ? SESSION_NO_CONTENT : NULL;
}

const char *session_entry_sets(const session_entry *entry)
{
    scan_kind provider = entry->fields[SESSION_FIELD_PROVIDER].kind, model = SCAN_NONE;

    if (entry->kind == SESSION_PLAIN_SETTINGS)
        return "settings";
    if (entry->kind == SESSION_THINKING_LEVEL_CHANGE && entry->content.kind == SCAN_STRING)
        return "thinking";
    if (entry->kind == SESSION_MODEL_CHANGE)
        model = entry->content.kind;
    else if (entry->kind == SESSION_MESSAGE && entry->role == SESSION_ROLE_ASSISTANT)
        model = entry->fields[SESSION_FIELD_MODEL].kind;
    return provider == SCAN_STRING && model == SCAN_STRING ? "model" : NULL;
}

bool session_line_from_store(session_line *out, slice text)
{
    *out = (session_line){.kind = SESSION_LINE_ENTRY, .number = 1, .text = text};
    out->whole = text;
    out->length = text.len;
    out->value = scan_whole(text);
    return out->value.kind == SCAN_OBJECT;
}

bool session_header_read(session_header *out, const session_line *line, arena *memory)
{
    *out = (session_header){.text = line->text};
    if (!session_text_of(&out->id, scan_find(line->value, "id"), memory) ||
        !slice_is_id(out->id, SESSION_ID_MAX))
        out->id = (slice){"", 0};
    out->timestamp = scan_find(line->value, "timestamp").text;
    out->provider = scan_find(line->value, "provider");
    out->model = scan_find(line->value, "modelId");
    out->thinking_level = scan_find(line->value, "thinkingLevel");
    return !memory->failed;
}
