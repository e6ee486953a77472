/*
 * position.h: where the next line of a session file that is being written stands. An entry without
 * an id gets one from the id in the file's header and its line number, and the entry before it as
 * its parent. If a reader of the new file would make others, they are written into the line.
 */
#ifndef MODEL_POSITION_H
#define MODEL_POSITION_H

#include "model/session/entry.h"

typedef struct session_id_text {
    size_t len;
    char text[SESSION_ID_MAX];
} session_id_text;

/* All zeros: the start of a file. */
typedef struct session_position {
    uint64_t lines; /* written so far */
    bool has_header;
    session_id_text file_id; /* of the file's header; empty: none */
    session_id_text before;  /* the last entry that was written; empty: none */
} session_position;

/* An entry as the session has it. */
typedef struct session_placed {
    slice text;
    slice id;
    slice parent;     /* also one that is missing; ptr NULL: none, a root */
    slice first_kept; /* of a compaction: the first entry that it keeps; empty or ptr NULL: none */
    bool is_moved;    /* other lines were before it: an index of its own is no longer right */
} session_placed;

/* Steps over a line that is no entry of the tree. The first header gives the file its id. False:
 * out of memory. */
bool session_position_line(session_position *at, session_line *line, arena *memory);

/* Steps over an entry's line. */
void session_position_entry(session_position *at, slice id);

/*
 * What replaces the closing brace of an entry's text so that a reader gives it the same id, parent
 * and first kept entry; {NULL, 0}: the text stays as it is. Members are written at the end, because
 * the last one of a name counts. The text belongs to `memory`. False: out of memory.
 */
bool session_position_ending(slice *ending, const session_position *at, const session_placed *entry,
                             arena *memory);

#endif
