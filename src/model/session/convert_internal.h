/*
 * convert_internal.h: the two writers that conversion is made of. For the convert*.c files only.
 */
#ifndef MODEL_CONVERT_INTERNAL_H
#define MODEL_CONVERT_INTERNAL_H

#include "model/session/convert.h"

/* Whether a text is nested so deeply that it would be too deep inside another line. */
bool convert_is_deep(slice text);

/* Appends an entry's whole text as a JSON value: itself, or as a string if it is too deep. */
void convert_put_original(buf *out, slice text);

/* Appends `,"name":` and a JSON value, if there is one. */
void convert_put_member(buf *out, const char *name, slice value);

/* Appends {"id":...,"parentId":...,"timestamp":... of a converted entry. */
void convert_put_link(buf *out, const session_item *item, slice id);

/* Appends the line of a label or of a name, which means the same in both dialects. False: it is
 * another entry, or has another parent than its line says. */
bool convert_put_same(buf *out, const session_item *item);

/* --- pi to plain: one entry, one line; false: it has no counterpart, or a model saw more of it ---
 */

bool convert_to_plain(buf *out, const session_item *item, slice id, arena *memory);

/* Appends a header as an entry of plain, and returns its id. */
slice convert_header_to_plain(buf *out, const session_header *header, arena *memory);

/* --- plain to pi: an entry, or a run of an assistant's and of tools, is one line --- */

/* `name` is that of the tool whose result the entry is: JSON, or empty. False: as above. */
bool convert_to_pi(buf *out, const session_item *run, size_t count, slice name);

/* Appends a header for a session that has none. */
void convert_make_header(buf *out, slice id, slice timestamp);

#endif
