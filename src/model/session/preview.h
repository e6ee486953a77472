/*
 * preview.h: a short text of an entry: its role, its text and the tools that it calls.
 */
#ifndef MODEL_PREVIEW_H
#define MODEL_PREVIEW_H

#include "model/session/entry.h"

/* Maximum bytes of a line; longer lines have no preview. */
#define SESSION_PREVIEW_MAX ((size_t)256 * 1024)

typedef struct session_preview {
    slice role;  /* "user", "assistant", "result", "setting", ... */
    slice text;  /* the beginning of its text, with control characters */
    slice tools; /* the tools that it calls: "read, edit x12" */
    slice time;  /* its timestamp: JSON, a string or a number; {NULL, 0}: none */
} session_preview;

/* Appends a string's text, or the JSON of any other value. */
void session_value_text(buf *out, scan_value value);

/* Makes the preview of an entry. The slices are in `memory` or static. */
void session_preview_of(session_preview *out, const session_entry *entry, arena *memory);

/* Makes the preview of an entry's line. If the line is no entry, the preview's text is the
 * whole line, and its role is the argument `type`. */
void session_preview_of_line(session_preview *out, slice line, slice type, arena *memory);

#endif
