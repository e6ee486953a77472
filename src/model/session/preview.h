/*
 * preview.h: an entry of a session in one line of text: its role, its text, the tools that it
 * calls. Knows neither terminals nor the database.
 */
#ifndef MODEL_PREVIEW_H
#define MODEL_PREVIEW_H

#include "model/session/entry.h"

/* Bytes of a line; longer lines have no preview. */
#define SESSION_PREVIEW_MAX ((size_t)256 * 1024)

typedef struct session_preview {
    slice role;  /* "user", "assistant", "result", "setting", ... */
    slice text;  /* the beginning of its text, not sanitized */
    slice tools; /* the names of what it calls: "read, edit x12" */
    slice time;  /* its timestamp: JSON, a string or a number; {NULL, 0}: none */
} session_preview;

/* Appends a string's text, or the JSON of any other value. */
void session_say_value(buf *out, scan_value value);

/* The views live in `memory`, or are static. */
void session_preview_of(session_preview *out, const session_entry *entry, arena *memory);

/* The same of an entry's line alone. If it can't be read, its text is the line and its role is
 * `type`. */
void session_preview_of_line(session_preview *out, slice line, slice type, arena *memory);

#endif
