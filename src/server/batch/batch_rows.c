/*
 * batch_rows.c: groups the rows of a statement's result by key. Knows no requests.
 */
#include "server/batch/batcher_internal.h"

bool batch_index_rows(buf *scratch, const store_rows *rows, size_t keys, bool numbered,
                      batch_rows *out)
{
    size_t count = (size_t)rows_count(rows), bytes = (keys + 2 + count) * sizeof(int);
    buf_reset(scratch, SCRATCH_KEEP);
    if (!buf_reserve(scratch, bytes))
        return false;
    int *next = (int *)(void *)scratch->data;
    int *row = next + keys + 2;
    memset(next, 0, (keys + 2) * sizeof(int));
    for (size_t i = 0; i < count; i++) {
        int64_t ord = numbered ? rows_int8(rows, (int)i, 0) : 1;
        if (ord < 1 || (size_t)ord > keys)
            return false;
        next[ord + 1]++;
    }
    for (size_t i = 2; i < keys + 2; i++)
        next[i] += next[i - 1];
    for (size_t i = 0; i < count; i++)
        row[next[numbered ? rows_int8(rows, (int)i, 0) : 1]++] = (int)i;
    *out = (batch_rows){rows, row, next};
    return true;
}
