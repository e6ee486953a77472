/*
 * append.c: parameters and rows of the statement that appends to boxes.
 */
#include "store/box/append.h"

void boxes_append_params(params *p, const box_append *appends, size_t count, bool waits)
{
    params_column(p, PARAMS_TEXT, appends, count, PARAMS_FIELD(box_append, tenant));
    params_column(p, PARAMS_UUID, appends, count, PARAMS_FIELD(box_append, box_id));
    params_column(p, PARAMS_JSONB, appends, count, PARAMS_FIELD(box_append, ids));
    params_array(p, PARAMS_INT8);
    for (size_t i = 0; i < count; i++)
        params_int8_or_null(p, appends[i].expected_version > 0, appends[i].expected_version);
    params_array_end(p);
    params_column(p, PARAMS_TEXT, appends, count, PARAMS_FIELD(box_append, key));
    params_bool(p, waits);
}

size_t boxes_append_read(box_change *out, const store_rows *rows, int row, size_t count)
{
    int64_t ord = rows_int8(rows, row, 0);
    box_change_read(out, rows, row, 1);
    return ord >= 1 && (uint64_t)ord <= count ? (size_t)ord - 1 : SIZE_MAX;
}
