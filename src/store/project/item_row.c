/*
 * item_row.c: reads a line of NDJSON that is a row of a session or of the ledger. The ledger's
 * columns have the names of the service that CardBox replaces. Knows nothing of the database.
 */
#include "base/base64.h"
#include "store/client/check.h"
#include "base/errors.h"
#include "model/session/entry.h"
#include "store/project/item.h"

typedef enum field_type {
    FIELD_TEXT,  /* an id or the like */
    FIELD_EMPTY, /* the same, or "" */
    FIELD_TOKEN,
    FIELD_OBJECT,
    FIELD_MS,
    FIELD_MADE_MS, /* when it was made */
    FIELD_INT,
    FIELD_TIME,
    FIELD_MADE,
    FIELD_BYTES,
    FIELD_BASE64
} field_type;

#define AT(entity, field)   offsetof(import_item, ledger.entity.field)
#define PART(entity, field) offsetof(import_item, session.entity.field)

/* `has` is the offset of the flag that the value is present; 0: there is no flag. */
static const struct {
    transfer_kind kind;
    const char *name;
    field_type type;
    bool optional;
    size_t max, offset, has;
} FIELDS[] = {
    {TRANSFER_SESSION_ENTRY, "session_id", FIELD_TEXT, false, SESSION_ID_MAX,
     offsetof(import_item, session.session_id), 0},
    {TRANSFER_SESSION_ENTRY, "line", FIELD_INT, false, 0, PART(line, number), 0},
    {TRANSFER_SESSION_ENTRY, "bytes", FIELD_BYTES, true, 0, PART(line, bytes), 0},
    {TRANSFER_SESSION_ENTRY, "bytes_base64", FIELD_BASE64, true, 0, PART(line, bytes), 0},
    {TRANSFER_SESSION_ENTRY, "entry_id", FIELD_TEXT, true, SESSION_ID_MAX, PART(line, entry_id), 0},
    {TRANSFER_SESSION_ENTRY, "parent_id", FIELD_EMPTY, true, SESSION_ID_MAX, PART(line, parent_id),
     0},
    {TRANSFER_SESSION_ENTRY, "content", FIELD_OBJECT, true, 0, PART(line, content), 0},
    {TRANSFER_SESSION_ENTRY, "before", FIELD_BYTES, true, 0, PART(line, before), 0},
    {TRANSFER_SESSION_ENTRY, "before_base64", FIELD_BASE64, true, 0, PART(line, before), 0},
    {TRANSFER_SESSION_ENTRY, "after", FIELD_BYTES, true, 0, PART(line, after), 0},
    {TRANSFER_SESSION_ENTRY, "after_base64", FIELD_BASE64, true, 0, PART(line, after), 0},
    {TRANSFER_SESSION_ENTRY, "target", FIELD_TEXT, true, SESSION_ID_MAX, PART(line, target), 0},
    {TRANSFER_SESSION, "session_id", FIELD_TEXT, false, SESSION_ID_MAX,
     offsetof(import_item, session.session_id), 0},
    {TRANSFER_SESSION, "dialect", FIELD_TEXT, true, CARDBOX_KEY_MAX, PART(session, dialect), 0},
    {TRANSFER_SESSION, "header", FIELD_OBJECT, true, 0, PART(session, header), 0},
    {TRANSFER_SESSION, "name", FIELD_TOKEN, true, 0, PART(session, name), 0},
    {TRANSFER_SESSION, "forked_from", FIELD_TEXT, true, SESSION_ID_MAX, PART(session, forked_from),
     0},
    {TRANSFER_SESSION, "head_entry_id", FIELD_TEXT, true, SESSION_ID_MAX, PART(session, head), 0},
    {TRANSFER_SESSION, "version", FIELD_INT, false, 0, PART(session, version), 0},
    {TRANSFER_SESSION, "created_at", FIELD_MADE, true, 0, PART(session, created_micros),
     PART(session, has_created)},
    {TRANSFER_SESSION, "updated_at", FIELD_TIME, true, 0, PART(session, updated_micros),
     PART(session, has_updated)},
    {TRANSFER_TASK, "id", FIELD_TEXT, false, CARDBOX_CARD_ID_MAX, AT(task, task_id), 0},
    {TRANSFER_TASK, "parent_task_id", FIELD_TEXT, true, CARDBOX_CARD_ID_MAX, AT(task, parent_id),
     0},
    {TRANSFER_TASK, "completion_status", FIELD_TEXT, true, CARDBOX_TASK_STATUS_MAX,
     AT(task, status), 0},
    {TRANSFER_TASK, "system_prompt", FIELD_TOKEN, false, 0, AT(task, prompt), 0},
    {TRANSFER_TASK, "created_at", FIELD_MADE_MS, false, 0, AT(task, created_ms), 0},
    {TRANSFER_TASK, "updated_at", FIELD_MS, false, 0, AT(task, updated_ms), 0},
    {TRANSFER_MESSAGE, "id", FIELD_TEXT, false, CARDBOX_CARD_ID_MAX, AT(message, message_id), 0},
    {TRANSFER_MESSAGE, "task_id", FIELD_TEXT, false, CARDBOX_CARD_ID_MAX, AT(message, task_id), 0},
    {TRANSFER_MESSAGE, "role", FIELD_TEXT, false, CARDBOX_KEY_MAX, AT(message, role), 0},
    {TRANSFER_MESSAGE, "content", FIELD_TOKEN, false, 0, AT(message, content), 0},
    {TRANSFER_MESSAGE, "timestamp", FIELD_MADE_MS, false, 0, AT(message, ts_ms),
     AT(message, has_ts)},
    {TRANSFER_CALL, "id", FIELD_TEXT, false, CARDBOX_CARD_ID_MAX, AT(call, call_id), 0},
    {TRANSFER_CALL, "task_id", FIELD_TEXT, false, CARDBOX_CARD_ID_MAX, AT(call, task_id), 0},
    {TRANSFER_CALL, "ability_name", FIELD_TEXT, false, CARDBOX_KEY_MAX, AT(call, ability), 0},
    {TRANSFER_CALL, "parameters", FIELD_TOKEN, false, 0, AT(call, parameters), 0},
    {TRANSFER_CALL, "status", FIELD_TEXT, false, CARDBOX_KEY_MAX, AT(call, status), 0},
    {TRANSFER_CALL, "details", FIELD_TOKEN, true, 0, AT(call, details), 0},
    {TRANSFER_CALL, "created_at", FIELD_MADE_MS, false, 0, AT(call, created_ms),
     AT(call, has_created)},
    {TRANSFER_CALL, "updated_at", FIELD_MS, false, 0, AT(call, updated_ms), AT(call, has_updated)},
    {TRANSFER_CALL, "start_message_id", FIELD_TEXT, false, CARDBOX_CARD_ID_MAX, AT(call, start_id),
     0},
    {TRANSFER_CALL, "end_message_id", FIELD_TEXT, true, CARDBOX_CARD_ID_MAX, AT(call, end_id), 0},
};

