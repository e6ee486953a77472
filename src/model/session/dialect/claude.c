/*
 * claude.c: the dialect of Claude Code's transcripts. A line with a uuid is an entry, its parent is
 * parentUuid. One answer of the model is several lines with one message.id, which a context merges.
 * The parent of a result is the line with its call, so some lines of an answer may be beside the
 * path to the last line. A compact_boundary has no parent, so a context begins after it.
 */
#include "model/session/dialect/dialect.h"

enum { C_PARENT, C_SESSION, C_SIDECHAIN, C_SUBTYPE, C_ERROR, C_MEMBERS };

static const char *const MEMBERS[C_MEMBERS] = {"parentUuid", "sessionId", "isSidechain", "subtype",
                                               "isApiErrorMessage"};

/* Lines without a uuid that set a name or a label. The other lines without a uuid are only kept. */
static const struct {
    const char *type;
    const char *text; /* the member with the name or the label */
    session_kind kind;
} NAMES[] = {
    {"summary", "summary", SESSION_LABEL},
    {"custom-title", "customTitle", SESSION_INFO},
    {"ai-title", "aiTitle", SESSION_INFO},
};

/* A line with a uuid and without parentUuid or sessionId may be of another program. */
static bool recognise(const dialect_line *line)
{
    static const char *const KEPT[] = {"sessionId", "leafUuid", "isSnapshotUpdate"};
    scan_value found[C_MEMBERS];

    if (line->found[LINE_ID].kind != SCAN_NONE || line->found[LINE_TYPE].kind != SCAN_STRING)
        return false;
    if (line->found[LINE_UUID].kind == SCAN_STRING) {
        session_pick(line->object, MEMBERS, found, 2);
        return found[C_PARENT].kind != SCAN_NONE ||
               (found[C_SESSION].kind != SCAN_NONE && line->found[LINE_MESSAGE].kind != SCAN_NONE);
    }
    if (line->found[LINE_PARENT].kind != SCAN_NONE || session_kind_has_dialect(line->kind))
        return false;
    session_pick(line->object, KEPT, found, 3);
    return found[0].kind == SCAN_STRING || found[1].kind == SCAN_STRING ||
           found[2].kind != SCAN_NONE;
}

static scan_value id_of(const dialect_line *line)
{
    return line->found[LINE_UUID];
}

/* A line without a uuid is a root, for it belongs to no branch. */
static scan_value parent_of(const dialect_line *line)
{
    scan_value parent = scan_find(line->object, "parentUuid");

    return parent.kind != SCAN_NONE ? parent : (scan_value){SCAN_NULL, SLICE("null")};
}

static bool classify_name(session_entry *out)
{
    for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++) {
        if (!slice_equal(out->type, slice_of(NAMES[i].type)))
            continue;
        out->kind = NAMES[i].kind;
        out->label = scan_find(out->value, NAMES[i].text);
        out->target = scan_find(out->value, "leafUuid");
        return out->label.kind == SCAN_STRING;
    }
    return false;
}

/* Returns true if Claude Code added something to a request that is no message of the transcript: an
 * attachment, or messages before a compaction that it kept. */
static bool is_addition(const session_entry *entry)
{
    static const char *const KEPT[] = {"preservedSegment", "preservedMessages"};
    scan_value found[2];

    if (!slice_equal(entry->type, SLICE("system")))
        return slice_equal(entry->type, SLICE("attachment"));
    session_pick(scan_find(entry->value, "compactMetadata"), KEPT, found, 2);
    return found[0].kind == SCAN_OBJECT || found[1].kind == SCAN_OBJECT;
}

/* Entries of other types than user and assistant are links of the tree that no model sees. But an
 * addition counts as an entry of an unknown type. An answer with an error of the API is a text of
 * Claude Code. */
static bool classify(session_entry *out, const dialect_line *line, arena *memory)
{
    scan_value message = line->found[LINE_MESSAGE], found[C_MEMBERS];
    bool is_message =
        slice_equal(out->type, SLICE("user")) || slice_equal(out->type, SLICE("assistant"));

    (void)memory;
    out->body = out->value;
    out->kind = SESSION_PLAIN_METADATA;
    if (line->found[LINE_UUID].kind != SCAN_STRING)
        return classify_name(out);
    if (is_addition(out))
        out->kind = SESSION_OTHER;
    scan_value content = scan_find(message, "content");
    if (!is_message || (content.kind != SCAN_STRING && content.kind != SCAN_ARRAY))
        return true;
    session_pick(line->object, MEMBERS, found, C_MEMBERS);
    dialect_set_message(out, message, CARDBOX_FORMAT_ANTHROPIC);
    out->is_aside = found[C_SIDECHAIN].kind == SCAN_TRUE;
    out->in_context = found[C_ERROR].kind != SCAN_TRUE;
    return true;
}

