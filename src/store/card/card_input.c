/*
 * card_input.c: checks the cards that callers write, before they are sent. Uses no connection.
 */
#include "store/card/card_input.h"

#include "cardbox/content.h"
#include "model/content/content.h"
#include "model/session/api.h"
#include "model/session/entry.h"
#include "store/card/card_json.h"
#include "store/card/card_result.h"
#include "store/client/check.h"
#include "base/errors.h"

void card_input_free(card_input *input)
{
    buf_free(&input->merged);
    buf_free(&input->restored);
}

/* Maximum JSON bytes of the value of a metadata member that may be the key of an index. PostgreSQL
 * limits the size of an index entry, which also contains the tenant. */
enum { MEMBER_TEXT_MAX = 2 * CARDBOX_KEY_MAX };

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

static const char *role_of_type(slice type)
{
    for (size_t i = 0; i < sizeof(ROLES) / sizeof(ROLES[0]); i++)
        if (slice_equal(type, slice_of(ROLES[i].type)))
            return ROLES[i].role;
    return NULL;
}

const char *cardbox_role_of_type(const char *type)
{
    return type == NULL ? NULL : role_of_type(slice_of(type));
}

/* The members of the metadata that are also members of cardbox_card and client_card. */
enum member { TYPE, ROLE, STEP_ID, TRACE_ID, AGENT_TURN_ID, AUTHOR_ID, MEMBERS };

static const slice MEMBER_NAMES[MEMBERS] = {
    [TYPE] = SLICE("type"),
    [ROLE] = SLICE("role"),
    [STEP_ID] = SLICE("step_id"),
    [TRACE_ID] = SLICE("trace_id"),
    [AGENT_TURN_ID] = SLICE("agent_turn_id"),
    [AUTHOR_ID] = SLICE("author_id"),
};

/* If a name occurs twice, its last value counts. */
static void find_members(scan_value there[MEMBERS], scan_value metadata)
{
    slice key;
    scan_value value;
    for (int i = 0; i < MEMBERS; i++)
        there[i] = (scan_value){SCAN_NONE, {NULL, 0}};
    for (scan_walk walk = scan_enter(metadata); scan_member(&walk, &key, &value);)
        for (int i = 0; i < MEMBERS; i++)
            if (scan_string_is(key, MEMBER_NAMES[i]))
                there[i] = value;
}

/* Returns the role of the message in a MessageContent; NULL: it has no known role, or the content
 * is another one. */
static const char *role_of_message(scan_value content)
{
    static const char *const NAMES[] = {[API_NONE] = NULL,
                                        [API_SYSTEM] = "system",
                                        [API_USER] = "user",
                                        [API_ASSISTANT] = "assistant",
                                        [API_RESULT] = "tool"};
    const char *class = content_class_of(content);
    if (class == NULL || strcmp(class, "MessageContent") != 0)
        return NULL;
    scan_value format = scan_find(content, "format");
    for (int i = 0; i < API_FORMATS; i++)
        if (session_string_is(format, API_FORMAT_NAMES[i]))
            return NAMES[api_role_of(scan_find(content, "message"), API_FORMAT_NUMBERS[i])];
    return NULL;
}

/* The role is derived from the type, or else from the message in the content, if the card and its
 * metadata have no role. The metadata of a card that was given as read is complete. ptr NULL: no
 * role is added. */
static slice derived_role(const client_card *card, const scan_value there[MEMBERS])
{
    scan_value type = there[TYPE];
    const char *role = NULL;
    if (card->role.ptr != NULL || there[ROLE].kind != SCAN_NONE || card->is_read_form)
        return card->role;
    if (card->type.ptr != NULL)
        role = role_of_type(card->type);
    else if (type.kind == SCAN_STRING)
        role = role_of_type(scan_inside(type.text));
    return slice_of(role != NULL ? role : role_of_message(scan_whole(card->content)));
}

static cardbox_status merge_member(buf *out, scan_value there, slice name, slice value,
                                   cardbox_error *err)
{
    if (value.ptr == NULL)
        return CARDBOX_OK;
    if (!slice_is_utf8(value) || value.len > CARDBOX_KEY_MAX)
        return error_set(err, CARDBOX_INVALID, "%s must be up to %d bytes of UTF-8", name.ptr,
                         CARDBOX_KEY_MAX);
    if (there.kind == SCAN_NONE) {
        buf_text(out, out->len > 1 ? "," : "");
        buf_json_string(out, name);
        buf_char(out, ':');
        buf_json_string(out, value);
        return CARDBOX_OK;
    }
    if (there.kind == SCAN_STRING && scan_string_is(there.text, value))
        return CARDBOX_OK;
    return error_set(err, CARDBOX_INVALID, "%s is \"%.*s\", but in the metadata it is %.*s",
                     name.ptr, error_shown(value), value.ptr, error_shown(there.text),
                     there.text.ptr);
}

