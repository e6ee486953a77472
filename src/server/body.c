/*
 * body.c: reads the bodies of batch reads by the spans that the scanner gives. The list of faults
 * has the form that clients of the original service know.
 */
#include "server/body.h"
#include "base/uuid.h"
#include "cardbox/limits.h"

enum {
    FAULTS_MAX = 100, /* reported */
    FAULTS_BYTES_MAX = 65536,
    INPUT_SHOWN_MAX = 256 /* bytes of a faulty value that are shown */
};

typedef struct reader {
    const body_shape *shape;
    arena *memory;
    body_batch *out;
    idset seen;
    body_error *error;
    size_t faults;
    bool too_many;
    bool nomem;
} reader;

int64_t limit_clamp(int64_t limit)
{
    if (limit < LIMIT_LEAST)
        return LIMIT_LEAST;
    return limit > LIMIT_MOST ? LIMIT_MOST : limit;
}

/* --- faults --- */

/* `index` is the place in a list, or negative. */
static void add_fault(reader *in, const char *type, const char *member, long index,
                      const char *message, scan_value value)
{
    buf *items = &in->error->items;
    if (in->faults++ >= FAULTS_MAX)
        return;
    buf_printf(items, "%s{\"type\":\"%s\",\"loc\":[\"body\"", items->len == 0 ? "" : ",", type);
    if (member != NULL)
        buf_printf(items, ",\"%s\"", member);
    if (index >= 0)
        buf_printf(items, ",%ld", index);
    buf_printf(items, "],\"msg\":\"%s\"", message);
    if (value.kind != SCAN_NONE && value.text.len <= INPUT_SHOWN_MAX) {
        buf_text(items, ",\"input\":");
        buf_view(items, value.text);
    }
    buf_char(items, '}');
}

/* --- ids --- */

/* What a string token says; ptr NULL if no id can say it, or, with in->nomem set, out of memory. */
static view decode(reader *in, view token)
{
    buf text = BUF_INIT(SIZE_MAX / 4);
    view out = {NULL, 0};
    if (memchr(token.ptr, '\\', token.len) == NULL)
        return (view){token.ptr + 1, token.len - 2};
    if (scan_decode(&text, token)) {
        out = (view){arena_copy(in->memory, (view){buf_str(&text), text.len}), text.len};
        in->nomem = in->nomem || out.ptr == NULL;
    }
    in->nomem = in->nomem || text.failure == BUF_NOMEM;
    buf_free(&text);
    return out;
}

static void canonical_uuid(reader *in, body_id *id)
{
    char canonical[UUID_TEXT_SIZE];
    uuid16 uuid;
    if (!in->shape->boxes || id->text.ptr == NULL || !uuid16_parse(&uuid, id->text))
        return;
    uuid16_format(canonical, &uuid);
    id->text.ptr = arena_copy(in->memory, view_of(canonical));
    id->is_uuid = true;
    in->nomem = in->nomem || id->text.ptr == NULL;
}

/* By what a token is known as a duplicate: what it says, else how it is spelt. */
static idset_found see(reader *in, idset *seen, view token, view text)
{
    idset_found found = idset_add(seen, text.ptr == NULL ? token : text, NULL);
    in->nomem = in->nomem || found == IDSET_NOMEM;
    return found;
}

static void take_id(reader *in, view token)
{
    body_id id = {.token = token};
    if (in->too_many)
        return;
    id.text = decode(in, token);
    canonical_uuid(in, &id);
    if (in->nomem || see(in, &in->seen, token, id.text) != IDSET_NEW)
        return;
    if (in->out->count == BODY_IDS_MAX)
        in->too_many = true;
    else
        in->out->ids[in->out->count++] = id;
}

