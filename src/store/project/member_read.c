/*
 * member_read.c: reads the values of members of an import's lines. A value is accepted if its
 * meaning is clear, and otherwise refused with a reason.
 */
#include "base/base64.h"
#include "base/errors.h"
#include "base/isotime.h"
#include "store/client/check.h"
#include "store/project/members.h"

cardbox_status member_wrong_kind(cardbox_error *err, const char *name, const char *wanted,
                                 scan_value value)
{
    if (value.kind == SCAN_NONE)
        return error_set(err, CARDBOX_INVALID, "the row has no %s", name);
    return error_set(err, CARDBOX_INVALID, "%s must be %s, not %s", name, wanted,
                     scan_kind_name(value.kind));
}

/* item->decoded has reserved the bytes of the whole line, so the buffer is not moved and slices of
 * it stay valid. */
bool member_decode(import_item *item, scan_value value, slice *out)
{
    size_t start = item->decoded.len;
    if (!scan_decode(&item->decoded, value.text) || !buf_ok(&item->decoded))
        return false;
    *out = buf_since(&item->decoded, start);
    return true;
}

static cardbox_status read_lines(import_item *item, const member *m, scan_value value, slice *out,
                                 cardbox_error *err)
{
    if (value.kind != SCAN_STRING)
        return member_wrong_kind(err, m->name, "a string", value);
    if (!member_decode(item, value, out))
        *out = SLICE("");
    return check_text(m->name, *out, m->extra, err);
}

cardbox_status member_read_text(import_item *item, scan_value value, const char *name, size_t max,
                                slice *out, cardbox_error *err)
{
    if (value.kind != SCAN_STRING)
        return member_wrong_kind(err, name, "a string", value);
    if (!member_decode(item, value, out) || !slice_is_id(*out, max))
        return error_set(err, CARDBOX_INVALID,
                         "%s must be 1 to %zu bytes of UTF-8 without control characters", name,
                         max);
    return CARDBOX_OK;
}

static cardbox_status check_past(const member *m, int64_t micros, cardbox_error *err)
{
    return (m->flags & MEMBER_PAST) != 0 ? check_not_ahead(m->name, micros, err) : CARDBOX_OK;
}

static cardbox_status read_time(import_item *item, const member *m, scan_value value,
                                int64_t *micros, cardbox_error *err)
{
    isotime time;
    slice text;
    if (value.kind != SCAN_STRING)
        return member_wrong_kind(err, m->name, "a string", value);
    if (!member_decode(item, value, &text) || !isotime_parse(text, &time))
        return error_set(err, CARDBOX_INVALID,
                         "%s must be a time like 2025-01-02T03:04:05Z, not %.*s", m->name,
                         error_shown(value.text), value.text.ptr);
    *micros = isotime_to_micros(&time);
    return check_past(m, *micros, err);
}

static cardbox_status read_integer(const member *m, scan_value value, const char *wanted,
                                   int64_t *out, cardbox_error *err)
{
    if (value.kind != SCAN_NUMBER || !scan_integer(value.text, out))
        return member_wrong_kind(err, m->name, wanted, value);
    return CARDBOX_OK;
}

static cardbox_status read_ms(const member *m, scan_value value, int64_t *out, cardbox_error *err)
{
    int64_t micros;
    cardbox_status status = read_integer(m, value, "an integer: milliseconds since 1970", out, err);
    if (status != CARDBOX_OK)
        return status;
    if (__builtin_mul_overflow(*out, 1000, &micros))
        micros = *out < 0 ? INT64_MIN : INT64_MAX;
    return check_past(m, micros, err);
}

static cardbox_status read_int4(const member *m, scan_value value, int32_t *out, cardbox_error *err)
{
    static const char wanted[] = "an integer of 32 bits";
    int64_t number = 0;
    cardbox_status status = read_integer(m, value, wanted, &number, err);
    if (status == CARDBOX_OK && (number < INT32_MIN || number > INT32_MAX))
        status = member_wrong_kind(err, m->name, wanted, value);
    *out = (int32_t)number;
    return status;
}

/* The token of the string or object is stored unchanged. */
static cardbox_status read_token(const member *m, scan_value value, scan_kind kind, slice *out,
                                 cardbox_error *err)
{
    *out = value.text;
    if (value.kind != kind)
        return member_wrong_kind(err, m->name, kind == SCAN_STRING ? "a string" : "an object",
                                 value);
    return CARDBOX_OK;
}

/* The service that CardBox replaces encoded some values twice. If `value` is a string that contains
 * the JSON of an object or an array, returns the object or array, else `value` itself. */
static scan_value decode_doubly_encoded(import_item *item, scan_value value)
{
    scan_value inner;
    slice text;
    size_t start = item->decoded.len;
    if (value.kind == SCAN_STRING && member_decode(item, value, &text)) {
        if (scan_check(text, CARDBOX_JSON_DEPTH_MAX, &inner, NULL, NULL) &&
            (inner.kind == SCAN_OBJECT || inner.kind == SCAN_ARRAY))
            return inner;
        item->decoded.len = start;
    }
    return value;
}

