/*
 * convert.h: a session of one dialect as lines of the other. Each converted line holds the original
 * line in a member of its own, "pi" or "plain", from which converting back restores it. An entry
 * without a counterpart becomes a "metadata" entry, in pi a "custom" one. Labels and names are the
 * same in both dialects. Ids, parents and branches stay, except that a run of plain "tool" entries
 * becomes one message of pi, and pi's header becomes a root of its own.
 */
#ifndef MODEL_CONVERT_H
#define MODEL_CONVERT_H

#include "model/session/file.h"

/* Bytes of a converted session. */
#define SESSION_CONVERTED_MAX ((size_t)1 << 32)

/* An entry with its parent, which its line may not name. */
typedef struct session_item {
    const session_entry *entry;
    bool has_parent;
    slice parent;
} session_item;

/*
 * Appends the lines of entries of the dialect `from` in the other one, in their order, each with a
 * newline. `header` is pi's, or NULL; `session_id` names a header that has to be made.
 * `not_in_context` receives how many entries meant something and have no counterpart, or none for
 * all of it. False: out of memory, or over the buffer's maximum.
 */
bool session_convert(buf *out, session_dialect from, const session_header *header,
                     const session_item *items, size_t count, slice session_id,
                     size_t *not_in_context, arena *memory);

/* The same of a whole file. `left_out` receives how many of its lines are in no tree. */
bool session_convert_file(buf *out, const session_file *file, slice session_id, size_t *left_out,
                          size_t *not_in_context, arena *memory);

#endif