static void read_ids(reader *in, scan_value list)
{
    scan_value item;
    long index = 0;
    if (list.kind != SCAN_ARRAY) {
        add_fault(in, "list_type", in->shape->ids, -1, "Input should be a valid list", list);
        return;
    }
    for (scan_walk walk = scan_enter(list); scan_element(&walk, &item) && !in->nomem; index++) {
        if (item.kind == SCAN_STRING)
            take_id(in, item.text);
        else
            add_fault(in, "string_type", in->shape->ids, index, "Input should be a valid string",
                      item);
    }
}

/* --- the other members --- */

static void read_hydrate(reader *in, scan_value value)
{
    if (value.kind != SCAN_TRUE && value.kind != SCAN_FALSE)
        add_fault(in, "bool_type", "hydrate", -1, "Input should be a valid boolean", value);
    in->out->hydrate = value.kind == SCAN_TRUE;
}

static void read_limit(reader *in, scan_value value)
{
    int64_t limit = LIMIT_DEFAULT;
    if (value.kind != SCAN_NUMBER || !scan_integer(value.text, &limit))
        add_fault(in, "int_type", "limit", -1, "Input should be a valid integer", value);
    in->out->limit = limit_clamp(limit);
}

static void read_member(reader *in, view key, scan_value value)
{
    if (scan_string_is(key, view_of(in->shape->ids)))
        read_ids(in, value);
    else if (in->shape->boxes && scan_string_is(key, VIEW("hydrate")))
        read_hydrate(in, value);
    else if (in->shape->boxes && scan_string_is(key, VIEW("limit")))
        read_limit(in, value);
}

/* Two parsers may take different ones of two members of a name: neither shall have the choice. */
static bool names_differ(reader *in, scan_value object, view text)
{
    idset names;
    view key;
    scan_value value;
    idset_init(&names, in->memory);
    for (scan_walk walk = scan_enter(object); scan_member(&walk, &key, &value) && !in->nomem;) {
        if (see(in, &names, key, decode(in, key)) != IDSET_KNOWN)
            continue;
        in->error->position = (size_t)(key.ptr - text.ptr);
        in->error->message = "a member has the same name as an earlier one";
        return false;
    }
    return true;
}

static body_result read_object(reader *in, scan_value object, view text)
{
    view key;
    scan_value value;
    if (!names_differ(in, object, text))
        return BODY_MALFORMED;
    for (scan_walk walk = scan_enter(object); scan_member(&walk, &key, &value) && !in->nomem;)
        read_member(in, key, value);
    if (in->nomem || !buf_ok(&in->error->items))
        return BODY_NOMEM;
    if (in->faults > 0)
        return BODY_FAULTS;
    return in->too_many ? BODY_TOO_MANY : BODY_OK;
}

body_result body_read(body_batch *out, view text, const body_shape *shape, arena *memory,
                      body_error *error)
{
    reader in = {.shape = shape, .memory = memory, .out = out, .error = error};
    scan_value whole = {SCAN_NONE, {NULL, 0}};
    scan_error fault;

    *error = (body_error){0, NULL, BUF_INIT(FAULTS_BYTES_MAX)};
    *out = (body_batch){.limit = LIMIT_DEFAULT};
    idset_init(&in.seen, memory);
    if (text.len == 0) {
        add_fault(&in, "missing", NULL, -1, "Field required", whole);
        return buf_ok(&error->items) ? BODY_FAULTS : BODY_NOMEM;
    }
    if (!scan_check(text, CARDBOX_JSON_DEPTH_MAX, &whole, NULL, &fault)) {
        error->position = fault.position;
        error->message = fault.message;
        return BODY_MALFORMED;
    }
    if (whole.kind != SCAN_OBJECT) {
        add_fault(&in, "model_attributes_type", NULL, -1, "Input should be a valid object", whole);
        return buf_ok(&error->items) ? BODY_FAULTS : BODY_NOMEM;
    }
    out->ids = arena_zeros(memory, BODY_IDS_MAX, sizeof(body_id));
    return out->ids == NULL ? BODY_NOMEM : read_object(&in, whole, text);
}
