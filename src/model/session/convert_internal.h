/*
 * convert_internal.h: shared by the convert*.c files: the writers of both directions.
 */
#ifndef MODEL_CONVERT_INTERNAL_H
#define MODEL_CONVERT_INTERNAL_H

#include "model/session/convert.h"
#include "model/session/position.h"

/* An entry of the file's tree. */
typedef struct session_item {
    const session_entry *entry;
    slice parent;  /* its parent's id, which its line may omit; ptr NULL: a root */
    uint32_t uses; /* number of its children and of labels for it */
} session_item;

/* Returns whether a text is nested too deeply to be part of another line. */
bool convert_is_deep(slice text);

/* Appends an entry's text as a JSON value, or as a JSON string if it is nested too deeply. */
void convert_put_original(buf *out, slice text);

/* Appends `,"name":` and a JSON value. Appends nothing if the value is empty. */
void convert_put_member(buf *out, const char *name, slice value);

/* Appends the line of a label or a name, which both dialects share. Returns false if it is
 * another entry, or if its line has another parent. */
bool convert_put_same(buf *out, const session_item *item);

/* --- pi to plain: one entry becomes one line. Returns false if content for the model was lost
 * --- */

bool convert_to_plain(buf *out, const session_item *item, slice id, arena *memory);

/* Appends a header as an entry of plain, and returns its id. */
slice convert_header_to_plain(buf *out, const session_header *header, arena *memory);

/* --- plain to pi: an entry, or a run of an assistant's and tools, becomes one line --- */

/* `name` is the tool's name of a result, as JSON, or empty. Returns false if content for the
 * model was lost. */
bool convert_to_pi(buf *out, const session_item *run, size_t count, slice name);

/* Appends a header for a session that has none. */
void convert_make_header(buf *out, slice id, slice timestamp);

#endif
