/*
 * reread.h: what a reader of an exported session would make of its lines that say no id: ids are
 * made of the file's header and the line's number, parents are the entries before. What is not as
 * the store has it is written into the line. Knows no database.
 */
#ifndef MODEL_REREAD_H
#define MODEL_REREAD_H

#include "model/session/places.h"

typedef struct session_reread_name {
    char text[SESSION_ID_MAX + 1];
    size_t len; /* 0: none */
} session_reread_name;

/* To be freed. */
typedef struct session_reread {
    uint64_t lines; /* ended */
    bool has_header, has_entries;
    bool after_ring;             /* the entry before is in no tree */
    session_reread_name file_id; /* of which ids are made: the header's */
    session_reread_name before;
    session_places places;
} session_reread;

#define SESSION_REREAD_INIT                                                                        \
    {                                                                                              \
        .places = SESSION_PLACES_INIT                                                              \
    }

/* An entry as the store has it. */
typedef struct session_reread_entry {
    view text; /* its JSON */
    view id;
    view parent;  /* ptr NULL: a root */
    view missing; /* of a root: the parent that it names; ptr NULL: none */
    view kept;    /* of a compaction: the first entry that it keeps; ptr NULL: none */
    view end;     /* what ends its line */
} session_reread_entry;

/* Reads a line that is no entry of the tree; `is_ring`: one whose parents lead back to it. False:
 * out of memory. */
bool session_reread_other(session_reread *r, view bytes, bool is_ring, arena *memory);

/* What is to be written in the place of the last byte of an entry's JSON, as *ending; ptr NULL: the
 * line is right as it is. False: out of memory. */
bool session_reread_ending(const session_reread *r, const session_reread_entry *entry, view *ending,
                           arena *memory);

/* Reads an entry. False: out of memory. */
bool session_reread_next(session_reread *r, const session_reread_entry *entry);

void session_reread_free(session_reread *r);

void session_reread_set(session_reread_name *out, view id);

#endif
