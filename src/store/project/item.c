/*
 * item.c: reads a line of NDJSON: from exports of CardBox, or from the service that CardBox
 * replaces, whose writers left odd values. A line is accepted if its meaning is clear, and
 * otherwise refused with a reason. No value is guessed.
 */
#include "store/project/item.h"

#include <stdio.h>
#include "base/isotime.h"
#include "store/client/check.h"
#include "model/content/content.h"
#include "base/errors.h"
#include "store/write.h"

/* --- members --- */

typedef struct members {
    scan_value kind, tenant_id, card_id, box_id;
    scan_value content, content_text, tool_calls, tool_call_id, ttl_seconds, metadata;
    scan_value sealed, exact;
    scan_value card_ids, parent_ids;
    scan_value created_at, updated_at, expires_at, deleted_at;
} members;

enum { OF_CARD = 1 << TRANSFER_CARD, OF_BOX = 1 << TRANSFER_BOX, OF_BOTH = OF_CARD | OF_BOX };

static const struct {
    const char *name;
    size_t offset;
    unsigned of;
} MEMBERS[] = {
    {"kind", offsetof(members, kind), OF_BOTH},
    {"tenant_id", offsetof(members, tenant_id), OF_BOTH},
    {"card_id", offsetof(members, card_id), OF_CARD},
    {"content", offsetof(members, content), OF_CARD},
    {"content_text", offsetof(members, content_text), OF_CARD},
    {"exact", offsetof(members, exact), OF_CARD},
    {"tool_calls", offsetof(members, tool_calls), OF_CARD},
    {"tool_call_id", offsetof(members, tool_call_id), OF_CARD},
    {"ttl_seconds", offsetof(members, ttl_seconds), OF_CARD},
    {"expires_at", offsetof(members, expires_at), OF_CARD},
    {"deleted_at", offsetof(members, deleted_at), OF_CARD},
    {"metadata", offsetof(members, metadata), OF_CARD},
    {"sealed", offsetof(members, sealed), OF_CARD},
    {"box_id", offsetof(members, box_id), OF_BOX},
    {"card_ids", offsetof(members, card_ids), OF_BOX},
    {"parent_ids", offsetof(members, parent_ids), OF_BOX},
    {"updated_at", offsetof(members, updated_at), OF_BOX},
    {"created_at", offsetof(members, created_at), OF_BOTH},
};

enum { MEMBER_COUNT = sizeof(MEMBERS) / sizeof(MEMBERS[0]) };

const char *const TRANSFER_NAMES[TRANSFER_OTHER] = {[TRANSFER_CARD] = "card",
                                                    [TRANSFER_BOX] = "box",
                                                    [TRANSFER_SESSION_ENTRY] = "session_entry",
                                                    [TRANSFER_SESSION] = "session",
                                                    [TRANSFER_TASK] = "task",
                                                    [TRANSFER_MESSAGE] = "message",
                                                    [TRANSFER_CALL] = "call"};

static scan_value *find_member(members *m, transfer_kind kind, slice key, const char **name)
{
    for (size_t i = 0; i < MEMBER_COUNT; i++) {
        if ((MEMBERS[i].of & 1u << kind) != 0 && scan_string_is(key, slice_of(MEMBERS[i].name))) {
            *name = MEMBERS[i].name;
            return (scan_value *)(void *)((char *)m + MEMBERS[i].offset);
        }
    }
    return NULL;
}

void item_count_ignored(import_item *item, slice key)
{
    if (item->ignored++ == 0)
        snprintf(item->ignored_name, sizeof(item->ignored_name), "%.*s",
                 (int)slice_cut(key, sizeof(item->ignored_name) - 1), key.ptr);
}

static cardbox_status read_members(members *m, import_item *item, scan_value row,
                                   cardbox_error *err)
{
    slice key;
    scan_value value;
    memset(m, 0, sizeof(*m));
    for (scan_walk walk = scan_enter(row); scan_member(&walk, &key, &value);) {
        const char *name = NULL;
        scan_value *member = find_member(m, item->kind, key, &name);
        if (member == NULL)
            item_count_ignored(item, key);
        else if (member->kind != SCAN_NONE)
            return error_set(err, CARDBOX_INVALID, "the row has %s twice", name);
        else
            *member = value;
    }
    return CARDBOX_OK;
}

