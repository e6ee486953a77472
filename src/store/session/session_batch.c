/*
 * session_batch.c: lines on their way into a session: what each refers to is looked up among those
 * that go with it, the rest is left to the database.
 */
#include "store/session/session_write.h"

#include <stdlib.h>

enum {
    PARENT_NONE = 0,
    PARENT_BEFORE = -1,
    PARENT_UNUSABLE = -2,
    PARENT_ELSEWHERE = -3,
    PARENT_SELF = -4,
    PARENT_HEAD = -5
};
enum { PUT_KEPT = -1, PUT_HEADER = -2 };

bool session_batch_init(session_batch *out, view tenant, view session)
{
    *out =
        (session_batch){.tenant = tenant, .session = session, .dialect = -1, .memory = ARENA_INIT};
    return session_batch_reset(out);
}

void session_batch_free(session_batch *batch)
{
    free(batch->puts);
    arena_reset(&batch->memory);
    batch->puts = NULL;
    batch->count = batch->capacity = 0;
}

bool session_batch_reset(session_batch *batch)
{
    arena_reset(&batch->memory);
    batch->count = 0;
    batch->bytes = 0;
    return session_names_init(&batch->ids, 64, &batch->memory);
}

session_put *session_batch_put(session_batch *batch)
{
    if (batch->count == batch->capacity) {
        size_t wanted = batch->capacity < 16 ? 16 : batch->capacity * 2;
        session_put *more = reallocarray(batch->puts, wanted, sizeof(*more));
        if (more == NULL)
            return NULL;
        batch->puts = more;
        batch->capacity = wanted;
    }
    batch->puts[batch->count] = (session_put){.kind = PUT_KEPT};
    return &batch->puts[batch->count++];
}

static int32_t parent_place(const session_batch *batch, const session_entry *entry)
{
    uint32_t place;

    switch (entry->parent_state) {
    case SESSION_PARENT_ABSENT:
        if (!batch->import)
            return PARENT_HEAD;
        return entry->id_is_made ? PARENT_BEFORE : PARENT_NONE;
    case SESSION_PARENT_NULL:
        return PARENT_NONE;
    case SESSION_PARENT_UNUSABLE:
        return PARENT_UNUSABLE;
    case SESSION_PARENT_NAMED:
        break;
    }
    if (view_equal(entry->parent, entry->id))
        return PARENT_SELF;
    place = session_names_get(&batch->ids, entry->parent);
    return place == SESSION_NONE ? PARENT_ELSEWHERE : (int32_t)place;
}

void session_batch_follow(session_batch *batch, view id)
{
    memcpy(batch->before, id.ptr, id.len);
    batch->before[id.len] = '\0';
}

bool session_batch_link(session_batch *batch, session_put *put)
{
    int32_t place = (int32_t)batch->count;
    uint32_t twin = session_names_get(&batch->ids, put->entry.id);

    put->kind = (int)put->entry.kind + SESSION_KIND_CODES * (int)put->entry.role;
    put->raw = put->entry.text;
    put->twin = twin == SESSION_NONE ? 0 : (int32_t)twin;
    put->parent_place = parent_place(batch, &put->entry);
    if (batch->dialect < 0 && session_kind_has_dialect(put->entry.kind))
        batch->dialect = (int)session_kind_dialect(put->entry.kind);
    batch->bytes += put->raw.len;
    return twin != SESSION_NONE || session_names_set(&batch->ids, put->entry.id, (uint32_t)place);
}

/* --- lines of a file --- */

/* What stands around the JSON, where that is not just one line feed. */
static void put_around(session_put *put, const session_line *line)
{
    const char *end = line->whole.ptr + line->whole.len;
    const char *text_end = line->text.ptr + line->text.len;

    if (line->text.ptr > line->whole.ptr)
        put->before = (view){line->whole.ptr, (size_t)(line->text.ptr - line->whole.ptr)};
    if (end - text_end != 1 || *text_end != '\n')
        put->after = (view){text_end, (size_t)(end - text_end)};
}

bool session_batch_import(session_batch *batch, const session_line *line,
                          const session_entry *entry, int64_t seq, int32_t ord)
{
    session_put *put = session_batch_put(batch);

    if (put == NULL)
        return false;
    put->seq = seq;
    put->ord = ord;
    put->line = line->number;
    if (entry != NULL) {
        put->entry = *entry;
        put->entry.id.ptr = arena_copy(&batch->memory, entry->id);
        if (put->entry.id.ptr == NULL)
            return false;
        put_around(put, line);
        return session_batch_link(batch, put);
    }
    put->kind = line->kind == SESSION_LINE_HEADER ? PUT_HEADER : PUT_KEPT;
    put->raw = line->kind == SESSION_LINE_HEADER ? line->text : (view){NULL, 0};
    put->before = line->whole;
    batch->bytes += line->whole.len;
    return true;
}

