/*
 * session_batch.c: a batch of lines to be written to a session. The functions of this file find
 * parents and duplicates in the same batch; the database finds all others.
 */
#include "store/session/session_write.h"

/* Values of pending_line.ref. A positive ref is the number, from 1, of the parent's line in the
 * batch.
 */
enum {
    REF_LOOKED_UP = 0, /* the database looks up the parent by its id, if the entry has a parent */
    REF_HEAD = -1      /* the parent is the session's head */
};

bool session_batch_init(session_batch *out, slice tenant, slice session)
{
    *out = (session_batch){.tenant = tenant,
                           .session = session,
                           .dialect = -1,
                           .diverged_at = -1,
                           .memory = ARENA_INIT};
    return session_batch_reset(out);
}

void session_batch_free(session_batch *batch)
{
    arena_reset(&batch->memory);
    batch->lines = NULL;
    batch->count = batch->capacity = batch->bytes = 0;
}

bool session_batch_reset(session_batch *batch)
{
    session_batch_free(batch);
    return string_map_init(&batch->ids, 64, &batch->memory);
}

static pending_line *add_line(session_batch *batch)
{
    pending_line *lines =
        arena_more(&batch->memory, batch->lines, batch->count, &batch->capacity, sizeof(*lines));

    if (lines == NULL)
        return NULL;
    batch->lines = lines;
    lines[batch->count] = (pending_line){.line = 0};
    return &lines[batch->count++];
}

static int32_t find_parent(const session_batch *batch, const session_entry *entry)
{
    uint32_t number = STRING_MAP_NONE;

    if (entry->parent_state == SESSION_PARENT_ABSENT && !batch->import)
        return REF_HEAD;
    if (entry->parent_state == SESSION_PARENT_NAMED)
        number = string_map_get(&batch->ids, entry->parent);
    return number == STRING_MAP_NONE ? REF_LOOKED_UP : (int32_t)number;
}

/* Returns the id of the entry to which `entry` refers: a label's target, or the first entry that a
 * compaction keeps; ptr NULL: none. */
static slice target_of(session_batch *batch, const session_entry *entry)
{
    slice target = {NULL, 0};

    if (entry->kind == SESSION_COMPACTION)
        target = entry->first_kept;
    else if (entry->kind == SESSION_LABEL)
        session_text_of(&target, entry->target, &batch->memory);
    return slice_is_id(target, SESSION_ID_MAX) ? target : (slice){NULL, 0};
}

/* An empty label, which removes the label, is returned as {NULL, 0}. */
static slice label_of(const session_entry *entry)
{
    bool has = (entry->kind == SESSION_LABEL || entry->kind == SESSION_INFO) &&
               scan_string_inside(entry->label).len > 0;

    return has ? entry->label.text : (slice){NULL, 0};
}

/* A project's export has sums of its own, so its lines are not counted. */
static void add_usage(pending_line *line, session_batch *batch, const session_entry *entry)
{
    entry_usage used;

    if (batch->restores || !usage_of_entry(&used, entry, batch->seen, &batch->memory))
        return;
    entry_usage *kept = arena_zeros(&batch->memory, 1, sizeof(*kept));
    if (kept != NULL)
        *kept = used;
    line->usage = kept;
}