static cardbox_status read_kind(import_item *item, scan_value row, cardbox_error *err)
{
    scan_value kind = scan_find(row, "kind");
    if (kind.kind == SCAN_NONE)
        return error_set(err, CARDBOX_INVALID,
                         "the row has no kind: card, box, session_entry, session, task, message or "
                         "call");
    if (kind.kind != SCAN_STRING)
        return error_set(err, CARDBOX_INVALID, "kind must be a string, not %s",
                         scan_kind_name(kind.kind));
    for (int i = 0; i < TRANSFER_OTHER; i++)
        if (scan_string_is(kind.text, slice_of(TRANSFER_NAMES[i])))
            item->kind = (transfer_kind)i;
    if (item->kind != TRANSFER_OTHER)
        return CARDBOX_OK;
    return error_set(err, CARDBOX_INVALID, "unknown kind %.*s", error_shown(kind.text),
                     kind.text.ptr);
}

/* --- values --- */

static bool is_unset(scan_value value)
{
    return value.kind == SCAN_NONE || value.kind == SCAN_NULL;
}

cardbox_status item_wrong_kind(cardbox_error *err, const char *name, const char *wanted,
                               scan_value value)
{
    if (value.kind == SCAN_NONE)
        return error_set(err, CARDBOX_INVALID, "the row has no %s", name);
    return error_set(err, CARDBOX_INVALID, "%s must be %s, not %s", name, wanted,
                     scan_kind_name(value.kind));
}

/* Decodes into item->decoded. It is as large as the whole line, so that slices of it stay valid. */
bool item_decode(import_item *item, scan_value value, slice *out)
{
    size_t start = item->decoded.len;
    if (!scan_decode(&item->decoded, value.text) || !buf_ok(&item->decoded))
        return false;
    *out = buf_since(&item->decoded, start);
    return true;
}

cardbox_status item_read_text(import_item *item, scan_value value, const char *name, size_t max,
                              slice *out, cardbox_error *err)
{
    if (value.kind != SCAN_STRING)
        return item_wrong_kind(err, name, "a string", value);
    if (!item_decode(item, value, out) || !slice_is_id(*out, max))
        return error_set(err, CARDBOX_INVALID,
                         "%s must be 1 to %zu bytes of UTF-8 without control characters", name,
                         max);
    return CARDBOX_OK;
}

cardbox_status item_read_time(import_item *item, scan_value value, const char *name, bool *has,
                              int64_t *micros, cardbox_error *err)
{
    isotime time;
    slice text;
    if (is_unset(value))
        return CARDBOX_OK;
    if (value.kind != SCAN_STRING)
        return item_wrong_kind(err, name, "a string", value);
    if (!item_decode(item, value, &text) || !isotime_parse(text, &time))
        return error_set(err, CARDBOX_INVALID,
                         "%s must be a time like 2025-01-02T03:04:05Z, not %.*s", name,
                         error_shown(value.text), value.text.ptr);
    *has = true;
    *micros = isotime_to_micros(&time);
    return CARDBOX_OK;
}

cardbox_status item_read_made(import_item *item, scan_value value, const char *name, bool *has,
                              int64_t *micros, cardbox_error *err)
{
    cardbox_status status = item_read_time(item, value, name, has, micros, err);
    return status == CARDBOX_OK && *has ? check_not_ahead(name, *micros, err) : status;
}

cardbox_status item_read_tenant(import_item *item, scan_value named, const char *tenant, slice *out,
                                cardbox_error *err)
{
    if (tenant == NULL)
        return item_read_text(item, named, "tenant_id", CARDBOX_TENANT_MAX, out, err);
    *out = slice_of(tenant);
    if (!item->only_own || is_unset(named))
        return CARDBOX_OK;
    if (named.kind == SCAN_STRING && scan_string_is(named.text, *out))
        return CARDBOX_OK;
    return error_set(err, CARDBOX_INVALID, "tenant_id names another project than the request's");
}

