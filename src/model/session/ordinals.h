/*
 * ordinals.h: the line numbers of a file's headers and entries by their ordinals from 0, which
 * version 1's firstKeptEntryIndex counts. Stores gaps only: where other lines stand among them.
 */
#ifndef MODEL_ORDINALS_H
#define MODEL_ORDINALS_H

#include <stdint.h>
#include "base/arena.h"
#include "base/scan.h"

/* Gaps that are stored. Lines after more gaps are not found. */
#define SESSION_GAPS_MAX ((size_t)10000)

/* From this ordinal on, lines have these numbers. */
typedef struct session_gap {
    int64_t ordinal, line;
} session_gap;

/* All zeros: none so far. */
typedef struct session_ordinals {
    int64_t count;
    session_gap *gaps;
    size_t gap_count, gap_capacity;
    bool is_full;
    arena memory; /* of the gaps */
} session_ordinals;

/* The next header or entry. False: out of memory. */
bool session_ordinals_add(session_ordinals *ordinals, int64_t line);

/* The line that an index names; -1: it names none, or one after too many gaps. */
int64_t session_ordinals_find(const session_ordinals *ordinals, scan_value index);

void session_ordinals_free(session_ordinals *ordinals);

#endif
