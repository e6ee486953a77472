/*
 * card_input.c: checks what callers and imports write, before anything is sent. Knows JSON and
 * limits, and no connection.
 */
#include "store/card_input.h"

#include "base/isotime.h"
#include "store/errors.h"

cardbox_status check_id(const char *what, const char *text, size_t max, cardbox_error *err)
{
    if (text == NULL || !view_is_id(view_of(text), max))
        return error_set(err, CARDBOX_INVALID,
                         "%s must be 1 to %zu bytes of UTF-8 without control characters", what,
                         max);
    return CARDBOX_OK;
}

cardbox_status check_time(const char *what, const char *text, int64_t *micros, cardbox_error *err)
{
    isotime time;
    if (!isotime_parse(view_of(text), &time) || !time.has_offset)
        return error_set(err, CARDBOX_INVALID,
                         "%s must be a time like 2025-01-02T03:04:05Z, not \"%.60s\"", what, text);
    isotime utc;
    *micros = isotime_to_micros(&time);
    isotime_from_micros(&utc, *micros);
    if (isotime_to_micros(&utc) != *micros)
        return error_set(err, CARDBOX_INVALID, "%s must be in the years 1 to 9999 of UTC", what);
    return CARDBOX_OK;
}

cardbox_status card_input_content(card_input *out, view content, unsigned flags, cardbox_error *err)
{
    out->content = content;
    if ((flags & SCAN_NOT_JSONB) == 0)
        return CARDBOX_OK;
    /* At worst an escape of six bytes for every two: a fixed factor is enough. */
    out->sanitised = BUF_INIT(4 * (size_t)CARDBOX_CONTENT_MAX);
    scan_sanitise(&out->sanitised, content);
    out->projection = (view){buf_str(&out->sanitised), out->sanitised.len};
    return buf_ok(&out->sanitised) ? CARDBOX_OK : error_buf(err, &out->sanitised, "content");
}

void card_input_free(card_input *input)
{
    buf_free(&input->sanitised);
    buf_free(&input->merged);
}

/* JSON text from a caller, of a size and kind. SCAN_NONE: of any kind. */
static cardbox_status check_json(const char *what, const char *text, size_t length, scan_kind kind,
                                 scan_value *value, unsigned *flags, cardbox_error *err)
{
    scan_error fault;
    view json = {text, length == 0 ? strlen(text) : length};
    if (json.len > CARDBOX_CONTENT_MAX)
        return error_set(err, CARDBOX_TOO_LARGE, "%s has %zu bytes, the limit is %u", what,
                         json.len, CARDBOX_CONTENT_MAX);
    if (!scan_check(json, CARDBOX_JSON_DEPTH_MAX, value, flags, &fault))
        return error_json(err, what, &fault);
    if (kind != SCAN_NONE && value->kind != kind)
        return error_set(err, CARDBOX_INVALID, "%s must be a JSON %s, not %s", what,
                         scan_kind_name(kind), scan_kind_name(value->kind));
    if (kind != SCAN_NONE && (*flags & SCAN_NOT_JSONB) != 0)
        return error_set(err, CARDBOX_INVALID,
                         "%s holds what PostgreSQL's jsonb can't: \\u0000, half a surrogate pair "
                         "or a number of over 100,000 digits",
                         what);
    return CARDBOX_OK;
}

static const struct {
    const char *type;
    const char *role;
} ROLES[] = {
    {CARDBOX_TYPE_INSTRUCTION, "user"},       {CARDBOX_TYPE_THOUGHT, "assistant"},
    {CARDBOX_TYPE_TOOL_CALL, "assistant"},    {CARDBOX_TYPE_DELIVERABLE, "assistant"},
    {CARDBOX_TYPE_TOOL_RESULT, "tool"},       {CARDBOX_TYPE_PROFILE, "system"},
    {CARDBOX_TYPE_RENDERED_PROMPT, "system"}, {CARDBOX_TYPE_TOOLS, "system"},
    {CARDBOX_TYPE_PARENT_POINTER, "system"},  {CARDBOX_TYPE_RESULT_FIELDS, "system"},
};

static const char *role_of_type(view type)
{
    for (size_t i = 0; i < sizeof(ROLES) / sizeof(ROLES[0]); i++)
        if (view_equal(type, view_of(ROLES[i].type)))
            return ROLES[i].role;
    return NULL;
}

const char *cardbox_role_of_type(const char *type)
{
    return type == NULL ? NULL : role_of_type(view_of(type));
}

/* The role that follows from the type, where neither the card nor its metadata names one. */
static const char *derived_role(const cardbox_card *card, scan_value metadata)
{
    scan_value type = scan_find(metadata, "type");
    if (card->role != NULL || scan_find(metadata, "role").kind != SCAN_NONE)
        return card->role;
    if (card->type != NULL)
        return cardbox_role_of_type(card->type);
    if (type.kind != SCAN_STRING)
        return NULL;
    return role_of_type((view){type.text.ptr + 1, type.text.len - 2});
}