/* Rejects a value in the metadata that is too long for an index key: PostgreSQL would reject the
 * whole statement, which may contain other cards. */
static cardbox_status check_key_member(scan_value there, slice name, cardbox_error *err)
{
    if (there.kind == SCAN_NONE || there.text.len <= MEMBER_TEXT_MAX)
        return CARDBOX_OK;
    return error_set(err, CARDBOX_INVALID, "%s in the metadata must be up to %d bytes of JSON",
                     name.ptr, MEMBER_TEXT_MAX);
}

static void merge_metadata(buf *out, scan_value metadata)
{
    slice key;
    scan_value value;
    for (scan_walk walk = scan_enter(metadata); scan_member(&walk, &key, &value);) {
        buf_text(out, out->len > 1 ? "," : "");
        buf_slice(out, key);
        buf_char(out, ':');
        buf_slice(out, value.text);
    }
}

/* Checks the type of a card that was given as read: it is only shown, and the metadata decides. */
static cardbox_status check_shown_type(slice type, scan_value metadata, cardbox_error *err)
{
    slice shown = card_json_type(metadata);
    if (type.ptr == NULL || scan_string_is(shown, type))
        return CARDBOX_OK;
    return error_set(
        err, CARDBOX_INVALID,
        "type is \"%.*s\", but the metadata has the type %.*s: to change the type, change "
        "metadata.type and leave out type",
        error_shown(type), type.ptr, error_shown(shown), shown.ptr);
}

static cardbox_status read_metadata(card_input *out, const client_card *card, const char **member,
                                    cardbox_error *err)
{
    scan_value given = {SCAN_NONE, {NULL, 0}}, there[MEMBERS];
    cardbox_status status;
    *member = "metadata";
    if (card->metadata.ptr != NULL) {
        status = check_jsonb("metadata", card->metadata, SCAN_OBJECT, &given, err);
        if (status != CARDBOX_OK)
            return status;
    }
    find_members(there, given);
    *member = "type";
    if (card->is_read_form && (status = check_shown_type(card->type, given, err)) != CARDBOX_OK)
        return status;
    const slice absent = {NULL, 0};
    const slice values[MEMBERS] = {
        [TYPE] = card->is_read_form ? absent : card->type,
        [ROLE] = derived_role(card, there),
        [STEP_ID] = card->step_id,
        [TRACE_ID] = card->trace_id,
        [AGENT_TURN_ID] = card->agent_turn_id,
        [AUTHOR_ID] = card->is_read_form ? absent : card->author_id,
    };
    out->merged = BUF_INIT(2 * (size_t)CARDBOX_CONTENT_MAX);
    buf_char(&out->merged, '{');
    for (int i = 0; i < MEMBERS; i++) {
        *member = MEMBER_NAMES[i].ptr;
        status = merge_member(&out->merged, there[i], MEMBER_NAMES[i], values[i], err);
        if (status == CARDBOX_OK)
            status = check_key_member(there[i], MEMBER_NAMES[i], err);
        if (status != CARDBOX_OK)
            return status;
    }
    *member = "metadata";
    merge_metadata(&out->merged, given);
    buf_char(&out->merged, '}');
    if (!buf_ok(&out->merged))
        return error_buf(err, &out->merged, "metadata");
    out->metadata = buf_as_slice(&out->merged);
    return CARDBOX_OK;
}

static cardbox_status check_class(slice content, cardbox_error *err)
{
    static const char MARK[] = "\"__type__\"";
    if (memmem(content.ptr, content.len, MARK, sizeof(MARK) - 1) == NULL)
        return CARDBOX_OK;
    return cardbox_content_check(NULL, content.ptr, content.len, err);
}

/* Makes the stored form of the content of a card that was given as read. */
static cardbox_status restore_content(card_input *out, const client_card *card, const char **member,
                                      cardbox_error *err)
{
    scan_value content = scan_whole(card->content);
    slice class = card->content_class;
    const char *reason = NULL;
    if (class.ptr == NULL && content_class_of(content) == NULL)
        return CARDBOX_OK;
    *member = "content_class";
    if (class.ptr == NULL)
        return error_set(err, CARDBOX_INVALID,
                         "content_class is null, but __type__ in content names a class");
    out->restored = BUF_INIT(CARDBOX_CONTENT_MAX);
    if (!content_restore(&out->restored, content, class, &reason))
        return error_set(err, CARDBOX_INVALID, "content_class \"%.*s\" %s", error_shown(class),
                         class.ptr, reason);
    *member = "content";
    if (!buf_ok(&out->restored))
        return error_buf(err, &out->restored, "content");
    out->content = buf_as_slice(&out->restored);
    return CARDBOX_OK;
}

