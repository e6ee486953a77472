/*
 * session_view.h: what an entry of a session says in a line: who, what, which tools. Knows the two
 * dialects through store/session only, and neither terminals nor the database.
 */
#ifndef CLI_SESSION_VIEW_H
#define CLI_SESSION_VIEW_H

#include "store/session/entry.h"

typedef struct session_words {
    view role;  /* "user", "assistant", "result", "setting", ... */
    view text;  /* the beginning of it, as it comes from outside */
    view tools; /* the names of what it calls: "read, write" */
} session_words;

/* The views live in `memory`, or are static. */
void session_view_entry(session_words *out, const session_entry *entry, arena *memory);

/* The same of an entry's line alone; one that can't be read says itself. `type` is shown as the
 * role where nothing else is known. */
void session_view_line(session_words *out, view line, view type, arena *memory);

#endif