/* Adds one member that the card names outside of its metadata. */
static cardbox_status merge_member(buf *out, scan_value metadata, const char *name,
                                   const char *value, cardbox_error *err)
{
    scan_value there = scan_find(metadata, name);
    if (value == NULL)
        return CARDBOX_OK;
    if (!view_is_utf8(view_of(value)) || strlen(value) > CARDBOX_KEY_MAX)
        return error_set(err, CARDBOX_INVALID, "%s must be up to %d bytes of UTF-8", name,
                         CARDBOX_KEY_MAX);
    if (there.kind == SCAN_NONE) {
        buf_text(out, out->len > 1 ? "," : "");
        buf_json_string(out, view_of(name));
        buf_char(out, ':');
        buf_json_string(out, view_of(value));
        return CARDBOX_OK;
    }
    if (there.kind == SCAN_STRING && scan_string_is(there.text, view_of(value)))
        return CARDBOX_OK;
    return error_set(err, CARDBOX_INVALID, "%s is \"%.60s\", but the metadata says %.*s", name,
                     value, there.text.len > 60 ? 60 : (int)there.text.len, there.text.ptr);
}

/* The members of metadata itself, as they came. */
static void merge_rest(buf *out, scan_value metadata)
{
    view key;
    scan_value value;
    for (scan_walk walk = scan_enter(metadata); scan_member(&walk, &key, &value);) {
        buf_text(out, out->len > 1 ? "," : "");
        buf_view(out, key);
        buf_char(out, ':');
        buf_view(out, value.text);
    }
}

static cardbox_status read_metadata(card_input *out, const cardbox_card *card, cardbox_error *err)
{
    scan_value given = {SCAN_NONE, {NULL, 0}};
    cardbox_status status;
    unsigned flags;
    if (card->metadata != NULL) {
        status = check_json("metadata", card->metadata, card->metadata_length, SCAN_OBJECT, &given,
                            &flags, err);
        if (status != CARDBOX_OK)
            return status;
    }
    const char *const members[][2] = {
        {"type", card->type},
        {"role", derived_role(card, given)},
        {"step_id", card->step_id},
        {"trace_id", card->trace_id},
        {"agent_turn_id", card->agent_turn_id},
        {"author_id", card->author_id},
    };
    out->merged = BUF_INIT(2 * (size_t)CARDBOX_CONTENT_MAX);
    buf_char(&out->merged, '{');
    for (size_t i = 0; i < sizeof(members) / sizeof(members[0]); i++) {
        status = merge_member(&out->merged, given, members[i][0], members[i][1], err);
        if (status != CARDBOX_OK)
            return status;
    }
    merge_rest(&out->merged, given);
    buf_char(&out->merged, '}');
    if (!buf_ok(&out->merged))
        return error_buf(err, &out->merged, "metadata");
    out->metadata = (view){buf_str(&out->merged), out->merged.len};
    return CARDBOX_OK;
}

static cardbox_status read_tool_fields(card_input *out, const cardbox_card *card,
                                       cardbox_error *err)
{
    scan_value value = {SCAN_NONE, {NULL, 0}};
    unsigned flags = 0;
    cardbox_status status = CARDBOX_OK;
    if (card->tool_calls != NULL) {
        status = check_json("tool_calls", card->tool_calls, card->tool_calls_length, SCAN_ARRAY,
                            &value, &flags, err);
        out->tool_calls = value.text;
    }
    if (status == CARDBOX_OK && card->tool_call_id != NULL) {
        status = check_id("tool_call_id", card->tool_call_id, CARDBOX_KEY_MAX, err);
        out->tool_call_id = view_of(card->tool_call_id);
    }
    return status;
}

static cardbox_status read_life(card_input *out, const cardbox_card *card, cardbox_error *err)
{
    if (card->ttl_seconds < 0)
        return error_set(err, CARDBOX_INVALID, "ttl_seconds must be 0 (for ever) or more, not %d",
                         card->ttl_seconds);
    out->has_ttl = card->ttl_seconds > 0;
    out->ttl_seconds = card->ttl_seconds;
    out->sealed = card->sealed;
    if (card->created_at == NULL)
        return CARDBOX_OK;
    out->has_created = true;
    return check_time("created_at", card->created_at, &out->created_micros, err);
}