pending_line *session_batch_add(session_batch *batch, const session_entry *entry)
{
    uint32_t duplicate_of = string_map_get(&batch->ids, entry->id);
    pending_line *line = add_line(batch);

    if (line == NULL)
        return NULL;
    *line = (pending_line){
        .kind = entry->kind,
        .id = entry->id,
        .id_is_made = entry->id_is_made,
        .duplicate_of = duplicate_of == STRING_MAP_NONE ? 0 : (int32_t)duplicate_of,
        .ref = find_parent(batch, entry),
        .type = entry->kind == SESSION_OTHER || entry->is_aside
                    ? SLICE("other")
                    : slice_of(session_kind_name(entry->kind)),
        .role = slice_of(session_role_shown(entry->role)),
        .sets = slice_of(session_entry_sets(entry)),
        .target = target_of(batch, entry),
        .has_index = entry->kind == SESSION_COMPACTION && entry->target.kind == SCAN_NUMBER,
        .index = -1,
        .label = label_of(entry),
        .content = entry->text,
    };
    if (entry->parent_state == SESSION_PARENT_NAMED)
        line->parent = entry->parent;
    else if (entry->parent_state == SESSION_PARENT_UNUSABLE)
        line->parent = SLICE("");
    add_usage(line, batch, entry);
    if (batch->dialect < 0)
        batch->dialect = entry->dialect;
    batch->bytes += line->content.len;
    memcpy(batch->previous_id, entry->id.ptr, entry->id.len);
    batch->previous_id[entry->id.len] = '\0';
    if (duplicate_of == STRING_MAP_NONE)
        string_map_set(&batch->ids, entry->id, (uint32_t)batch->count);
    return batch->memory.failed ? NULL : line;
}

void session_batch_set_parent(session_batch *batch, slice parent)
{
    batch->lines[0].parent = parent;
    batch->lines[0].ref = REF_LOOKED_UP;
}

/* --- lines of a file --- */

/* If only a line feed follows the JSON, `after` stays {NULL, 0}. */
static void set_surrounding_bytes(pending_line *out, const session_line *line)
{
    const char *end = line->whole.ptr + line->whole.len;
    const char *text_end = line->text.ptr + line->text.len;

    if (line->text.ptr > line->whole.ptr)
        out->before = (slice){line->whole.ptr, (size_t)(line->text.ptr - line->whole.ptr)};
    if (end - text_end != 1 || *text_end != '\n')
        out->after = (slice){text_end, (size_t)(end - text_end)};
}

/* Sets the parent of an entry that has no id and no parentId: the previous entry of the file.
 * Returns false if memory ran out. */
static bool set_parent(session_batch *batch, session_entry *entry)
{
    if (!entry->id_is_made || entry->parent_state != SESSION_PARENT_ABSENT ||
        batch->previous_id[0] == '\0')
        return true;
    entry->parent_state = SESSION_PARENT_NAMED;
    entry->parent = slice_of(batch->previous_id);
    entry->parent.ptr = arena_copy(&batch->memory, entry->parent);
    return entry->parent.ptr != NULL;
}

pending_line *session_batch_import(session_batch *batch, const session_line *line,
                                   const session_entry *entry)
{
    pending_line *added = NULL;

    if (entry != NULL) {
        session_entry linked = *entry;
        if (set_parent(batch, &linked))
            added = session_batch_add(batch, &linked);
    } else {
        added = add_line(batch);
    }
    if (added == NULL)
        return NULL;
    added->line = line->number;
    if (line->kind == SESSION_LINE_HEADER) {
        added->type = SLICE("session");
        added->content = line->text;
    }
    if (added->content.ptr != NULL)
        set_surrounding_bytes(added, line);
    else
        added->before = line->whole;
    return added;
}

/* --- parameters --- */

typedef enum column_of { OF_BOTH, OF_IMPORT, OF_APPEND } column_of;

