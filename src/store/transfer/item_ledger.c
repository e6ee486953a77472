/*
 * item_ledger.c: a line of NDJSON that is a row of the ledger that CardBox replaces: its columns by
 * their names there. Knows nothing of the database.
 */
#include "store/errors.h"
#include "store/transfer/item.h"

typedef enum field_type { FIELD_TEXT, FIELD_TOKEN, FIELD_MS } field_type;

#define AT(entity, field) offsetof(import_item, ledger.entity.field)

/* `has` is where it is noted that there is one; 0: nowhere. */
static const struct {
    transfer_kind kind;
    const char *name;
    field_type type;
    bool optional;
    size_t max, offset, has;
} FIELDS[] = {
    {TRANSFER_TASK, "id", FIELD_TEXT, false, CARDBOX_CARD_ID_MAX, AT(task, task_id), 0},
    {TRANSFER_TASK, "parent_task_id", FIELD_TEXT, true, CARDBOX_CARD_ID_MAX, AT(task, parent_id),
     0},
    {TRANSFER_TASK, "completion_status", FIELD_TEXT, true, CARDBOX_TASK_STATUS_MAX,
     AT(task, status), 0},
    {TRANSFER_TASK, "system_prompt", FIELD_TOKEN, false, 0, AT(task, prompt), 0},
    {TRANSFER_TASK, "created_at", FIELD_MS, false, 0, AT(task, created_ms), 0},
    {TRANSFER_TASK, "updated_at", FIELD_MS, false, 0, AT(task, updated_ms), 0},
    {TRANSFER_MESSAGE, "id", FIELD_TEXT, false, CARDBOX_CARD_ID_MAX, AT(message, message_id), 0},
    {TRANSFER_MESSAGE, "task_id", FIELD_TEXT, false, CARDBOX_CARD_ID_MAX, AT(message, task_id), 0},
    {TRANSFER_MESSAGE, "role", FIELD_TEXT, false, CARDBOX_KEY_MAX, AT(message, role), 0},
    {TRANSFER_MESSAGE, "content", FIELD_TOKEN, false, 0, AT(message, content), 0},
    {TRANSFER_MESSAGE, "timestamp", FIELD_MS, false, 0, AT(message, ts_ms), AT(message, has_ts)},
    {TRANSFER_CALL, "id", FIELD_TEXT, false, CARDBOX_CARD_ID_MAX, AT(call, call_id), 0},
    {TRANSFER_CALL, "task_id", FIELD_TEXT, false, CARDBOX_CARD_ID_MAX, AT(call, task_id), 0},
    {TRANSFER_CALL, "ability_name", FIELD_TEXT, false, CARDBOX_KEY_MAX, AT(call, ability), 0},
    {TRANSFER_CALL, "parameters", FIELD_TOKEN, false, 0, AT(call, parameters), 0},
    {TRANSFER_CALL, "status", FIELD_TEXT, false, CARDBOX_KEY_MAX, AT(call, status), 0},
    {TRANSFER_CALL, "details", FIELD_TOKEN, true, 0, AT(call, details), 0},
    {TRANSFER_CALL, "created_at", FIELD_MS, false, 0, AT(call, created_ms), AT(call, has_created)},
    {TRANSFER_CALL, "updated_at", FIELD_MS, false, 0, AT(call, updated_ms), AT(call, has_updated)},
    {TRANSFER_CALL, "start_message_id", FIELD_TEXT, false, CARDBOX_CARD_ID_MAX, AT(call, start_id),
     0},
    {TRANSFER_CALL, "end_message_id", FIELD_TEXT, true, CARDBOX_CARD_ID_MAX, AT(call, end_id), 0},
};

enum { FIELD_COUNT = sizeof(FIELDS) / sizeof(FIELDS[0]) };

static cardbox_status read_value(import_item *item, size_t field, scan_value value,
                                 cardbox_error *err)
{
    void *out = (char *)item + FIELDS[field].offset;
    const char *name = FIELDS[field].name;
    if (FIELDS[field].optional && (value.kind == SCAN_NULL || value.kind == SCAN_NONE))
        return CARDBOX_OK;
    if (FIELDS[field].has != 0)
        *(bool *)(void *)((char *)item + FIELDS[field].has) = true;
    switch (FIELDS[field].type) {
    case FIELD_TEXT:
        return item_read_text(item, value, name, FIELDS[field].max, out, err);
    case FIELD_TOKEN:
        *(view *)out = value.text;
        return value.kind == SCAN_STRING ? CARDBOX_OK
                                         : item_wrong_kind(err, name, "a string", value);
    case FIELD_MS:
        break;
    }
    if (value.kind != SCAN_NUMBER || !scan_integer(value.text, out))
        return item_wrong_kind(err, name, "an integer: milliseconds since 1970", value);
    return CARDBOX_OK;
}

/* The field of a member; FIELD_COUNT: none. */
static size_t find_field(transfer_kind kind, view key)
{
    size_t field = 0;
    while (field < FIELD_COUNT &&
           !(FIELDS[field].kind == kind && scan_string_is(key, view_of(FIELDS[field].name))))
        field++;
    return field;
}

static cardbox_status read_values(scan_value values[FIELD_COUNT], scan_value *tenant_id,
                                  import_item *item, scan_value row, cardbox_error *err)
{
    view key;
    scan_value value;
    for (scan_walk walk = scan_enter(row); scan_member(&walk, &key, &value);) {
        size_t field = find_field(item->kind, key);
        if (scan_string_is(key, VIEW("tenant_id")))
            *tenant_id = value;
        else if (field < FIELD_COUNT && values[field].kind != SCAN_NONE)
            return error_set(err, CARDBOX_INVALID, "the row has %s twice", FIELDS[field].name);
        else if (field < FIELD_COUNT)
            values[field] = value;
        else if (!scan_string_is(key, VIEW("kind")))
            item_note_ignored(item, key);
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

cardbox_status item_read_ledger(import_item *item, scan_value row, const char *tenant,
                                cardbox_error *err)
{
    scan_value values[FIELD_COUNT] = {{SCAN_NONE, {NULL, 0}}}, tenant_id = {SCAN_NONE, {NULL, 0}};
    cardbox_status status = read_values(values, &tenant_id, item, row, err);
    if (status == CARDBOX_OK)
        status = item_read_tenant(item, tenant_id, tenant, &item->ledger.tenant, err);
    for (size_t field = 0; status == CARDBOX_OK && field < FIELD_COUNT; field++)
        if (FIELDS[field].kind == item->kind)
            status = read_value(item, field, values[field], err);
    ledger_batch batch = item_ledger_batch(item);
    return status == CARDBOX_OK ? ledger_check(&batch, err) : status;
}