/* --- parameters --- */

typedef void (*put_column)(params *p, const session_put *put);

static void col_seq(params *p, const session_put *put)
{
    params_int8(p, put->seq);
}

static void col_ord(params *p, const session_put *put)
{
    params_int4(p, put->ord);
}

static void col_id(params *p, const session_put *put)
{
    params_text_or_null(p, put->kind < 0 ? (view){NULL, 0} : put->entry.id);
}

static void col_twin(params *p, const session_put *put)
{
    params_int4(p, put->twin);
}

/* Which entry of the batches before comes before one without an id only the database knows: it
 * stands for ''. */
static void col_parent(params *p, const session_put *put)
{
    bool named = put->kind >= 0 && put->entry.parent_state == SESSION_PARENT_NAMED;
    bool follows = put->parent_place == PARENT_BEFORE;

    params_text_or_null(p, named ? put->entry.parent : follows ? VIEW("") : (view){NULL, 0});
}

static void col_parent_place(params *p, const session_put *put)
{
    params_int4(p, put->parent_place);
}

static void col_kind(params *p, const session_put *put)
{
    params_int4(p, put->kind);
}

static void col_raw(params *p, const session_put *put)
{
    params_text_or_null(p, put->raw);
}

static void col_before(params *p, const session_put *put)
{
    params_text_or_null(p, put->before);
}

static void col_after(params *p, const session_put *put)
{
    params_text_or_null(p, put->after);
}

/* Of a compaction what an index names in its file. What an id names its line says. */
static void col_target(params *p, const session_put *put)
{
    arena memory = ARENA_INIT;
    view target = {NULL, 0};

    if (put->kind >= 0 && put->entry.kind == SESSION_COMPACTION &&
        put->entry.target.kind == SCAN_NUMBER)
        params_text_or_null(p, put->entry.kept);
    else if (put->kind >= 0 && put->entry.kind == SESSION_LABEL &&
             session_text_of(&target, put->entry.target, &memory) && target.len <= SESSION_ID_MAX)
        params_text(p, target);
    else
        params_null(p);
    if (memory.failed)
        p->bytes.failure = BUF_NOMEM;
    arena_reset(&memory);
}

/* An empty label takes the label away, an empty name says nothing. */
static void col_label(params *p, const session_put *put)
{
    bool has = put->kind >= 0 &&
               (put->entry.kind == SESSION_LABEL || put->entry.kind == SESSION_INFO) &&
               put->entry.label.kind == SCAN_STRING && put->entry.label.text.len > 2;

    params_text_or_null(p, has ? put->entry.label.text : (view){NULL, 0});
}

static const struct {
    params_type type;
    put_column put;
} COLUMNS[] = {
    {PARAMS_INT8, col_seq},    {PARAMS_INT4, col_ord},    {PARAMS_TEXT, col_id},
    {PARAMS_INT4, col_twin},   {PARAMS_TEXT, col_parent}, {PARAMS_INT4, col_parent_place},
    {PARAMS_INT4, col_kind},   {PARAMS_JSON, col_raw},    {PARAMS_BYTEA, col_before},
    {PARAMS_BYTEA, col_after}, {PARAMS_TEXT, col_target}, {PARAMS_JSON, col_label},
};

void session_write_params_begin(params *p, const session_batch *batch)
{
    params_text(p, batch->tenant);
    params_text(p, batch->session);
    params_bool(p, batch->import);
    if (batch->dialect < 0)
        params_null(p);
    else
        params_int4(p, batch->dialect);
    params_int8_or_null(p, batch->expected_version > 0, batch->expected_version);
    params_text_or_null(p, batch->key);
    for (size_t column = 0; column < sizeof(COLUMNS) / sizeof(COLUMNS[0]); column++) {
        params_array(p, COLUMNS[column].type);
        for (size_t i = 0; i < batch->count; i++)
            COLUMNS[column].put(p, &batch->puts[i]);
        params_array_end(p);
    }
}

void session_write_params_end(params *p, const session_batch *batch)
{
    params_int8_or_null(p, batch->since > 0, batch->since);
    params_text_or_null(p, batch->file_id);
    bool follows = batch->import && batch->before[0] != '\0';
    params_text_or_null(p, follows ? view_of(batch->before) : (view){NULL, 0});
}

void session_write_params(params *p, const session_batch *batch)
{
    session_write_params_begin(p, batch);
    session_write_params_end(p, batch);
}
