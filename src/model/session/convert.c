/*
 * convert.c: converts the entries of a session one by one. A line that was converted before
 * contains its original line. If converting this original again makes the same line, the original
 * is written. Otherwise, for example after an edit, the converted line itself is converted.
 */
#include "model/session/convert_internal.h"

/* Levels of nesting that a conversion can add to a value: the params of a plain "tool" entry become
 * the arguments of a block of a message. */
enum { LEVELS_ADDED = 3 };

typedef struct conversion {
    buf *out;
    const session_item *items;
    size_t count;
    string_map calls; /* maps call ids to indexes in `names` */
    slice *names;     /* names of tools, as JSON */
    size_t name_count, name_capacity;
    size_t not_in_context;
    session_position at;
    arena *memory;
} conversion;

void convert_put_member(buf *out, const char *name, slice value)
{
    if (value.len > 0)
        buf_member(out, name, value);
}

bool convert_put_same(buf *out, const session_item *item)
{
    const session_entry *entry = item->entry;

    if ((entry->kind != SESSION_LABEL && entry->kind != SESSION_INFO) || entry->id_is_made ||
        entry->parent_state == SESSION_PARENT_UNUSABLE || !slice_equal(entry->parent, item->parent))
        return false;
    buf_slice(out, entry->text);
    buf_char(out, '\n');
    return true;
}

bool convert_is_deep(slice text)
{
    return !scan_check(text, CARDBOX_JSON_DEPTH_MAX - LEVELS_ADDED, NULL, NULL, NULL);
}

void convert_put_original(buf *out, slice text)
{
    if (convert_is_deep(text))
        buf_json_string(out, text);
    else
        buf_slice(out, text);
}

/* --- lines that were converted before --- */

/* Reads the original entry from `original`, a member of a converted line. If the original has no
 * id, it gets `id`, which is the id of the converted line. Returns false if the member contains no
 * entry, or if memory is exhausted. */
static bool read_original(session_entry *out, scan_value original, slice id, arena *memory)
{
    session_line line;
    const char *reason;
    slice text = original.text;

    if (original.kind != SCAN_OBJECT && !session_text_of(&text, original, memory))
        return false;
    if (!session_line_of(&line, text) || line.kind != SESSION_LINE_ENTRY ||
        line.text.len != text.len || !session_entry_read(out, &line, id, memory, &reason))
        return false;
    if (out->id_is_made)
        out->id = id;
    return true;
}

/* Writes the original line of an entry. If a reader would find another id, parent or first kept
 * entry at this position, the right values are added to the line. */
static void write_original(conversion *c, const session_item *item)
{
    const session_entry *entry = item->entry;
    const session_entry_links placed = {.text = entry->text,
                                        .id = entry->id,
                                        .parent = item->parent,
                                        .first_kept = entry->first_kept,
                                        .is_moved = !entry->id_is_made};
    slice ending;

    if (!session_position_ending(&ending, &c->at, &placed, c->memory))
        c->memory->failed = true;
    buf_slice(c->out, (slice){entry->text.ptr, entry->text.len - 1});
    buf_slice(c->out, ending.ptr == NULL ? SLICE("}") : ending);
    buf_char(c->out, '\n');
    session_position_entry(&c->at, entry->id);
}

/* Returns true if the converted line `made` equals `text` with a line feed. Frees `made`. */
static bool end_comparison(buf *made, slice text)
{
    bool is_same =
        buf_ok(made) && made->len == text.len + 1 && memcmp(made->data, text.ptr, text.len) == 0;

    buf_free(made);
    return is_same;
}

static bool restore_pi(conversion *c, const session_item *item)
{
    static const char *const NAMES[] = {"pi", "firstKeptEntryId"};
    buf again = BUF_INIT(SESSION_CONVERTED_MAX);
    scan_value found[2];
    session_entry entry;
    const session_item original = {&entry, item->parent, 0};

    session_pick(item->entry->value, NAMES, found, 2);
    if (!read_original(&entry, found[0], item->entry->id, c->memory))
        return false;
    /* If the original compaction names its first kept entry by an index, the converted line
     * contains the id of that entry. */
    if (entry.target.kind == SCAN_NUMBER && found[1].kind != SCAN_NONE)
        session_text_of(&entry.first_kept, found[1], c->memory);
    convert_to_plain(&again, &original, item->entry->id, c->memory);
    if (!end_comparison(&again, item->entry->text))
        return false;
    write_original(c, &original);
    return true;
}

/* Restores the plain entries that one line of pi was made from. Each of these entries is the parent
 * of the next. Returns false, with nothing written, if the line contains no plain entries or was
 * edited. */