/* Old writers encoded some values twice. If a string contains an object or an array, that is used.
 * Any other value stays unchanged. */
static scan_value decode_doubly_encoded(import_item *item, scan_value value)
{
    scan_value inner;
    slice text;
    size_t start = item->decoded.len;
    if (value.kind == SCAN_STRING && item_decode(item, value, &text)) {
        if (scan_check(text, CARDBOX_JSON_DEPTH_MAX, &inner, NULL, NULL) &&
            (inner.kind == SCAN_OBJECT || inner.kind == SCAN_ARRAY))
            return inner;
        item->decoded.len = start;
    }
    return value;
}

/* Reads JSON that is only stored as jsonb. */
static cardbox_status read_jsonb(import_item *item, scan_value value, const char *name, slice *out,
                                 cardbox_error *err)
{
    if (is_unset(value))
        return CARDBOX_OK;
    value = decode_doubly_encoded(item, value);
    *out = value.text;
    return check_jsonb(name, value.text, SCAN_NONE, NULL, err);
}

/* --- cards --- */

/* True if the row is one of our exports: its content, even null, is stored unchanged. In other rows
 * null is SQL's NULL. Content that fits a class is there converted to that class's stored form. */
static cardbox_status read_exact(scan_value value, bool *exact, cardbox_error *err)
{
    if (!is_unset(value) && value.kind != SCAN_TRUE && value.kind != SCAN_FALSE)
        return item_wrong_kind(err, "exact", "true or false", value);
    *exact = value.kind == SCAN_TRUE;
    return CARDBOX_OK;
}

/* Finds the JSON text of the row's content. A row has it as a value, or as a string of JSON. */
static cardbox_status find_content(import_item *item, const members *m, scan_value *out,
                                   cardbox_error *err)
{
    scan_error fault;
    slice text;
    *out = m->content;
    if (m->content_text.kind == SCAN_NONE)
        return CARDBOX_OK;
    if (m->content.kind != SCAN_NONE)
        return error_set(err, CARDBOX_INVALID, "the row has both content and content_text");
    if (m->content_text.kind != SCAN_STRING || !item_decode(item, m->content_text, &text))
        return item_wrong_kind(err, "content_text", "a string of JSON", m->content_text);
    if (!scan_check(text, CARDBOX_JSON_DEPTH_MAX, out, NULL, &fault))
        return error_json(err, "content_text", &fault);
    out->text = text; /* with the white space around it */
    return CARDBOX_OK;
}

static cardbox_status read_content(import_item *item, const members *m, cardbox_error *err)
{
    content_error fault;
    scan_value value;
    bool exact = false;
    cardbox_status status = read_exact(m->exact, &exact, err);
    if (status == CARDBOX_OK)
        status = find_content(item, m, &value, err);
    if (status != CARDBOX_OK)
        return status;
    if (value.kind == SCAN_NONE)
        return item_wrong_kind(err, "content", "", value);
    if (value.kind == SCAN_NULL && !exact) /* SQL NULL */
        return error_set(err, CARDBOX_INVALID, "content is null: nobody can read such a card");
    slice content = value.text;
    if (content.len > CARDBOX_CONTENT_MAX)
        return error_set(err, CARDBOX_TOO_LARGE, "content has %zu bytes, the limit is %u",
                         content.len, CARDBOX_CONTENT_MAX);
    if (!exact && content_class_of(value) != NULL &&
        content_normalise(&item->normal, content, &fault)) {
        if (!buf_ok(&item->normal))
            return error_buf(err, &item->normal, "content");
        content = buf_as_slice(&item->normal);
    }
    item->card.content = content;
    return CARDBOX_OK;
}

