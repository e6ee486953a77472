/*
 * session_batch.c: a batch of lines to be written to a session. References to lines of the same
 * batch are resolved here, all others by the database.
 */
#include "store/session/session_write.h"

#include <stdlib.h>

/* Values of pending_line.ref. A positive value is the ordinal, from 1, of the parent in the batch.
 */
enum {
    REF_LOOKED_UP = 0, /* the database looks up the parent by its id, if there is one */
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
    free(batch->lines);
    arena_reset(&batch->memory);
    batch->lines = NULL;
    batch->count = batch->capacity = 0;
}

bool session_batch_reset(session_batch *batch)
{
    arena_reset(&batch->memory);
    batch->count = 0;
    batch->bytes = 0;
    return string_map_init(&batch->ids, 64, &batch->memory);
}

static pending_line *add_line(session_batch *batch)
{
    if (batch->count == batch->capacity) {
        size_t wanted = batch->capacity < 16 ? 16 : batch->capacity * 2;
        pending_line *more = reallocarray(batch->lines, wanted, sizeof(*more));
        if (more == NULL)
            return NULL;
        batch->lines = more;
        batch->capacity = wanted;
    }
    batch->lines[batch->count] = (pending_line){.index = -1};
    return &batch->lines[batch->count++];
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

static void set_previous_id(session_batch *batch, slice id)
{
    memcpy(batch->previous_id, id.ptr, id.len);
    batch->previous_id[id.len] = '\0';
}

pending_line *session_batch_add(session_batch *batch, const session_entry *entry)
{
    pending_line *line = add_line(batch);
    uint32_t duplicate_of = string_map_get(&batch->ids, entry->id);

    if (line == NULL)
        return NULL;
    line->is_entry = true;
    line->entry = *entry;
    line->content = entry->text;
    line->duplicate_of = duplicate_of == STRING_MAP_NONE ? 0 : (int32_t)duplicate_of;
    line->ref = find_parent(batch, entry);
    if (batch->dialect < 0 && session_kind_has_dialect(entry->kind))
        batch->dialect = (int)session_kind_dialect(entry->kind);
    batch->bytes += line->content.len;
    set_previous_id(batch, entry->id);
    if (duplicate_of == STRING_MAP_NONE &&
        !string_map_set(&batch->ids, entry->id, (uint32_t)batch->count))
        return NULL;
    return line;
}

/* --- lines of a file --- */

/* Stores the bytes of the line before and after the JSON. A single line feed after it is omitted.
 */
static void set_surrounding_bytes(pending_line *out, const session_line *line)
{
    const char *end = line->whole.ptr + line->whole.len;
    const char *text_end = line->text.ptr + line->text.len;

    if (line->text.ptr > line->whole.ptr)
        out->before = (slice){line->whole.ptr, (size_t)(line->text.ptr - line->whole.ptr)};
    if (end - text_end != 1 || *text_end != '\n')
        out->after = (slice){text_end, (size_t)(end - text_end)};
}

/* Copies the entry's id and parent to the batch's memory. If the entry has no id and no parent, its
 * parent is the previous entry of the file. */
static bool copy_ids(session_batch *batch, session_entry *entry)
{
    if (entry->id_is_made && entry->parent_state == SESSION_PARENT_ABSENT &&
        batch->previous_id[0] != '\0') {
        entry->parent_state = SESSION_PARENT_NAMED;
        entry->parent = slice_of(batch->previous_id);
    }
    entry->id.ptr = arena_copy(&batch->memory, entry->id);
    if (entry->parent.len > 0)
        entry->parent.ptr = arena_copy(&batch->memory, entry->parent);
    return entry->id.ptr != NULL && entry->parent.ptr != NULL;
}

pending_line *session_batch_import(session_batch *batch, const session_line *line,
                                   const session_entry *entry)
{
    session_entry kept;
    pending_line *added;

    if (entry != NULL) {
        kept = *entry;
        added = copy_ids(batch, &kept) ? session_batch_add(batch, &kept) : NULL;
    } else {
        added = add_line(batch);
    }
    if (added == NULL)
        return NULL;
    added->line = line->number;
    added->is_header = line->kind == SESSION_LINE_HEADER;
    if (added->is_header)
        added->content = line->text;
    if (added->content.ptr != NULL)
        set_surrounding_bytes(added, line);
    else
        added->before = line->whole;
    batch->bytes += entry == NULL ? line->whole.len : 0;
    return added;
}

/* --- parameters --- */

/* Adds one line's element of an array parameter. */
typedef void (*put_column)(params *p, const pending_line *line);

static void col_id(params *p, const pending_line *line)
{
    params_text_or_null(p, line->is_entry ? line->entry.id : (slice){NULL, 0});
}

/* The parent's id; empty if parentId is not an id. */
static void col_parent(params *p, const pending_line *line)
{
    session_parent state = line->is_entry ? line->entry.parent_state : SESSION_PARENT_ABSENT;
    bool is_root = state == SESSION_PARENT_ABSENT || state == SESSION_PARENT_NULL;

    params_text_or_null(p, is_root                         ? (slice){NULL, 0}
                           : state == SESSION_PARENT_NAMED ? line->entry.parent
                                                           : SLICE(""));
}

static void col_type(params *p, const pending_line *line)
{
    if (line->is_entry && line->entry.kind == SESSION_OTHER)
        params_cstr(p, "other");
    else if (line->is_entry)
        params_cstr(p, session_kind_name(line->entry.kind));
    else
        params_cstr(p, line->is_header ? "session" : NULL);
}

static void col_role(params *p, const pending_line *line)
{
    params_cstr(p, line->is_entry ? session_role_shown(line->entry.role) : NULL);
}

static void col_sets(params *p, const pending_line *line)
{
    params_cstr(p, line->is_entry ? session_entry_sets(&line->entry) : NULL);
}

static void col_target(params *p, const pending_line *line)
{
    arena memory = ARENA_INIT;
    slice target = {NULL, 0};

    if (line->is_entry && line->entry.kind == SESSION_COMPACTION)
        target = line->entry.first_kept;
    else if (line->is_entry && line->entry.kind == SESSION_LABEL)
        session_text_of(&target, line->entry.target, &memory);
    params_text_or_null(p, slice_is_id(target, SESSION_ID_MAX) ? target : (slice){NULL, 0});
    if (memory.failed)
        p->bytes.failure = BUF_NOMEM;
    arena_reset(&memory);
}

static void col_index(params *p, const pending_line *line)
{
    params_int8_or_null(p, line->has_index, line->index);
}

/* The label or the name that the entry sets. An empty label is NULL: it removes the label. */
static void col_label(params *p, const pending_line *line)
{
    bool has = line->is_entry &&
               (line->entry.kind == SESSION_LABEL || line->entry.kind == SESSION_INFO) &&
               line->entry.label.kind == SCAN_STRING && line->entry.label.text.len > 2;

    params_text_or_null(p, has ? line->entry.label.text : (slice){NULL, 0});
}

static void col_id_is_made(params *p, const pending_line *line)
{
    params_bool(p, line->is_entry && line->entry.id_is_made);
}

/* The array parameters of session_import in order. session_append has those that are not
 * of_import_only. If `put` is NULL, the value is the member at `offset`. */
static const struct {
    params_type type;
    bool of_import_only;
    put_column put;
    size_t offset;
} COLUMNS[] = {
    {PARAMS_TEXT, false, col_id, 0},
    {PARAMS_INT4, false, NULL, offsetof(pending_line, duplicate_of)},
    {PARAMS_TEXT, false, col_parent, 0},
    {PARAMS_INT4, false, NULL, offsetof(pending_line, ref)},
    {PARAMS_TEXT, false, col_type, 0},
    {PARAMS_TEXT, false, col_role, 0},
    {PARAMS_TEXT, false, col_sets, 0},
    {PARAMS_TEXT, false, col_target, 0},
    {PARAMS_INT8, true, col_index, 0},
    {PARAMS_JSON, false, col_label, 0},
    {PARAMS_JSON, false, NULL, offsetof(pending_line, content)},
    {PARAMS_BYTEA, true, NULL, offsetof(pending_line, before)},
    {PARAMS_BYTEA, true, NULL, offsetof(pending_line, after)},
    {PARAMS_BOOL, true, col_id_is_made, 0},
};

static void put_value(params *p, size_t column, const pending_line *line)
{
    if (COLUMNS[column].put != NULL)
        COLUMNS[column].put(p, line);
    else
        params_value(p, COLUMNS[column].type, (const char *)line + COLUMNS[column].offset);
}

static void put_columns(params *p, const session_batch *batch)
{
    for (size_t column = 0; column < sizeof(COLUMNS) / sizeof(COLUMNS[0]); column++) {
        if (COLUMNS[column].of_import_only && !batch->import)
            continue;
        params_array(p, COLUMNS[column].type);
        for (size_t i = 0; i < batch->count; i++)
            put_value(p, column, &batch->lines[i]);
        params_array_end(p);
    }
}

static void put_session(params *p, const session_batch *batch)
{
    params_text(p, batch->tenant);
    params_text(p, batch->session);
    params_cstr(p, session_dialect_name(batch->dialect));
}

void session_append_params(params *p, const session_batch *batch)
{
    put_session(p, batch);
    params_int8_or_null(p, batch->expected_version > 0, batch->expected_version);
    params_text_or_null(p, batch->key);
    put_columns(p, batch);
}

void session_import_params_begin(params *p, const session_batch *batch)
{
    put_session(p, batch);
    params_text_or_null(p, batch->file_id);
    params_bool(p, batch->restores);
    params_int8(p, batch->start);
    put_columns(p, batch);
}

void session_import_params_end(params *p, const session_batch *batch)
{
    params_int8_or_null(p, batch->created != 0, batch->created);
    params_int8_or_null(p, batch->diverged_at >= 0, batch->diverged_at);
}