/* --- messages --- */

/* Appends the blocks of a content, with commas between them. A text becomes a block. */
static void put_blocks(buf *out, scan_value content)
{
    scan_walk walk = scan_enter(content.kind == SCAN_ARRAY ? content : (scan_value){0});
    scan_value block;

    if (content.kind == SCAN_STRING) {
        buf_comma(out);
        buf_text(out, "{\"type\":\"text\",\"text\":");
        buf_slice(out, content.text);
        buf_char(out, '}');
    }
    while (scan_element(&walk, &block)) {
        buf_comma(out);
        buf_slice(out, block.text);
    }
}

/* Returns the id of the answer to which the entry belongs; empty: the entry is no answer. */
static slice answer_of(const session_entry *entry)
{
    if (!entry->in_context || entry->role != SESSION_ROLE_ASSISTANT)
        return (slice){"", 0};
    return scan_string_inside(scan_find(entry->body, "id"));
}

static bool is_of_answer(const session_entry *entry, slice answer)
{
    return slice_equal(answer_of(entry), answer);
}

/* Adds one message with the content of the entries of one answer, from index `at` to `last`, which
 * is later. */
static void merge_answer(context *ctx, const dialect_path *path, size_t at, size_t last,
                         slice answer)
{
    session_entry merged = *path->entries[at];
    buf text = BUF_INIT(SIZE_MAX / 4);

    buf_text(&text, "{\"role\":\"assistant\",\"content\":[");
    for (size_t i = at; i <= last; i++) {
        if (is_of_answer(path->entries[i], answer))
            put_blocks(&text, scan_find(path->entries[i]->body, "content"));
    }
    buf_text(&text, "]}");
    if (!context_count_added(ctx, text.len)) {
        buf_free(&text);
        return;
    }
    merged.body = scan_whole(arena_keep(ctx->memory, &text));
    if (merged.body.kind != SCAN_OBJECT)
        return;
    dialect_add_api(ctx, &merged);
    for (size_t i = at + 1; i <= last; i++) {
        if (is_of_answer(path->entries[i], answer))
            context_add_source(ctx, ctx->list.last, path->entries[i]->id, path->entries[i]->text);
    }
}

/* Returns the index of the last line of the answer that begins at `at`. Only results, entries that
 * no model sees, and entries beside the path are between the lines of an answer. */
static size_t end_of_answer(const dialect_path *path, size_t at, slice answer)
{
    size_t last = at;

    for (size_t i = at + 1; answer.len > 0 && i < path->end; i++) {
        const session_entry *entry = path->entries[i];
        if (is_of_answer(entry, answer))
            last = i;
        else if (entry->in_context && entry->role != SESSION_ROLE_TOOL_RESULT && !entry->is_beside)
            break;
    }
    return last;
}

static size_t message(context *ctx, const dialect_path *path, size_t at)
{
    const session_entry *entry = path->entries[at];

    if (entry->role != SESSION_ROLE_ASSISTANT) {
        dialect_add_api(ctx, entry);
        return at + 1;
    }
    if (entry->is_beside) /* the entry belongs to an answer that is not on the path */
        return at + 1;
    slice answer = answer_of(entry);
    size_t last = end_of_answer(path, at, answer);
    if (at == last)
        dialect_add_api(ctx, entry);
    else
        merge_answer(ctx, path, at, last, answer);
    for (size_t i = at + 1; i < last && !ctx->memory->failed; i++) {
        if (path->entries[i]->in_context && path->entries[i]->role == SESSION_ROLE_TOOL_RESULT)
            dialect_add_api(ctx, path->entries[i]);
    }
    return last + 1;
}

const dialect_table DIALECT_CLAUDE = {
    .name = "claude",
    .file = "a transcript of Claude Code",
    .recognise = recognise,
    .id = id_of,
    .parent = parent_of,
    .classify = classify,
    .message = message,
};
