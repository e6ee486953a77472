/*
 * batch_rows.c: which rows of a statement are whose. Knows nothing of requests.
 */
#include "server/batch/batcher_internal.h"

bool rows_by_number(buf *scratch, const store_rows *rows, size_t keys, batch_rows *out)
{
    size_t count = (size_t)rows_count(rows), bytes = (keys + 2 + count) * sizeof(int);
    buf_reset(scratch, SCRATCH_KEEP);
    if (!buf_reserve(scratch, bytes))
        return false;
    int *next = (int *)(void *)scratch->data;
    int *row = next + keys + 2;
    memset(next, 0, (keys + 2) * sizeof(int));
    for (size_t i = 0; i < count; i++) {
        int64_t ord = rows_int8(rows, (int)i, 0);
        if (ord < 1 || (size_t)ord > keys)
            return false;
        next[ord + 1]++;
    }
    for (size_t i = 2; i < keys + 2; i++)
        next[i] += next[i - 1];
    for (size_t i = 0; i < count; i++)
        row[next[rows_int8(rows, (int)i, 0)]++] = (int)i;
    *out = (batch_rows){rows, row, next};
    return true;
}

bool rows_in_order(buf *scratch, const store_rows *rows, batch_rows *out)
{
    int count = rows_count(rows);
    buf_reset(scratch, SCRATCH_KEEP);
    if (!buf_reserve(scratch, ((size_t)count + 2) * sizeof(int)))
        return false;
    int *start = (int *)(void *)scratch->data;
    start[0] = 0;
    start[1] = count;
    for (int i = 0; i < count; i++)
        start[2 + i] = i;
    *out = (batch_rows){rows, start + 2, start};
    return true;
}
