/*
 * places.h: what the first lines of a file are, each by its place among the file's headers and
 * entries: version 1's firstKeptEntryIndex counts these, and names one that is before it. Knows no
 * tree; and of a very long file not all.
 */
#ifndef MODEL_PLACES_H
#define MODEL_PLACES_H

#include "base/buf.h"
#include "model/session/entry.h"

/* Bytes of places, and of the ids that lines say: room for a million entries, and a stranger's file
 * takes no more of a server's memory. */
#define SESSION_PLACES_MAX ((size_t)8 * 1024 * 1024)

/* To be freed. */
typedef struct session_places {
    buf at;       /* a number for each place */
    buf ids;      /* that lines say, each with a NUL behind it */
    bool is_full; /* there are more */
} session_places;

#define SESSION_PLACES_INIT                                                                        \
    {                                                                                              \
        BUF_INIT(SESSION_PLACES_MAX), BUF_INIT(SESSION_PLACES_MAX), false                          \
    }

/* The next place; NULL: a header, or what can be no entry. False: out of memory. */
bool session_places_add(session_places *places, const session_entry *entry);

/* Finds out what a compaction keeps that says an index; it stays unknown where not all places are.
 * `file_id` is what ids are made of. False: out of memory. */
bool session_places_resolve(const session_places *places, session_entry *entry, view file_id,
                            arena *memory);

void session_places_free(session_places *places);

#endif
