/*
 * ordinals.c: stores runs of lines without gaps, and finds them by binary search.
 */
#include "model/session/ordinals.h"

bool session_ordinals_add(session_ordinals *ordinals, int64_t line)
{
    const session_gap *last =
        ordinals->gap_count > 0 ? &ordinals->gaps[ordinals->gap_count - 1] : NULL;
    int64_t expected =
        last == NULL ? ordinals->count : last->line + ordinals->count - last->ordinal;

    ordinals->is_full =
        ordinals->is_full || (line != expected && ordinals->gap_count == SESSION_GAPS_MAX);
    if (ordinals->is_full)
        return true;
    if (line != expected) {
        session_gap *more = arena_more(&ordinals->memory, ordinals->gaps, ordinals->gap_count,
                                       &ordinals->gap_capacity, sizeof(*more));
        if (more == NULL)
            return false;
        ordinals->gaps = more;
        more[ordinals->gap_count++] = (session_gap){ordinals->count, line};
    }
    ordinals->count++;
    return true;
}

int64_t session_ordinals_find(const session_ordinals *ordinals, scan_value index)
{
    const session_gap *found = NULL;
    int64_t ordinal;

    if (index.kind != SCAN_NUMBER || !scan_integer(index.text, &ordinal) || ordinal < 0 ||
        ordinal >= ordinals->count)
        return -1;
    for (size_t low = 0, high = ordinals->gap_count; low < high;) {
        size_t middle = low + (high - low) / 2;
        if (ordinals->gaps[middle].ordinal <= ordinal) {
            found = &ordinals->gaps[middle];
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return found == NULL ? ordinal : found->line + ordinal - found->ordinal;
}

void session_ordinals_free(session_ordinals *ordinals)
{
    arena_reset(&ordinals->memory);
    *ordinals = (session_ordinals){.count = 0};
}