static bool restore_plain(conversion *c, const session_item *item)
{
    scan_value originals = scan_find(item->entry->value, "plain"), original;
    size_t count = originals.kind == SCAN_ARRAY ? scan_count(originals) : 0;
    scan_walk walk = scan_enter(originals);
    buf again = BUF_INIT(SESSION_CONVERTED_MAX);

    if (count == 0)
        return false;
    session_item *run = arena_zeros(c->memory, count, sizeof(*run));
    session_entry *entries = arena_zeros(c->memory, count, sizeof(*entries));
    bool ok = run != NULL && entries != NULL;
    for (size_t i = 0; ok && i < count && scan_element(&walk, &original); i++) {
        run[i] = (session_item){&entries[i], i == 0 ? item->parent : entries[i - 1].id, 0};
        ok = (i == 0 || !entries[i - 1].id_is_made) &&
             read_original(&entries[i], original, item->entry->id, c->memory);
    }
    if (ok) {
        convert_to_pi(&again, run, count, scan_find(item->entry->body, "toolName").text);
        ok = end_comparison(&again, item->entry->text);
    }
    for (size_t i = 0; ok && i < count; i++)
        write_original(c, &run[i]);
    return ok;
}

/* Counts an entry without a full counterpart. "custom" and "metadata" entries are not counted,
 * because no model reads them. */
static void count_not_in_context(conversion *c, const session_entry *entry)
{
    c->not_in_context += entry->kind != SESSION_CUSTOM && entry->kind != SESSION_PLAIN_METADATA;
}

/* --- pi to plain --- */

/* Represents the missing header of a pi file in the converted file, so that converting back makes
 * no header. */
static const session_header NO_HEADER = {.text = {"null", 4}, .id = {"", 0}};

/* Returns true if the file has an entry that depends on line numbers: an entry without an id, or a
 * compaction that names its first kept entry by an index. */
static bool any_depends_on_position(const conversion *c)
{
    for (size_t i = 0; i < c->count; i++) {
        const session_entry *entry = c->items[i].entry;
        if (entry->id_is_made ||
            (entry->kind == SESSION_COMPACTION && entry->target.kind == SCAN_NUMBER))
            return true;
    }
    return false;
}

static bool is_made_header(const session_header *header)
{
    buf made = BUF_INIT(CARDBOX_CONTENT_MAX);

    convert_make_header(&made, header->id, header->timestamp);
    return end_comparison(&made, header->text);
}

static void pi_to_plain(conversion *c, const session_header *header)
{
    if (header == NULL && any_depends_on_position(c))
        header = &NO_HEADER;
    if (header != NULL && !is_made_header(header))
        session_position_entry(&c->at, convert_header_to_plain(c->out, header, c->memory));
    for (size_t i = 0; i < c->count && !c->memory->failed; i++) {
        const session_item *item = &c->items[i];
        if (restore_plain(c, item))
            continue;
        if (!convert_to_plain(c->out, item, item->entry->id, c->memory))
            count_not_in_context(c, item->entry);
        session_position_entry(&c->at, item->entry->id);
    }
}

/* --- plain to pi --- */

/* Returns the number of plain entries from index `at` on that become one message of pi: an
 * "assistant" or "tool" entry, and the "tool" entries directly after it. Each of these "tool"
 * entries must be the only child of the entry before it. The entry before it must have an id in its
 * line and no label. */
static size_t run_length(const conversion *c, size_t at)
{
    const session_item *items = c->items;
    session_kind kind = items[at].entry->kind;
    size_t to = at + 1;

    if (kind != SESSION_PLAIN_ASSISTANT && kind != SESSION_PLAIN_TOOL)
        return 1;
    while (to < c->count && items[to].entry->kind == SESSION_PLAIN_TOOL &&
           !items[to - 1].entry->id_is_made && items[to - 1].uses == 1 &&
           slice_equal(items[to].parent, items[to - 1].entry->id))
        to++;
    return to - at;
}

static void add_call_name(conversion *c, scan_value id, scan_value name)
{
    slice call;

    if (name.kind != SCAN_STRING || !session_text_of(&call, id, c->memory))
        return;
    slice *more = arena_more(c->memory, c->names, c->name_count, &c->name_capacity, sizeof(*more));
    if (more == NULL)
        return;
    c->names = more;
    c->names[c->name_count] = name.text;
    string_map_set(&c->calls, call, (uint32_t)c->name_count++);
}

/* Stores the tool names of an entry's calls by call id, because a plain "tool_result" entry
 * contains only the id of its call. */
static void add_call_names(conversion *c, const session_entry *entry)
{
    static const char *const NAMES[] = {"id", "name"};
    scan_value calls = scan_find(entry->value, "toolCalls"), call, found[2];
    scan_walk walk = scan_enter(calls);

    if (entry->kind == SESSION_PLAIN_TOOL)
        add_call_name(c, entry->target, scan_find(entry->value, "name"));
    if (entry->kind != SESSION_PLAIN_ASSISTANT || calls.kind != SCAN_ARRAY)
        return;
    while (scan_element(&walk, &call)) {
        session_pick(call, NAMES, found, 2);
        add_call_name(c, found[0], found[1]);
    }
}

