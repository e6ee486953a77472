/*
 * position.h: the position in a session file that is being written. If an entry's line has no id, a
 * reader makes an id from the id in the file's header and the line number. If a line has no id and
 * no parentId, the previous entry becomes the parent. If this id or parent would differ from that
 * in the session, the id is written into the line, and the parent too if the line has no parentId.
 */
#ifndef MODEL_POSITION_H
#define MODEL_POSITION_H

#include "model/session/entry.h"

typedef struct session_id_text {
    size_t len;
    char text[SESSION_ID_MAX];
} session_id_text;

/* The position in the written file. The caller initialises this struct to zeros. */
typedef struct session_position {
    uint64_t lines; /* lines written so far */
    bool has_header;
    session_id_text file_id; /* id in the file's header; empty: the file has none */
    session_id_text before;  /* id of the last entry that was written; empty: none was written */
} session_position;

/* The line of an entry, and the id, parent and first kept entry that the entry has in the session.
 */
typedef struct session_entry_links {
    slice text;
    slice id;
    slice parent;     /* id of the parent, which may be missing; ptr NULL: the entry is a root */
    slice first_kept; /* id of the first entry that a compaction keeps; empty or ptr NULL: none */
    bool is_moved;    /* true: firstKeptEntryIndex may be wrong, as other lines may come before */
} session_entry_links;

/* Advances the position over a line that is no entry of the tree. The first header sets the file's
 * id if it is before all entries. Returns false if memory is exhausted. */
bool session_position_line(session_position *at, session_line *line, arena *memory);

/* Advances the position over the line of an entry with this id. */
void session_position_entry(session_position *at, slice id);

/*
 * Makes the text that replaces the closing brace of an entry's line, so that a reader finds the id,
 * parent and first kept entry that `entry` contains. The members are added at the end of the line,
 * because a reader uses the last member of a name. If the line needs no change, `ending` becomes
 * {NULL, 0}. Otherwise `ending` is allocated in `memory`. Returns false if memory is exhausted.
 */
bool session_position_ending(slice *ending, const session_position *at,
                             const session_entry_links *entry, arena *memory);

#endif