/* The array parameters of session_import and session_append, in order. */
static const struct {
    params_type type;
    column_of of;
    size_t offset;
} COLUMNS[] = {
    {PARAMS_TEXT, OF_BOTH, offsetof(pending_line, id)},
    {PARAMS_INT4, OF_BOTH, offsetof(pending_line, duplicate_of)},
    {PARAMS_TEXT, OF_BOTH, offsetof(pending_line, parent)},
    {PARAMS_INT4, OF_BOTH, offsetof(pending_line, ref)},
    {PARAMS_TEXT, OF_BOTH, offsetof(pending_line, type)},
    {PARAMS_TEXT, OF_BOTH, offsetof(pending_line, role)},
    {PARAMS_TEXT, OF_BOTH, offsetof(pending_line, sets)},
    {PARAMS_TEXT, OF_BOTH, offsetof(pending_line, target)},
    {PARAMS_INT8, OF_IMPORT, offsetof(pending_line, index)},
    {PARAMS_JSON, OF_BOTH, offsetof(pending_line, label)},
    {PARAMS_JSON, OF_BOTH, offsetof(pending_line, content)},
    {PARAMS_INT8, OF_APPEND, offsetof(pending_line, time_ms)},
    {PARAMS_BYTEA, OF_IMPORT, offsetof(pending_line, before)},
    {PARAMS_BYTEA, OF_IMPORT, offsetof(pending_line, after)},
    {PARAMS_BOOL, OF_IMPORT, offsetof(pending_line, id_is_made)},
};

static bool is_null(const pending_line *line, size_t offset)
{
    return (offset == offsetof(pending_line, index) && !line->has_index) ||
           (offset == offsetof(pending_line, time_ms) && !line->has_time);
}

static void put_columns(params *p, const session_batch *batch)
{
    for (size_t column = 0; column < sizeof(COLUMNS) / sizeof(COLUMNS[0]); column++) {
        params_type type = COLUMNS[column].type;
        size_t offset = COLUMNS[column].offset;
        if (COLUMNS[column].of == (batch->import ? OF_APPEND : OF_IMPORT))
            continue;
        params_array(p, type);
        for (size_t i = 0; i < batch->count; i++) {
            const pending_line *line = &batch->lines[i];
            if (is_null(line, offset))
                params_null(p);
            else
                params_value(p, type, (const char *)line + offset);
        }
        params_array_end(p);
    }
}

/* Adds the numbers of tokens of all lines; NULL if there are none. */
static void put_usage(params *p, const session_batch *batch)
{
    buf json = BUF_INIT(p->bytes.max);

    for (size_t i = 0; i < batch->count; i++) {
        const entry_usage *used = batch->lines[i].usage;
        if (used == NULL || !used->of.is_given)
            continue;
        buf_text(&json, json.len == 0 ? "[{" : ",{");
        buf_member_int(&json, "n", (int64_t)i + 1);
        usage_put(&json, used);
        buf_char(&json, '}');
    }
    if (json.len == 0) {
        params_null(p);
    } else {
        buf_char(&json, ']');
        params_jsonb(p, buf_as_slice(&json));
    }
    params_made_of(p, &json);
    buf_free(&json);
}

static void put_session(params *p, const session_batch *batch)
{
    params_text(p, batch->tenant);
    params_text(p, batch->session);
    params_cstr(p, session_dialect_name(batch->dialect));
}

void session_batch_create(session_batch *batch, const session_create *create)
{
    batch->create = create;
    batch->dialect = create->dialect;
}

statement_id session_append_statement(const session_batch *batch)
{
    return batch->create != NULL ? STATEMENT_session_append_new : STATEMENT_session_append;
}

void session_append_params(params *p, const session_batch *batch)
{
    put_session(p, batch);
    params_int8_or_null(p, batch->expected_version > 0, batch->expected_version);
    params_text_or_null(p, batch->key);
    put_columns(p, batch);
    put_usage(p, batch);
    if (batch->create == NULL)
        return;
    params_cstr(p, session_dialect_name(batch->create->dialect)); /* NULL: not known */
    params_text_or_null(p, batch->create->header);
    params_bool(p, batch->create->restore);
}

void session_import_params(params *p, const session_batch *batch)
{
    put_session(p, batch);
    params_text_or_null(p, batch->file_id);
    params_bool(p, batch->restores);
    params_int8(p, batch->start);
    put_columns(p, batch);
    params_int8_or_null(p, batch->created != 0, batch->created);
    params_int8_or_null(p, batch->diverged_at >= 0, batch->diverged_at);
    params_bool(p, batch->releases_id && batch->created == 0);
    put_usage(p, batch);
}
