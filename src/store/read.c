/*
 * read.c: parameters and rows of the statements that read cards and boxes. Uses no connection.
 */
#include "store/read.h"

#include <inttypes.h>
#include "base/isotime.h"
#include "base/errors.h"

void cards_get_params(params *p, const card_key *keys, size_t count)
{
    params_column(p, PARAMS_TEXT, keys, count, PARAMS_FIELD(card_key, tenant));
    params_column(p, PARAMS_TEXT, keys, count, PARAMS_FIELD(card_key, card_id));
    params_column(p, PARAMS_INT8, keys, count, PARAMS_FIELD(card_key, etag));
}

void card_row_read(card_row *out, const store_rows *rows, int row, int first)
{
    *out = (card_row){.card_id = rows_text(rows, row, first + CARD_COL_ID)};
    if (out->card_id.ptr == NULL)
        return;
    out->content = rows_text(rows, row, first + CARD_COL_CONTENT);
    out->tool_calls = rows_jsonb(rows, row, first + CARD_COL_TOOL_CALLS);
    out->tool_call_id = rows_text(rows, row, first + CARD_COL_TOOL_CALL_ID);
    out->metadata = rows_jsonb(rows, row, first + CARD_COL_METADATA);
    out->has_ttl = !rows_null(rows, row, first + CARD_COL_TTL);
    out->ttl_seconds = rows_int4(rows, row, first + CARD_COL_TTL);
    out->has_expiry = !rows_null(rows, row, first + CARD_COL_EXPIRES);
    out->expires_micros = rows_micros(rows, row, first + CARD_COL_EXPIRES);
    out->created_micros = rows_micros(rows, row, first + CARD_COL_CREATED);
    out->sealed = rows_bool(rows, row, first + CARD_COL_SEALED);
}

/* Adds an int8 array: one member of each read. Negative values become NULL. */
static void put_int8_member(params *p, const box_read *reads, size_t count, size_t offset)
{
    params_array(p, PARAMS_INT8);
    for (size_t i = 0; i < count; i++) {
        int64_t value;
        memcpy(&value, (const char *)&reads[i] + offset, sizeof(value));
        params_int8_or_null(p, value >= 0, value);
    }
    params_array_end(p);
}

void boxes_read_params(params *p, const box_read *reads, size_t count)
{
    params_column(p, PARAMS_TEXT, reads, count, PARAMS_FIELD(box_read, tenant));
    params_column(p, PARAMS_UUID, reads, count, PARAMS_FIELD(box_read, box_id));
    params_column(p, PARAMS_INT4, reads, count, PARAMS_FIELD(box_read, want));
    put_int8_member(p, reads, count, offsetof(box_read, tail));
    put_int8_member(p, reads, count, offsetof(box_read, skip));
    put_int8_member(p, reads, count, offsetof(box_read, most));
    put_int8_member(p, reads, count, offsetof(box_read, at_version));
    put_int8_member(p, reads, count, offsetof(box_read, at_length));
    params_array(p, PARAMS_TIMESTAMPTZ);
    for (size_t i = 0; i < count; i++)
        params_timestamptz_or_null(p, reads[i].at_time, reads[i].at_micros);
    params_array_end(p);
}

static int64_t clamp(int64_t value, int64_t least, int64_t most)
{
    return value < least ? least : value > most ? most : value;
}

int64_t box_position(const store_rows *rows, int row)
{
    return clamp(rows_int8(rows, row, BOX_COL_POS), 0, INT64_MAX - BOX_RUN_MAX);
}

slice box_run_ids(const store_rows *rows, int row)
{
    slice ids = rows_jsonb(rows, row, BOX_COL_IDS);
    return ids.len > 0 && ids.ptr[0] == '[' ? ids : SLICE("[]");
}

/* Ensures 0 <= first <= before <= length, even if the row is damaged. */
void box_head_read(box_head *out, const store_rows *rows, int row)
{
    int64_t length = clamp(rows_int8(rows, row, BOX_COL_LENGTH), 0, INT64_MAX);
    int64_t first = clamp(rows_int8(rows, row, BOX_COL_FIRST), 0, length);

    *out = (box_head){
        .parent_ids = rows_jsonb(rows, row, BOX_COL_IDS),
        .version = rows_int8(rows, row, BOX_COL_VERSION),
        .length = length,
        .first = first,
        .before = clamp(rows_int8(rows, row, BOX_COL_BEFORE), first, length),
        .created_micros = rows_micros(rows, row, BOX_COL_CREATED),
        .updated_micros = rows_micros(rows, row, BOX_COL_UPDATED),
    };
}

cardbox_status box_no_such_version(const box_head *now, cardbox_error *err)
{
    char created[ISOTIME_SIZE] = "";
    if (now->created_micros != 0)
        isotime_format_micros(created, now->created_micros);
    return error_set(err, CARDBOX_NOT_FOUND,
                     "no such version of the box: it has versions 1 to %" PRId64
                     "%s%s, and %" PRId64 " ids now",
                     now->version, created[0] == '\0' ? "" : " since ", created, now->length);
}
