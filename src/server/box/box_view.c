/*
 * box_view.c: finds the rows of a box among those of its request.
 */
#include "server/box/box_view.h"

bool box_view_open(box_view *out, const join_rows *found, size_t key, arena *memory)
{
    int from = found->start[key], before = found->start[key + 1];
    return box_view_take(out, found->rows, found->row + from, (size_t)(before - from), memory);
}