enum { FIELD_COUNT = sizeof(FIELDS) / sizeof(FIELDS[0]) };

static cardbox_status read_number(scan_value value, const char *name, const char *wanted,
                                  int64_t *out, cardbox_error *err)
{
    if (value.kind != SCAN_NUMBER || !scan_integer(value.text, out))
        return item_wrong_kind(err, name, wanted, value);
    return CARDBOX_OK;
}

static cardbox_status read_ms(scan_value value, const char *name, bool made, int64_t *out,
                              cardbox_error *err)
{
    int64_t micros;
    cardbox_status status =
        read_number(value, name, "an integer: milliseconds since 1970", out, err);
    if (status != CARDBOX_OK || !made)
        return status;
    if (__builtin_mul_overflow(*out, 1000, &micros))
        micros = *out < 0 ? INT64_MIN : INT64_MAX;
    return check_not_ahead(name, micros, err);
}

static cardbox_status read_json(scan_value value, const char *name, scan_kind kind, slice *out,
                                cardbox_error *err)
{
    *out = value.text;
    if (value.kind != kind)
        return item_wrong_kind(err, name, kind == SCAN_STRING ? "a string" : "an object", value);
    return CARDBOX_OK;
}

static cardbox_status read_bytes(import_item *item, scan_value value, const char *name,
                                 bool is_base64, slice *out, cardbox_error *err)
{
    if (value.kind != SCAN_STRING)
        return item_wrong_kind(err, name, "a string", value);
    if (!is_base64 && !item_decode(item, value, out))
        return error_set(err, CARDBOX_INVALID, "%s has what is no UTF-8: give it as %s_base64",
                         name, name);
    if (!is_base64)
        return CARDBOX_OK;
    size_t start = item->decoded.len;
    if (!base64_decode(&item->decoded, scan_inside(value.text)) || !buf_ok(&item->decoded))
        return error_set(err, CARDBOX_INVALID, "%s must be base64", name);
    *out = buf_since(&item->decoded, start);
    return CARDBOX_OK;
}

