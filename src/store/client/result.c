/*
 * result.c: makes and frees results. Must not send anything.
 */
#include "store/client/result.h"

#include <stdlib.h>
#include "base/errors.h"

void *result_new(store_rows *rows, size_t limit, size_t size, result_fill *fill, cardbox_error *err)
{
    result *made = calloc(1, sizeof(*made));
    int row_count = rows_count(rows);
    if (made == NULL) {
        rows_free(rows);
        error_nomem(err);
        return NULL;
    }
    made->rows = rows;
    made->fill = fill;
    made->entries = arena_zeros(&made->memory, (size_t)row_count, size);
    for (int row = 0; !made->memory.failed && row < row_count && made->count < limit; row++)
        made->count += fill((char *)made->entries + made->count * size, &made->memory, rows, row);
    made->total = (int64_t)made->count;
    if (!made->memory.failed)
        return made;
    result_free(made);
    error_nomem(err);
    return NULL;
}

void result_free(result *r)
{
    if (r == NULL)
        return;
    rows_free(r->rows);
    arena_reset(&r->memory);
    free(r);
}