/* Returns the JSON of the tool's name for a plain "tool_result" entry. The result is empty if the
 * call of the entry is unknown, and for other entries. */
static slice name_of(const conversion *c, const session_entry *entry)
{
    uint32_t at = STRING_MAP_NONE;
    slice call;

    if (entry->kind == SESSION_PLAIN_TOOL_RESULT &&
        session_text_of(&call, entry->target, c->memory))
        at = string_map_get(&c->calls, call);
    return at != STRING_MAP_NONE ? c->names[at] : (slice){"", 0};
}

/* If the first entry is a converted header, restores the header of pi. If the entry represents a
 * missing header, writes nothing. Returns false if the first entry is no converted header. */
static bool restore_header(conversion *c)
{
    scan_value original = scan_find(c->items[0].entry->value, "pi");
    slice text = original.text;
    buf again = BUF_INIT(SESSION_CONVERTED_MAX);
    session_header header = NO_HEADER;
    session_line line;
    bool is_none = original.kind == SCAN_NULL;
    bool ok =
        is_none || original.kind == SCAN_OBJECT || session_text_of(&text, original, c->memory);

    if (ok && !is_none)
        ok = session_line_of(&line, text) && line.kind == SESSION_LINE_HEADER &&
             session_header_read(&header, &line, c->memory);
    if (ok) {
        convert_header_to_plain(&again, &header, c->memory);
        ok = end_comparison(&again, c->items[0].entry->text);
    }
    if (ok && !is_none) {
        buf_slice(c->out, header.text);
        buf_char(c->out, '\n');
    }
    return ok;
}

static void plain_to_pi(conversion *c, slice session_id)
{
    size_t start = c->out->len, count;
    session_line header;
    bool is_restored = c->count > 0 && restore_header(c);

    if (!is_restored)
        convert_make_header(c->out, session_id,
                            c->count > 0 ? c->items[0].entry->timestamp : (slice){"", 0});
    if (session_line_of(&header, buf_since(c->out, start)) &&
        !session_position_line(&c->at, &header, c->memory))
        c->memory->failed = true;
    for (size_t at = is_restored; at < c->count && !c->memory->failed; at += count) {
        const session_item *run = &c->items[at];

        count = run_length(c, at);
        for (size_t i = 0; i < count; i++)
            add_call_names(c, run[i].entry);
        if (count == 1 && restore_pi(c, run))
            continue;
        if (!convert_to_pi(c->out, run, count, name_of(c, run[0].entry)))
            count_not_in_context(c, run[0].entry);
        session_position_entry(&c->at, run[count - 1].entry->id);
    }
}

/* Returns the entries in the tree of a file; `count` receives their number. NULL: out of memory. */
static session_item *items_of(const session_file *file, size_t *count, arena *memory)
{
    const session_tree *tree = &file->tree;
    session_item *items = arena_zeros(memory, file->count + 1, sizeof(*items));
    uint32_t *labels = arena_zeros(memory, file->count + 1, sizeof(*labels));
    slice target;

    *count = 0;
    if (items == NULL || labels == NULL)
        return NULL;
    for (uint32_t i = 0; i < file->count; i++) {
        uint32_t at = STRING_MAP_NONE;
        if (tree->nodes[i].state == SESSION_IN_TREE && file->entries[i].kind == SESSION_LABEL &&
            session_text_of(&target, file->entries[i].target, memory))
            at = session_tree_find(tree, target);
        if (at != STRING_MAP_NONE)
            labels[at]++;
    }
    for (uint32_t i = 0; i < file->count; i++) {
        uint32_t parent = tree->nodes[i].parent;
        session_item item = {&file->entries[i], {NULL, 0}, tree->nodes[i].children + labels[i]};

        if (parent != STRING_MAP_NONE)
            item.parent = file->entries[parent].id;
        if (tree->nodes[i].state == SESSION_IN_TREE)
            items[(*count)++] = item;
    }
    return items;
}

bool session_convert_file(buf *out, const session_file *file, slice session_id, size_t *left_out,
                          size_t *not_in_context, arena *memory)
{
    conversion c = {.out = out, .memory = memory};

    c.items = items_of(file, &c.count, memory);
    if (c.items == NULL || !string_map_init(&c.calls, c.count / 2, memory))
        return false;
    if (file->dialect == SESSION_PI)
        pi_to_plain(&c, file->has_header ? &file->header : NULL);
    else
        plain_to_pi(&c, session_id);
    *left_out = file->report.lines - file->report.blank - file->has_header - c.count;
    *not_in_context = c.not_in_context;
    return buf_ok(out) && !memory->failed;
}
