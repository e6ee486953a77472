/*
 * join_rows.c: which rows of a statement are whose. Knows nothing of requests.
 */
#include <stdlib.h>
#include "server/batch/join_internal.h"

bool rows_by_number(buf *scratch, const store_rows *rows, size_t keys, join_rows *out)
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
    *out = (join_rows){rows, row, next};
    return true;
}

bool rows_in_order(buf *scratch, const store_rows *rows, join_rows *out)
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
    *out = (join_rows){rows, start + 2, start};
    return true;
}

/* --- by place --- */

placed_key *placed_keys(buf *scratch, size_t keys)
{
    buf_reset(scratch, SCRATCH_KEEP);
    return buf_reserve(scratch, keys * sizeof(placed_key) + (2 * keys + 1) * sizeof(int))
               ? (placed_key *)(void *)scratch->data
               : NULL;
}

static int compare_places(const void *a, const void *b)
{
    uint64_t left = ((const placed_key *)a)->place, right = ((const placed_key *)b)->place;
    return (left > right) - (left < right);
}

/* The first of `count` keys in order that is not before a place. */
static size_t first_at(const placed_key *list, size_t count, uint64_t place)
{
    size_t from = 0;
    while (from < count) {
        size_t middle = from + (count - from) / 2;
        if (list[middle].place < place)
            from = middle + 1;
        else
            count = middle;
    }
    return from;
}

/* Gives a row to all that asked for the card which it is, at the place where it lies. */
static void give_row(const placed_key *list, size_t count, const store_rows *rows, int row,
                     uint64_t place, int *row_of)
{
    view tenant = rows_text(rows, row, CARD_TENANT);
    view card_id = rows_text(rows, row, CARD_FIRST + CARD_COL_ID);
    for (size_t i = first_at(list, count, place); i < count && list[i].place == place; i++)
        if (view_equal(list[i].key->tenant, tenant) && view_equal(list[i].key->card_id, card_id))
            row_of[list[i].number] = row;
}

void rows_by_place(placed_key *list, size_t count, const store_rows *rows, int place_column,
                   size_t keys, join_rows *out)
{
    int *row_of = (int *)(void *)(list + keys), *start = row_of + keys, found = 0;
    for (size_t key = 0; key < keys; key++)
        row_of[key] = -1;
    qsort(list, count, sizeof(*list), compare_places);
    for (int row = 0; row < rows_count(rows); row++)
        give_row(list, count, rows, row, rows_tid(rows, row, place_column), row_of);
    for (size_t key = 0; key < keys; key++) {
        start[key] = found;
        if (row_of[key] >= 0)
            row_of[found++] = row_of[key];
    }
    start[keys] = found;
    *out = (join_rows){rows, row_of, start};
}
