/*
 * codex.c: the dialect of codex's rollouts. Each line is an entry after the line before it. The
 * payload of a response_item is an item of the Responses API. The last compacted line of a path
 * replaces what is before it. In early rollouts, the lines are the items themselves.
 */
#include "model/session/dialect/dialect.h"
#include "model/session/foreign.h"

enum { COMPACTED, RESPONSE_ITEM, TURN_CONTEXT, EVENT };

static const char *const TYPES[] = {
    [COMPACTED] = "compacted",
    [RESPONSE_ITEM] = "response_item",
    [TURN_CONTEXT] = "turn_context",
    [EVENT] = "event_msg",
    "session_meta",
    "session_state",
};

static bool is_type(const dialect_line *line, size_t i)
{
    return session_string_is(line->found[LINE_TYPE], TYPES[i]);
}

/* Returns true if a line of an early rollout is an item. */
static bool is_bare_item(const dialect_line *line)
{
    const scan_value *found = line->found;

    if (found[LINE_PARENT].kind != SCAN_NONE || found[LINE_MESSAGE].kind != SCAN_NONE ||
        found[LINE_PAYLOAD].kind != SCAN_NONE || found[LINE_TYPE].kind != SCAN_STRING)
        return false;
    if (line->kind != SESSION_MESSAGE)
        return line->kind == SESSION_OTHER && session_is_api_item(found[LINE_TYPE]);
    return found[LINE_FORMAT].kind == SCAN_NONE &&
           scan_find(line->object, "role").kind == SCAN_STRING &&
           scan_find(line->object, "content").kind == SCAN_ARRAY;
}

/* The first line of an early rollout, and lines with the state of codex, have no type. */
static bool is_early(const dialect_line *line)
{
    if (line->found[LINE_TYPE].kind != SCAN_NONE)
        return is_bare_item(line);
    if (line->found[LINE_ID].kind == SCAN_STRING)
        return line->found[LINE_TIMESTAMP].kind == SCAN_STRING &&
               scan_find(line->object, "instructions").kind != SCAN_NONE;
    return scan_find(line->object, "record_type").kind == SCAN_STRING;
}

/* A line without an id and with another type is one of a later version. */
static bool recognise(const dialect_line *line)
{
    if (is_early(line))
        return true;
    bool is_later = line->found[LINE_ID].kind == SCAN_NONE &&
                    line->found[LINE_TYPE].kind == SCAN_STRING &&
                    line->found[LINE_TIMESTAMP].kind == SCAN_STRING;

    if (line->found[LINE_PAYLOAD].kind != SCAN_OBJECT || line->kind != SESSION_OTHER)
        return false;
    for (size_t i = 0; !is_later && i < sizeof(TYPES) / sizeof(TYPES[0]); i++)
        is_later = is_type(line, i);
    return is_later;
}

/* Returns false for items that codex stores for itself, and does not send to a model. */
static bool is_sent(scan_value item)
{
    static const char *const OWN[] = {"ghost_snapshot", "other"};
    scan_value type = scan_find(item, "type");

    for (size_t i = 0; i < sizeof(OWN) / sizeof(OWN[0]); i++) {
        if (session_string_is(type, OWN[i]))
            return false;
    }
    return type.kind == SCAN_STRING;
}

/* The id of an item is that of the API, and not that of an entry. */
static scan_value id_of(const dialect_line *line)
{
    return is_bare_item(line) ? (scan_value){SCAN_NONE, {NULL, 0}} : line->found[LINE_ID];
}

static bool classify(session_entry *out, const dialect_line *line, arena *memory)
{
    scan_value payload = line->found[LINE_PAYLOAD];

    (void)memory;
    out->kind = SESSION_PLAIN_METADATA;
    out->body = out->value;
    if (is_bare_item(line)) {
        dialect_set_message(out, line->object, CARDBOX_FORMAT_RESPONSES);
    } else if (is_type(line, RESPONSE_ITEM) && is_sent(payload)) {
        dialect_set_message(out, payload, CARDBOX_FORMAT_RESPONSES);
    } else if (is_type(line, COMPACTED)) {
        out->kind = SESSION_COMPACTION;
        out->role = SESSION_ROLE_USER;
        out->in_context = true;
        out->body = payload;
        out->content = scan_find(payload, "message");
    } else if (is_type(line, TURN_CONTEXT)) {
        out->model = scan_find(payload, "model");
    } else if (is_type(line, EVENT) &&
               session_string_is(scan_find(payload, "type"), "token_count")) {
        out->usage = scan_find(payload, "info");
    }
    return true;
}

/* Adds the items that a compacted line has for those before it. Older rollouts have a summary. */
static void add_compacted(context *ctx, const session_entry *entry)
{
    scan_value items = scan_find(entry->body, "replacement_history"), item;
    scan_walk walk = scan_enter(items.kind == SCAN_ARRAY ? items : (scan_value){0});

    if (items.kind != SCAN_ARRAY)
        dialect_add_summary(ctx, entry, CONTEXT_OF_PLAIN);
    while (scan_element(&walk, &item) && !ctx->memory->failed) {
        session_entry one = *entry;
        one.body = item;
        one.format = CARDBOX_FORMAT_RESPONSES;
        if (item.kind == SCAN_OBJECT && is_sent(item))
            dialect_add_api(ctx, &one);
    }
}

static size_t message(context *ctx, const dialect_path *path, size_t at)
{
    const session_entry *entry = path->entries[at];

    if (entry->kind == SESSION_COMPACTION)
        add_compacted(ctx, entry);
    else
        dialect_add_api(ctx, entry);
    return at + 1;
}

const dialect_table DIALECT_CODEX = {
    .name = "codex",
    .file = "a rollout of codex",
    .recognise = recognise,
    .id = id_of,
    .parent = dialect_parent,
    .classify = classify,
    .message = message,
};
