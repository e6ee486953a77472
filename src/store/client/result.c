/*
 * result.c: makes and frees results of the SDK. Sends no statement.
 */
#include "store/client/result.h"

#include <stdlib.h>
#include "base/errors.h"

void *result_empty(store_rows *rows, size_t most, size_t size, cardbox_error *err)
{
    result *made = calloc(1, sizeof(*made));
    if (made == NULL) {
        rows_free(rows);
        error_nomem(err);
        return NULL;
    }
    made->rows = rows;
    made->entry_size = size;
    made->entries = arena_zeros(&made->memory, most, size);
    return result_finish(made, CARDBOX_OK, err) == CARDBOX_OK ? made : NULL;
}

void *result_new(store_rows *rows, size_t limit, size_t size, result_fill *fill, cardbox_error *err)
{
    int row_count = rows_count(rows);
    result *made = result_empty(rows, (size_t)row_count, size, err);
    if (made == NULL)
        return NULL;
    made->fill = fill;
    for (int row = 0; !made->memory.failed && row < row_count && made->count < limit; row++)
        made->count += fill((char *)made->entries + made->count * size, &made->memory, rows, row);
    made->total = (int64_t)made->count;
    return result_finish(made, CARDBOX_OK, err) == CARDBOX_OK ? made : NULL;
}

cardbox_status result_finish(void *made, cardbox_status status, cardbox_error *err)
{
    if (status == CARDBOX_OK && ((result *)made)->memory.failed)
        status = error_nomem(err);
    if (status != CARDBOX_OK)
        result_free(made);
    return status;
}

size_t result_count(const void *of)
{
    return of == NULL ? 0 : ((const result *)of)->count;
}

const void *result_at(const void *of, size_t index)
{
    const result *r = of;
    return index < result_count(r) ? (const char *)r->entries + index * r->entry_size : NULL;
}

const char *result_cursor(const void *of)
{
    return of == NULL ? NULL : ((const result *)of)->cursor;
}

void result_free(void *of)
{
    result *r = of;
    if (r == NULL)
        return;
    rows_free(r->rows);
    arena_reset(&r->memory);
    free(r);
}
