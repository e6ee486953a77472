/*
 * body.c: reads the bodies of the batch reads with the JSON scanner. The list of faults has the
 * form that the source documents require.
 */
#include "server/request/body.h"
#include "base/uuid.h"
#include "cardbox/limits.h"

typedef struct reader {
    const body_rules *wanted;
    body_ids *out;
    idset seen;
    validation *faults;
} reader;

/* --- ids --- */

static void canonical_uuid(reader *in, body_id *id)
{
    char canonical[UUID_TEXT_SIZE];
    uuid16 uuid;
    if (!in->wanted->boxes || id->text.ptr == NULL || !uuid16_parse(&uuid, id->text))
        return;
    uuid16_format(canonical, &uuid);
    id->text.ptr = arena_copy(in->faults->memory, slice_of(canonical));
    id->is_uuid = true;
    in->faults->nomem = in->faults->nomem || id->text.ptr == NULL;
}

/* Adds a JSON string to the set `seen`: `text`, its decoded text or canonical UUID, or the token
 * itself if it can't be decoded. */
static idset_found add_seen(reader *in, idset *seen, slice token, slice text)
{
    idset_found found = idset_add(seen, text.ptr == NULL ? token : text);
    in->faults->nomem = in->faults->nomem || found == IDSET_NOMEM;
    return found;
}

static void take_id(reader *in, slice token)
{
    body_id id = {.token = token};
    if (in->faults->too_many != NULL)
        return;
    id.text = validation_decode(in->faults, token);
    canonical_uuid(in, &id);
    if (in->faults->nomem || add_seen(in, &in->seen, token, id.text) != IDSET_NEW)
        return;
    if (in->out->count == BODY_IDS_MAX)
        validation_too_many(in->faults, in->wanted->ids, BODY_IDS_MAX);
    else
        in->out->ids[in->out->count++] = id;
}

static void read_ids(reader *in, scan_value list)
{
    scan_value item;
    int64_t index = 0;
    if (list.kind != SCAN_ARRAY) {
        validation_add(in->faults, &VALIDATION_BODY, in->wanted->ids, -1, "list_type",
                       "Input should be a valid list", list.text);
        return;
    }
    for (scan_walk walk = scan_enter(list); scan_element(&walk, &item) && !in->faults->nomem;
         index++) {
        if (item.kind == SCAN_STRING)
            take_id(in, item.text);
        else
            validation_add(in->faults, &VALIDATION_BODY, in->wanted->ids, index, "string_type",
                           "Input should be a valid string", item.text);
    }
}

/* --- the other members --- */

static void read_member(reader *in, slice key, scan_value value)
{
    static const field HYDRATE = {.name = "hydrate", .kind = FIELD_BOOL};
    static const field LIMIT = {
        .name = "limit", .kind = FIELD_LIMIT, .least = LIMIT_LEAST, .most = LIMIT_MOST};
    if (scan_string_is(key, slice_of(in->wanted->ids)))
        read_ids(in, value);
    else if (in->wanted->boxes && scan_string_is(key, slice_of(HYDRATE.name)))
        in->out->hydrate = fields_read_number(&HYDRATE, value, in->faults) != 0;
    else if (in->wanted->boxes && scan_string_is(key, slice_of(LIMIT.name)))
        in->out->limit = fields_read_number(&LIMIT, value, in->faults);
}

/* Two members with the same name are rejected, because JSON parsers differ in which of the two they
 * use. */
static void read_object(reader *in, scan_value object)
{
    idset names;
    slice key;
    scan_value value;
    idset_init(&names, in->faults->memory);
    for (scan_walk walk = scan_enter(object);
         scan_member(&walk, &key, &value) && !in->faults->nomem;) {
        if (add_seen(in, &names, key, validation_decode(in->faults, key)) == IDSET_KNOWN) {
            validation_malformed(in->faults, NULL, (size_t)(key.ptr - in->faults->text.ptr),
                                 "a member has the same name as an earlier one");
            return;
        }
        read_member(in, key, value);
    }
}

void body_read(body_ids *out, const body_rules *wanted, validation *s)
{
    reader in = {.wanted = wanted, .out = out, .faults = s};
    *out = (body_ids){.limit = LIMIT_DEFAULT};
    idset_init(&in.seen, s->memory);
    scan_value whole = validation_body(s, CARDBOX_JSON_DEPTH_MAX);
    if (whole.kind == SCAN_NONE)
        return;
    out->ids = arena_zeros(s->memory, BODY_IDS_MAX, sizeof(body_id));
    s->nomem = s->nomem || out->ids == NULL;
    if (out->ids != NULL)
        read_object(&in, whole);
}
