/*
 * preview.h: a preview of an entry, to be shown in a list or tree: its role, the beginning of its
 * text, and the tools that it calls.
 */
#ifndef MODEL_PREVIEW_H
#define MODEL_PREVIEW_H

#include "model/session/entry.h"

/* Maximum bytes of an entry's line for which the callers make a preview. */
#define SESSION_PREVIEW_MAX ((size_t)256 * 1024)

typedef struct session_preview {
    slice role;  /* "user", "assistant", "result", "setting", ... */
    slice text;  /* the beginning of its text; control characters are not removed */
    slice tools; /* the tools that it calls: "read, edit x12" */
    slice time;  /* the entry's timestamp: a JSON string or number; {NULL, 0}: none */
} session_preview;

/* Appends the decoded text of a string, or the compact JSON of any other value. */
void session_value_text(buf *out, scan_value value);

/* Makes the preview of an entry. Its slices point into `memory`, into the entry, or to static text.
 */
void session_preview_of(session_preview *out, const session_entry *entry, arena *memory);

/* Makes the preview of an entry's line. If the line is no entry, the text of the preview is the
 * whole line, and its role is `type`. */
void session_preview_of_line(session_preview *out, slice line, slice type, arena *memory);

#endif
