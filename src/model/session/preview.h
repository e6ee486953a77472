/*
 * preview.h: a preview of an entry, for lists and trees: the role of the entry, the beginning of
 * its text, and the tools that the entry calls.
 */
#ifndef MODEL_PREVIEW_H
#define MODEL_PREVIEW_H

#include "model/session/usage.h"

/* Maximum bytes of a line from which the callers of session_preview_of_line make a preview. */
#define SESSION_PREVIEW_MAX ((size_t)256 * 1024)

typedef struct session_preview {
    slice role;  /* "user", "assistant", "result", "setting", ... */
    slice text;  /* the beginning of the entry's text; control characters are not removed */
    slice tools; /* the tools that the entry calls, such as "read, edit x12" */
    slice calls; /* the calls with the beginnings of their arguments, such as "read {"path":"a"}" */
    slice model; /* the model of an answer; empty: unknown */
    token_usage usage; /* the usage that an API reported with an answer */
    slice time;        /* the entry's timestamp: a JSON string or number; {NULL, 0}: no timestamp */
    bool failed;       /* true: the entry reports an error of a model or of a tool */
} session_preview;

/* Appends the decoded text of a string. Any other value, and a string that can't be decoded, is
 * appended as compact JSON. */
void session_value_text(buf *out, scan_value value);

/* Makes the preview of an entry. The slices in `out` point into `memory`, into the entry, or to
 * static text. */
void session_preview_of(session_preview *out, const session_entry *entry, arena *memory);

/* Makes the preview of a line. If the line is no entry, the text of the preview is the whole line,
 * and the role of the preview is `type`. */
void session_preview_of_line(session_preview *out, slice line, slice type, arena *memory);

#endif