static cardbox_status read_value(import_item *item, size_t field, scan_value value,
                                 cardbox_error *err)
{
    void *out = (char *)item + FIELDS[field].offset;
    void *has = (char *)item + FIELDS[field].has;
    const char *name = FIELDS[field].name;
    if (FIELDS[field].optional && (value.kind == SCAN_NULL || value.kind == SCAN_NONE))
        return CARDBOX_OK;
    if (FIELDS[field].has != 0)
        *(bool *)has = true;
    switch (FIELDS[field].type) {
    case FIELD_EMPTY:
        *(slice *)out = SLICE("");
        if (value.kind == SCAN_STRING && value.text.len == 2)
            return CARDBOX_OK;
        return item_read_text(item, value, name, FIELDS[field].max, out, err);
    case FIELD_TEXT:
        return item_read_text(item, value, name, FIELDS[field].max, out, err);
    case FIELD_TOKEN:
        return read_json(value, name, SCAN_STRING, out, err);
    case FIELD_OBJECT:
        return read_json(value, name, SCAN_OBJECT, out, err);
    case FIELD_MS:
    case FIELD_MADE_MS:
        return read_ms(value, name, FIELDS[field].type == FIELD_MADE_MS, out, err);
    case FIELD_INT:
        return read_number(value, name, "an integer", out, err);
    case FIELD_TIME:
        return item_read_time(item, value, name, has, out, err);
    case FIELD_MADE:
        return item_read_made(item, value, name, has, out, err);
    case FIELD_BYTES:
    case FIELD_BASE64:
        break;
    }
    return read_bytes(item, value, name, FIELDS[field].type == FIELD_BASE64, out, err);
}

/* The field of a member; FIELD_COUNT: none. */
static size_t find_field(transfer_kind kind, slice key)
{
    size_t field = 0;
    while (field < FIELD_COUNT &&
           !(FIELDS[field].kind == kind && scan_string_is(key, slice_of(FIELDS[field].name))))
        field++;
    return field;
}

static cardbox_status read_values(scan_value values[FIELD_COUNT], scan_value *tenant_id,
                                  import_item *item, scan_value row, cardbox_error *err)
{
    slice key;
    scan_value value;
    for (scan_walk walk = scan_enter(row); scan_member(&walk, &key, &value);) {
        size_t field = find_field(item->kind, key);
        if (scan_string_is(key, SLICE("tenant_id")))
            *tenant_id = value;
        else if (field < FIELD_COUNT && values[field].kind != SCAN_NONE)
            return error_set(err, CARDBOX_INVALID, "the row has %s twice", FIELDS[field].name);
        else if (field < FIELD_COUNT)
            values[field] = value;
        else if (!scan_string_is(key, SLICE("kind")))
            item_count_ignored(item, key);
    }
    return CARDBOX_OK;
}