cardbox_status card_input_read(card_input *out, const char *tenant, const cardbox_card *card,
                               cardbox_error *err)
{
    scan_value content = {SCAN_NONE, {NULL, 0}};
    unsigned flags = 0;
    *out = (card_input){.tenant = view_of(tenant)};
    cardbox_status status = check_id("card_id", card->card_id, CARDBOX_CARD_ID_MAX, err);
    if (status != CARDBOX_OK)
        return status;
    out->card_id = view_of(card->card_id);
    if (card->content == NULL)
        return error_set(err, CARDBOX_INVALID, "content of card %.80s must not be NULL",
                         card->card_id);
    status = check_json("content", card->content, card->content_length, SCAN_NONE, &content, &flags,
                        err);
    if (status == CARDBOX_OK)
        status = card_input_content(out, content.text, flags, err);
    if (status == CARDBOX_OK)
        status = read_metadata(out, card, err);
    if (status == CARDBOX_OK)
        status = read_tool_fields(out, card, err);
    if (status == CARDBOX_OK)
        status = read_life(out, card, err);
    return status;
}

/* --- parameters: one array a column --- */

typedef void (*put_column)(params *p, const card_input *input);

static void put_text_or_null(params *p, view text)
{
    if (text.ptr == NULL)
        params_null(p);
    else
        params_text(p, text);
}

static void put_jsonb_or_null(params *p, view text)
{
    if (text.ptr == NULL)
        params_null(p);
    else
        params_jsonb(p, text);
}

static void put_time_or_null(params *p, bool has, int64_t micros)
{
    if (has)
        params_timestamptz(p, micros);
    else
        params_null(p);
}

static void put_tenant(params *p, const card_input *input)
{
    params_text(p, input->tenant);
}

static void put_card_id(params *p, const card_input *input)
{
    params_text(p, input->card_id);
}

static void put_content(params *p, const card_input *input)
{
    put_text_or_null(p, input->content);
}

static void put_projection(params *p, const card_input *input)
{
    put_jsonb_or_null(p, input->projection);
}

static void put_tool_calls(params *p, const card_input *input)
{
    put_jsonb_or_null(p, input->tool_calls);
}

static void put_tool_call_id(params *p, const card_input *input)
{
    put_text_or_null(p, input->tool_call_id);
}

static void put_ttl(params *p, const card_input *input)
{
    if (input->has_ttl)
        params_int4(p, input->ttl_seconds);
    else
        params_null(p);
}

static void put_metadata(params *p, const card_input *input)
{
    put_jsonb_or_null(p, input->metadata);
}

static void put_created(params *p, const card_input *input)
{
    put_time_or_null(p, input->has_created, input->created_micros);
}

static void put_expires(params *p, const card_input *input)
{
    put_time_or_null(p, input->has_expires, input->expires_micros);
}

static void put_deleted(params *p, const card_input *input)
{
    put_time_or_null(p, input->has_deleted, input->deleted_micros);
}

static void put_sealed(params *p, const card_input *input)
{
    params_bool(p, input->sealed);
}

static const struct {
    params_type type;
    put_column put;
} COLUMNS[] = {
    {PARAMS_TEXT, put_tenant},
    {PARAMS_TEXT, put_card_id},
    {PARAMS_JSON, put_content},
    {PARAMS_JSONB, put_projection},
    {PARAMS_JSONB, put_tool_calls},
    {PARAMS_TEXT, put_tool_call_id},
    {PARAMS_INT4, put_ttl},
    {PARAMS_JSONB, put_metadata},
    {PARAMS_TIMESTAMPTZ, put_created},
    {PARAMS_TIMESTAMPTZ, put_expires},
    {PARAMS_TIMESTAMPTZ, put_deleted},
    {PARAMS_BOOL, put_sealed},
};

enum { COLUMN_COUNT = sizeof(COLUMNS) / sizeof(COLUMNS[0]) };

void card_insert_params(params *p, const card_input *input)
{
    for (size_t column = 0; column < COLUMN_COUNT; column++)
        COLUMNS[column].put(p, input);
}

/* One array a column; the inputs stand `stride` bytes apart. */
static void put_columns(params *p, const card_input *first, size_t stride, size_t count)
{
    for (size_t column = 0; column < COLUMN_COUNT; column++) {
        params_array(p, COLUMNS[column].type);
        for (size_t i = 0; i < count; i++)
            COLUMNS[column].put(p, (const void *)((const char *)first + i * stride));
        params_array_end(p);
    }
}

void cards_add_params(params *p, const card_input *inputs, size_t count, bool strict, bool restore)
{
    put_columns(p, inputs, sizeof(*inputs), count);
    params_bool(p, strict);
    params_bool(p, restore);
}

void cards_put_params(params *p, const card_put *puts, size_t count)
{
    put_columns(p, &puts->input, sizeof(*puts), count);
    params_array(p, PARAMS_BOOL);
    for (size_t i = 0; i < count; i++)
        params_bool(p, puts[i].strict);
    params_array_end(p);
    params_array(p, PARAMS_BOOL);
    for (size_t i = 0; i < count; i++)
        params_bool(p, puts[i].restore);
    params_array_end(p);
}
