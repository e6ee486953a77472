/*
 * words.h: what an entry of a session says in a line: who, what, which tools. Knows the two
 * dialects through store/session/core only, and neither terminals nor the database.
 */
#ifndef MODEL_WORDS_H
#define MODEL_WORDS_H

#include "model/session/entry.h"

/* Bytes of lines that are read to say something of them; of longer ones there is no preview. */
#define SESSION_PREVIEW_MAX ((size_t)256 * 1024)

typedef struct session_words {
    view role;  /* "user", "assistant", "result", "setting", ... */
    view text;  /* the beginning of it, as it comes from outside */
    view tools; /* the names of what it calls: "read, edit x12" */
    view time;  /* when, as the entry says: JSON, a string or a number; {NULL, 0}: it does not */
} session_words;

/* Appends what a string says, and the JSON of any other value. */
void session_say_value(buf *out, scan_value value);

/* The views live in `memory`, or are static. */
void session_words_of(session_words *out, const session_entry *entry, arena *memory);

/* The same of an entry's line alone; one that can't be read says itself. `type` is shown as the
 * role where nothing else is known. */
void session_words_of_line(session_words *out, view line, view type, arena *memory);

#endif