ledger_batch item_ledger_batch(const import_item *item)
{
    return (ledger_batch){.tenant = item->ledger.tenant,
                          .tasks = &item->ledger.task,
                          .messages = &item->ledger.message,
                          .calls = &item->ledger.call,
                          .task_count = item->kind == TRANSFER_TASK,
                          .message_count = item->kind == TRANSFER_MESSAGE,
                          .call_count = item->kind == TRANSFER_CALL};
}

/* Checks that a row's content can be the entry that the row names. */
static cardbox_status check_entry(const session_line_input *row, cardbox_error *err)
{
    const char *reason = NULL;
    arena memory = ARENA_INIT;
    session_line line;
    session_entry entry;
    cardbox_status status = CARDBOX_OK;

    if (row->content.len > SESSION_LINE_MAX)
        return error_set(err, CARDBOX_TOO_LARGE, "content has %zu bytes, the limit is %u",
                         row->content.len, SESSION_LINE_MAX);
    if (!session_line_from_store(&line, row->content) ||
        !session_entry_read(&entry, &line, SLICE(""), &memory, &reason))
        status = reason == NULL ? error_nomem(err)
                                : error_set(err, CARDBOX_INVALID, "content: %s", reason);
    else if (!entry.id_is_made && !slice_equal(entry.id, row->entry_id))
        status = error_set(err, CARDBOX_INVALID, "content has another id than entry_id");
    arena_reset(&memory);
    return status;
}

static cardbox_status check_line(const session_line_input *row, cardbox_error *err)
{
    bool is_entry = row->entry_id.ptr != NULL;
    if (row->number < 0 || row->number > CARDBOX_SESSION_LINES_MAX)
        return error_set(err, CARDBOX_INVALID, "line must be 0 to %d, not %lld",
                         CARDBOX_SESSION_LINES_MAX, (long long)row->number);
    if (is_entry != (row->content.ptr != NULL) || is_entry == (row->bytes.len > 0))
        return error_set(err, CARDBOX_INVALID,
                         "the row must have either entry_id and content, or bytes or bytes_base64");
    return is_entry ? check_entry(row, err) : CARDBOX_OK;
}

static cardbox_status check_session_part(const import_item *item, cardbox_error *err)
{
    const session_input *session = &item->session.session;
    if (item->kind == TRANSFER_SESSION_ENTRY)
        return check_line(&item->session.line, err);
    if (session->dialect.ptr != NULL && !slice_equal(session->dialect, SLICE("pi")) &&
        !slice_equal(session->dialect, SLICE("plain")))
        return error_set(err, CARDBOX_INVALID, "dialect must be plain or pi, not %.*s",
                         (int)session->dialect.len, session->dialect.ptr);
    if (session->version < 1)
        return error_set(err, CARDBOX_INVALID, "version must be 1 or more");
    return CARDBOX_OK;
}

cardbox_status item_read_row(import_item *item, scan_value row, const char *tenant,
                             cardbox_error *err)
{
    scan_value values[FIELD_COUNT] = {{SCAN_NONE, {NULL, 0}}}, tenant_id = {SCAN_NONE, {NULL, 0}};
    bool is_ledger = item->kind >= TRANSFER_TASK;
    slice *own = is_ledger ? &item->ledger.tenant : &item->session.tenant;
    cardbox_status status = read_values(values, &tenant_id, item, row, err);
    if (status == CARDBOX_OK)
        status = item_read_tenant(item, tenant_id, tenant, own, err);
    for (size_t field = 0; status == CARDBOX_OK && field < FIELD_COUNT; field++)
        if (FIELDS[field].kind == item->kind)
            status = read_value(item, field, values[field], err);
    if (status != CARDBOX_OK || !is_ledger)
        return status == CARDBOX_OK ? check_session_part(item, err) : status;
    ledger_batch batch = item_ledger_batch(item);
    return ledger_check(&batch, err);
}