static cardbox_status read_content(card_input *out, const client_card *card, const char **member,
                                   cardbox_error *err)
{
    *member = "content";
    if (card->content.ptr == NULL)
        return error_set(err, CARDBOX_INVALID, "content of card %.*s must not be NULL",
                         error_shown(card->card_id), card->card_id.ptr);
    cardbox_status status = CARDBOX_OK;
    out->content = card->content;
    if (card->is_read_form)
        status = restore_content(out, card, member, err);
    if (status == CARDBOX_OK)
        status = check_json("content", out->content, SCAN_NONE, NULL, NULL, err);
    if (status == CARDBOX_OK && card->checked)
        status = check_class(out->content, err);
    return status;
}

static cardbox_status read_tool_fields(card_input *out, const client_card *card,
                                       const char **member, cardbox_error *err)
{
    scan_value value = {SCAN_NONE, {NULL, 0}};
    cardbox_status status = CARDBOX_OK;
    if (card->tool_calls.ptr != NULL) {
        *member = "tool_calls";
        status = check_jsonb("tool_calls", card->tool_calls, SCAN_ARRAY, &value, err);
        out->tool_calls = value.text;
    }
    if (status == CARDBOX_OK && card->tool_call_id.ptr != NULL) {
        *member = "tool_call_id";
        if (!card->is_read_form || card->tool_call_id.len > 0)
            status = check_id_slice("tool_call_id", card->tool_call_id, CARDBOX_KEY_MAX, err);
        out->tool_call_id = card->tool_call_id;
    }
    return status;
}

static cardbox_status read_lifetime(card_input *out, const client_card *card, const char **member,
                                    cardbox_error *err)
{
    *member = "ttl_seconds";
    if (card->ttl_seconds < 0)
        return error_set(err, CARDBOX_INVALID, "ttl_seconds must be 0 (for ever) or more, not %d",
                         card->ttl_seconds);
    out->has_ttl = card->ttl_seconds > 0;
    out->ttl_seconds = card->ttl_seconds;
    out->sealed = card->sealed;
    out->strict = card->strict;
    out->restore = card->restore;
    if (card->created_at.ptr == NULL || card->is_read_form)
        return CARDBOX_OK;
    *member = "created_at";
    out->has_created = true;
    return check_time("created_at", card->created_at, &out->created_micros, err);
}

cardbox_status card_input_make(card_input *out, const client_card *card, const char **member,
                               cardbox_error *err)
{
    const char *ignored = NULL;
    member = member == NULL ? &ignored : member;
    *out = (card_input){.tenant = card->tenant, .card_id = card->card_id};
    *member = "card_id";
    cardbox_status status = check_id_slice("card_id", card->card_id, CARDBOX_CARD_ID_MAX, err);
    if (status == CARDBOX_OK)
        status = read_content(out, card, member, err);
    if (status == CARDBOX_OK)
        status = read_metadata(out, card, member, err);
    if (status == CARDBOX_OK)
        status = read_tool_fields(out, card, member, err);
    if (status == CARDBOX_OK)
        status = read_lifetime(out, card, member, err);
    return status;
}

static slice slice_with_length(const char *text, size_t length)
{
    return length == 0 ? slice_of(text) : (slice){text, length};
}

/* CARD_UNKNOWN, which reads return for a card without type or author, becomes {NULL, 0}. */
static slice known_or_absent(const char *text)
{
    return slice_of(text == CARD_UNKNOWN ? NULL : text);
}

cardbox_status card_input_read(card_input *out, const char *tenant, const cardbox_card *card,
                               const cardbox_add_options *options, cardbox_error *err)
{
    const client_card given = {
        .tenant = slice_of(tenant),
        .card_id = slice_of(card->card_id),
        .content = slice_with_length(card->content, card->content_length),
        .metadata = slice_with_length(card->metadata, card->metadata_length),
        .tool_calls = slice_with_length(card->tool_calls, card->tool_calls_length),
        .tool_call_id = slice_of(card->tool_call_id),
        .type = known_or_absent(card->type),
        .role = slice_of(card->role),
        .step_id = slice_of(card->step_id),
        .trace_id = slice_of(card->trace_id),
        .agent_turn_id = slice_of(card->agent_turn_id),
        .author_id = known_or_absent(card->author_id),
        .created_at = slice_of(card->created_at),
        .ttl_seconds = card->ttl_seconds,
        .sealed = card->sealed,
        .strict = options != NULL && options->strict,
        .restore = options != NULL && options->restore,
    };
    return card_input_make(out, &given, NULL, err);
}