static cardbox_status read_ttl(import_item *item, scan_value value, cardbox_error *err)
{
    int64_t seconds;
    if (is_unset(value))
        return CARDBOX_OK;
    if (value.kind != SCAN_NUMBER || !scan_integer(value.text, &seconds) || seconds < INT32_MIN ||
        seconds > INT32_MAX)
        return item_wrong_kind(err, "ttl_seconds", "an integer of 32 bits", value);
    item->card.has_ttl = true;
    item->card.ttl_seconds = (int32_t)seconds;
    return CARDBOX_OK;
}

static cardbox_status read_sealed(import_item *item, scan_value value, cardbox_error *err)
{
    if (!is_unset(value) && value.kind != SCAN_TRUE && value.kind != SCAN_FALSE)
        return item_wrong_kind(err, "sealed", "true or false", value);
    item->card.sealed = value.kind == SCAN_TRUE;
    return CARDBOX_OK;
}

static cardbox_status read_life(import_item *item, const members *m, cardbox_error *err)
{
    card_input *card = &item->card;
    cardbox_status status = read_ttl(item, m->ttl_seconds, err);
    if (status == CARDBOX_OK)
        status = item_read_made(item, m->created_at, "created_at", &card->has_created,
                                &card->created_micros, err);
    if (status == CARDBOX_OK)
        status = item_read_time(item, m->expires_at, "expires_at", &card->has_expires,
                                &card->expires_micros, err);
    if (status == CARDBOX_OK)
        status = item_read_time(item, m->deleted_at, "deleted_at", &card->has_deleted,
                                &card->deleted_micros, err);
    return status == CARDBOX_OK ? read_sealed(item, m->sealed, err) : status;
}

/* Old writers wrote "" for a missing value. */
static cardbox_status read_call_id(import_item *item, scan_value value, cardbox_error *err)
{
    if (is_unset(value))
        return CARDBOX_OK;
    item->card.tool_call_id = SLICE("");
    if (value.kind == SCAN_STRING && scan_string_is(value.text, SLICE("")))
        return CARDBOX_OK;
    return item_read_text(item, value, "tool_call_id", CARDBOX_KEY_MAX, &item->card.tool_call_id,
                          err);
}

static cardbox_status read_card(import_item *item, const members *m, const char *tenant,
                                cardbox_error *err)
{
    card_input *card = &item->card;
    cardbox_status status = item_read_tenant(item, m->tenant_id, tenant, &card->tenant, err);
    if (status == CARDBOX_OK)
        status =
            item_read_text(item, m->card_id, "card_id", CARDBOX_CARD_ID_MAX, &card->card_id, err);
    if (status == CARDBOX_OK)
        status = read_content(item, m, err);
    if (status == CARDBOX_OK)
        status = read_jsonb(item, m->metadata, "metadata", &card->metadata, err);
    if (status == CARDBOX_OK)
        status = read_jsonb(item, m->tool_calls, "tool_calls", &card->tool_calls, err);
    if (status == CARDBOX_OK)
        status = read_call_id(item, m->tool_call_id, err);
    return status == CARDBOX_OK ? read_life(item, m, err) : status;
}

/* --- boxes --- */

/* Reads a list of ids. They need not name cards: old boxes contain other ids too. */
static cardbox_status read_ids(import_item *item, scan_value value, const char *name, slice *out,
                               cardbox_error *err)
{
    scan_value id;
    size_t index = 0;
    *out = SLICE("[]");
    if (is_unset(value))
        return CARDBOX_OK;
    value = decode_doubly_encoded(item, value);
    if (value.kind != SCAN_ARRAY)
        return item_wrong_kind(err, name, "an array of strings", value);
    for (scan_walk walk = scan_enter(value); scan_element(&walk, &id); index++)
        if (id.kind != SCAN_STRING)
            return error_set(err, CARDBOX_INVALID, "%s[%zu] must be a string, not %s", name, index,
                             scan_kind_name(id.kind));
    return read_jsonb(item, value, name, out, err);
}

static cardbox_status read_box_id(import_item *item, scan_value value, cardbox_error *err)
{
    slice text;
    if (value.kind != SCAN_STRING)
        return item_wrong_kind(err, "box_id", "a UUID", value);
    if (!item_decode(item, value, &text) || !uuid16_parse(&item->box.box_id, text))
        return error_set(err, CARDBOX_INVALID, "box_id must be a UUID, not %.*s",
                         error_shown(value.text), value.text.ptr);
    return CARDBOX_OK;
}

