/*
 * position.h: the position in a session file that is being written. For an entry without an id, a
 * reader makes one from the id in the file's header and the line number, and the previous entry is
 * its parent. If these would differ from the session's, they are written into the line.
 */
#ifndef MODEL_POSITION_H
#define MODEL_POSITION_H

#include "model/session/entry.h"

typedef struct session_id_text {
    size_t len;
    char text[SESSION_ID_MAX];
} session_id_text;

/* Starts as all zeros. */
typedef struct session_position {
    uint64_t lines; /* lines written so far */
    bool has_header;
    session_id_text file_id; /* id in the file's header; empty: none */
    session_id_text before;  /* id of the last entry written; empty: none */
} session_position;

/* An entry with its id, parent and first kept entry in the session. */
typedef struct session_entry_links {
    slice text;
    slice id;
    slice parent;     /* the parent's id, even if it is missing; ptr NULL: a root */
    slice first_kept; /* id of the first entry that a compaction keeps; empty or ptr NULL: none */
    bool is_moved;    /* the lines before it have changed, so an index in it is wrong */
} session_entry_links;

/* Advances over a line that is no entry of the tree. The first header sets the file's id.
 * Returns false if out of memory. */
bool session_position_line(session_position *at, session_line *line, arena *memory);

/* Advances over an entry's line. */
void session_position_entry(session_position *at, slice id);

/*
 * Makes the text that replaces the closing brace of an entry's line. With it, a reader reads the
 * same id, parent and first kept entry. {NULL, 0}: the line needs no change. The members are added
 * at the end, because the last one of a name is used. The text belongs to `memory`. Returns false
 * if out of memory.
 */
bool session_position_ending(slice *ending, const session_position *at,
                             const session_entry_links *entry, arena *memory);

#endif
