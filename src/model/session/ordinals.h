/*
 * ordinals.h: maps the ordinals of a file's headers and entries, from 0, to line numbers. In
 * version 1, firstKeptEntryIndex is such an ordinal. Only gaps, where other lines are in between,
 * are stored.
 */
#ifndef MODEL_ORDINALS_H
#define MODEL_ORDINALS_H

#include <stdint.h>
#include "base/arena.h"
#include "base/scan.h"

/* Maximum gaps. Lines after more gaps are not found. */
#define SESSION_GAPS_MAX ((size_t)10000)

/* From this ordinal on, line numbers count from `line`. */
typedef struct session_gap {
    int64_t ordinal, line;
} session_gap;

/* Starts as all zeros. */
typedef struct session_ordinals {
    int64_t count;
    session_gap *gaps;
    size_t gap_count, gap_capacity;
    bool is_full;
    arena memory; /* holds the gaps */
} session_ordinals;

/* Adds the next header or entry. Returns false if out of memory. */
bool session_ordinals_add(session_ordinals *ordinals, int64_t line);

/* Returns the line number of an ordinal; -1: there is none, or it is after too many gaps. */
int64_t session_ordinals_find(const session_ordinals *ordinals, scan_value index);

void session_ordinals_free(session_ordinals *ordinals);

#endif
