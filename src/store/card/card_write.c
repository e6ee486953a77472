/*
 * card_write.c: parameters, rows and outcomes of the statements that add and delete cards.
 */
#include "store/card/card_write.h"

#include "base/errors.h"

/* --- parameters: one array for each column --- */

/* `has` is the offset of a bool that is true if the value is set; 0: there is no such bool. A slice
 * with ptr NULL is SQL NULL. */
static const struct {
    params_type type;
    size_t offset, has;
} COLUMNS[] = {
    {PARAMS_TEXT, offsetof(card_input, tenant), 0},
    {PARAMS_TEXT, offsetof(card_input, card_id), 0},
    {PARAMS_JSON, offsetof(card_input, content), 0},
    {PARAMS_JSONB, offsetof(card_input, tool_calls), 0},
    {PARAMS_TEXT, offsetof(card_input, tool_call_id), 0},
    {PARAMS_INT4, offsetof(card_input, ttl_seconds), offsetof(card_input, has_ttl)},
    {PARAMS_JSONB, offsetof(card_input, metadata), 0},
    {PARAMS_TIMESTAMPTZ, offsetof(card_input, created_micros), offsetof(card_input, has_created)},
    {PARAMS_TIMESTAMPTZ, offsetof(card_input, expires_micros), offsetof(card_input, has_expires)},
    {PARAMS_TIMESTAMPTZ, offsetof(card_input, deleted_micros), offsetof(card_input, has_deleted)},
    {PARAMS_BOOL, offsetof(card_input, sealed), 0},
    {PARAMS_BOOL, offsetof(card_input, strict), 0},
    {PARAMS_BOOL, offsetof(card_input, restore), 0},
};

enum { COLUMN_COUNT = sizeof(COLUMNS) / sizeof(COLUMNS[0]) };

static void put_value(params *p, size_t column, const void *input)
{
    const char *base = input;
    if (COLUMNS[column].has != 0 && !*(const bool *)(base + COLUMNS[column].has))
        params_null(p);
    else
        params_value(p, COLUMNS[column].type, base + COLUMNS[column].offset);
}

void cards_add_params(params *p, const card_input *inputs, size_t count, bool whole)
{
    for (size_t column = 0; column < COLUMN_COUNT; column++) {
        params_array(p, COLUMNS[column].type);
        for (size_t i = 0; i < count; i++)
            put_value(p, column, &inputs[i]);
        params_array_end(p);
    }
    params_bool(p, whole);
}

/* --- outcomes --- */

void card_outcome_read(card_outcome *out, const store_rows *rows, int row)
{
    out->ord = rows_int8(rows, row, 0);
    out->outcome = (cardbox_outcome)rows_int4(rows, row, 1);
    out->other_id = rows_text(rows, row, 2);
}

void card_outcomes_read(card_outcome *out, size_t count, const store_rows *rows)
{
    for (int row = 0; row < rows_count(rows); row++) {
        card_outcome one;
        card_outcome_read(&one, rows, row);
        if (one.ord >= 1 && (size_t)one.ord <= count)
            out[one.ord - 1] = one;
    }
}

cardbox_status card_outcome_status(const card_outcome *outcome, const card_input *input,
                                   cardbox_error *err)
{
    slice id = input->card_id, call = input->tool_call_id, other = outcome->other_id;
    switch (outcome->outcome) {
    case CARDBOX_OUTCOME_GONE:
        return error_set(err, CARDBOX_GONE,
                         "card %.*s was deleted or has expired: ask for restore to bring it back",
                         (int)id.len, id.ptr);
    case CARDBOX_OUTCOME_CONFLICT:
        if (other.ptr != NULL)
            return error_set(err, CARDBOX_CONFLICT, "the tool.result of call %.*s is card %.*s",
                             (int)call.len, call.ptr, (int)other.len, other.ptr);
        return error_set(err, CARDBOX_CONFLICT,
                         "card %.*s exists with other content and may not be changed", (int)id.len,
                         id.ptr);
    case CARDBOX_OUTCOME_NONE:
    case CARDBOX_OUTCOME_INSERTED:
    case CARDBOX_OUTCOME_UNCHANGED:
    case CARDBOX_OUTCOME_REPAIRED:
    case CARDBOX_OUTCOME_RESTORED:
        break;
    }
    return CARDBOX_OK;
}

void card_delete_params(params *p, slice tenant, slice card_id)
{
    params_text(p, tenant);
    params_text(p, card_id);
}

cardbox_status card_delete_status(const store_rows *rows, slice card_id, cardbox_error *err)
{
    if (rows_count(rows) == 0)
        return error_set(err, CARDBOX_NOT_FOUND, "card not found");
    if (rows_bool(rows, 0, 0))
        return error_set(err, CARDBOX_CONFLICT, "card %.*s is sealed, or a task's message uses it",
                         (int)card_id.len, card_id.ptr);
    return CARDBOX_OK;
}