static cardbox_status read_box(import_item *item, const members *m, const char *tenant,
                               cardbox_error *err)
{
    box_input *box = &item->box;
    cardbox_status status = item_read_tenant(item, m->tenant_id, tenant, &box->tenant, err);
    if (status == CARDBOX_OK)
        status = read_box_id(item, m->box_id, err);
    if (status == CARDBOX_OK)
        status = read_ids(item, m->card_ids, "card_ids", &box->card_ids, err);
    if (status == CARDBOX_OK)
        status = read_ids(item, m->parent_ids, "parent_ids", &box->parent_ids, err);
    if (status == CARDBOX_OK && box_is_own_parent(&box->box_id, box->parent_ids))
        status = error_set(err, CARDBOX_INVALID, "parent_ids: " BOX_OWN_PARENT);
    if (status == CARDBOX_OK)
        status = item_read_time(item, m->updated_at, "updated_at", &box->has_updated,
                                &box->updated_micros, err);
    if (status == CARDBOX_OK)
        status = item_read_made(item, m->created_at, "created_at", &box->has_created,
                                &box->created_micros, err);
    /* A new box that has no other time was made when it was last changed. */
    if (status == CARDBOX_OK && box->has_updated && !box->has_created)
        status = check_not_ahead("updated_at", box->updated_micros, err);
    return status;
}

/* --- lines --- */

static cardbox_status adopt_line(import_item *out, slice line, buf *line_buf, cardbox_error *err)
{
    if (line_buf != NULL && line.ptr == line_buf->data && line.len == line_buf->len) {
        out->text = *line_buf;
        *line_buf = BUF_INIT(line_buf->max);
    } else {
        buf_slice(&out->text, line);
    }
    buf_reserve(&out->decoded, line.len + 1);
    if (buf_ok(&out->text) && buf_ok(&out->decoded))
        return CARDBOX_OK;
    return error_buf(err, buf_ok(&out->text) ? &out->decoded : &out->text, "the line");
}

cardbox_status import_item_read(import_item *out, uint64_t number, slice line, buf *line_buf,
                                const char *tenant, bool only_own, cardbox_error *err)
{
    scan_value row;
    scan_error fault;
    members m;
    *out = (import_item){.line = number,
                         .kind = TRANSFER_OTHER,
                         .only_own = only_own,
                         .text = BUF_INIT(TRANSFER_LINE_MAX),
                         .decoded = BUF_INIT(2 * TRANSFER_LINE_MAX),
                         .normal = BUF_INIT(2 * (size_t)CARDBOX_CONTENT_MAX)};
    cardbox_status status = adopt_line(out, line, line_buf, err);
    if (status != CARDBOX_OK)
        return status;
    line = buf_as_slice(&out->text);
    /* One level more than content may have: the row around it. */
    if (!scan_check(line, CARDBOX_JSON_DEPTH_MAX + 1, &row, NULL, &fault))
        return error_json(err, "the line", &fault);
    if (row.kind != SCAN_OBJECT)
        return error_set(err, CARDBOX_INVALID, "the line must be a JSON object, not %s",
                         scan_kind_name(row.kind));
    status = read_kind(out, row, err);
    if (status == CARDBOX_OK && out->kind >= TRANSFER_SESSION_ENTRY)
        return item_read_row(out, row, tenant, err);
    if (status == CARDBOX_OK)
        status = read_members(&m, out, row, err);
    if (status != CARDBOX_OK)
        return status;
    return out->kind == TRANSFER_CARD ? read_card(out, &m, tenant, err)
                                      : read_box(out, &m, tenant, err);
}

void import_item_free(import_item *item)
{
    card_input_free(&item->card);
    buf_free(&item->text);
    buf_free(&item->decoded);
    buf_free(&item->normal);
}

size_t import_item_bytes(const import_item *item)
{
    return item->text.len + item->normal.len;
}
