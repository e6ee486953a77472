/*
 * convert_internal.h: declarations that the convert*.c files share: functions that write entries in
 * the other dialect.
 */
#ifndef MODEL_CONVERT_INTERNAL_H
#define MODEL_CONVERT_INTERNAL_H

#include "model/session/convert.h"
#include "model/session/position.h"

/* An entry of the file's tree. */
typedef struct session_item {
    const session_entry *entry;
    slice parent;  /* id of the entry's parent, even if the line omits this id; ptr NULL: a root */
    uint32_t uses; /* number of the entry's children, plus the number of labels for the entry */
} session_item;

/* Returns true if the JSON of an entry is nested too deeply to be a member of a converted line. */
bool convert_is_deep(slice text);

/* Appends an original line as a JSON value. If the line is nested too deeply, appends it as a JSON
 * string. */
void convert_put_original(buf *out, slice text);

/* Appends `,"name":` and a JSON value. Appends nothing if the value is empty. */
void convert_put_member(buf *out, const char *name, slice value);

/* Appends the line of a label or a session_info unchanged, because both dialects have these types.
 * Returns false, with nothing appended, for any other entry, and if the line has no id or does not
 * name the item's parent. */
bool convert_put_same(buf *out, const session_item *item);

/* --- pi to plain: one entry becomes one line. convert_to_plain returns false if the entry has no
 * counterpart in plain, or only a partial counterpart --- */

bool convert_to_plain(buf *out, const session_item *item, slice id, arena *memory);

/* Appends the header of pi as a "metadata" entry of plain, and returns the id of the entry. */
slice convert_header_to_plain(buf *out, const session_header *header, arena *memory);

/* --- plain to pi: one entry, or a run of entries that become one message, becomes one line --- */

/* Appends the line for `count` entries. If the entry is a result, `name` is the JSON of its tool's
 * name; empty: the name is unknown. If the entry has no counterpart in pi, appends a "custom" entry
 * and returns false. */
bool convert_to_pi(buf *out, const session_item *run, size_t count, slice name);

/* Appends a header of pi for a session that has none. */
void convert_make_header(buf *out, slice id, slice timestamp);

#endif