/* The elements of a list of ids may be any strings: old boxes contain strings that can't be ids of
 * cards. */
static cardbox_status read_jsonb(import_item *item, const member *m, scan_value value, slice *out,
                                 cardbox_error *err)
{
    scan_value id;
    size_t index = 0;
    bool is_ids = m->type == MEMBER_IDS;
    value = decode_doubly_encoded(item, value);
    if (is_ids && value.kind != SCAN_ARRAY)
        return member_wrong_kind(err, m->name, "an array of strings", value);
    for (scan_walk walk = scan_enter(value); is_ids && scan_element(&walk, &id); index++)
        if (id.kind != SCAN_STRING)
            return error_set(err, CARDBOX_INVALID, "%s[%zu] must be a string, not %s", m->name,
                             index, scan_kind_name(id.kind));
    *out = value.text;
    return check_jsonb(m->name, value.text, SCAN_NONE, NULL, err);
}

static cardbox_status read_uuid(import_item *item, const member *m, scan_value value, uuid16 *out,
                                cardbox_error *err)
{
    slice text;
    if (value.kind != SCAN_STRING)
        return member_wrong_kind(err, m->name, "a UUID", value);
    if (!member_decode(item, value, &text) || !uuid16_parse(out, text))
        return error_set(err, CARDBOX_INVALID, "%s must be a UUID, not %.*s", m->name,
                         error_shown(value.text), value.text.ptr);
    return CARDBOX_OK;
}

static cardbox_status read_bool(const member *m, scan_value value, bool *out, cardbox_error *err)
{
    *out = value.kind == SCAN_TRUE;
    if (value.kind != SCAN_TRUE && value.kind != SCAN_FALSE)
        return member_wrong_kind(err, m->name, "true or false", value);
    return CARDBOX_OK;
}

static cardbox_status read_bytes(import_item *item, const member *m, scan_value value, slice *out,
                                 cardbox_error *err)
{
    size_t start = item->decoded.len;
    if (value.kind != SCAN_STRING)
        return member_wrong_kind(err, m->name, "a string", value);
    if (m->type == MEMBER_BYTES && !member_decode(item, value, out))
        return error_set(
            err, CARDBOX_INVALID,
            "%s must not contain \\u0000 or half a surrogate pair: pass it as %s_base64", m->name,
            m->name);
    if (m->type == MEMBER_BASE64 &&
        (!base64_decode(&item->decoded, scan_inside(value.text)) || !buf_ok(&item->decoded)))
        return error_set(err, CARDBOX_INVALID, "%s must be base64", m->name);
    *out = buf_since(&item->decoded, start);
    return CARDBOX_OK;
}

static cardbox_status read_value(import_item *item, const member *m, scan_value value, void *out,
                                 cardbox_error *err)
{
    switch (m->type) {
    case MEMBER_TEXT:
        *(slice *)out = SLICE("");
        if ((m->flags & MEMBER_EMPTY) != 0 && value.kind == SCAN_STRING && value.text.len == 2)
            return CARDBOX_OK;
        if ((m->flags & MEMBER_LINES) != 0)
            return read_lines(item, m, value, out, err);
        return member_read_text(item, value, m->name, m->extra, out, err);
    case MEMBER_TOKEN:
    case MEMBER_TEXT_TOKEN:
        return read_token(m, value, SCAN_STRING, out, err);
    case MEMBER_OBJECT:
        return read_token(m, value, SCAN_OBJECT, out, err);
    case MEMBER_JSONB:
    case MEMBER_IDS:
        return read_jsonb(item, m, value, out, err);
    case MEMBER_UUID:
        return read_uuid(item, m, value, out, err);
    case MEMBER_BOOL:
        return read_bool(m, value, out, err);
    case MEMBER_INT4:
        return read_int4(m, value, out, err);
    case MEMBER_INT8:
        return read_integer(m, value, "an integer", out, err);
    case MEMBER_MS:
        return read_ms(m, value, out, err);
    case MEMBER_TIME:
        return read_time(item, m, value, out, err);
    case MEMBER_BYTES:
    case MEMBER_BASE64:
        return read_bytes(item, m, value, out, err);
    case MEMBER_CONTENT:
    case MEMBER_CONTENT_TEXT:
        *(scan_value *)out = value;
        break;
    }
    return CARDBOX_OK;
}

cardbox_status member_read(import_item *item, const member *m, scan_value value, cardbox_error *err)
{
    bool is_content = m->type == MEMBER_CONTENT || m->type == MEMBER_CONTENT_TEXT;
    bool is_unset = value.kind == SCAN_NONE || value.kind == SCAN_NULL;
    if (is_unset && !is_content && (m->flags & MEMBER_REQUIRED) == 0)
        return CARDBOX_OK;
    if (m->type != MEMBER_TEXT && m->extra != 0)
        *(bool *)((char *)item + m->extra) = true;
    return read_value(item, m, value, (char *)item + m->offset, err);
}
