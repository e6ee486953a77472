/*
 * convert.h: a session of one dialect as lines of the other. Each converted line holds the original
 * line in the member "pi" or "plain". Converting back restores it. An entry
 * without a counterpart becomes a "metadata" entry, in pi a "custom" one. Labels and names are the
 * same in both dialects. Ids, parents and branches stay, except that a run of plain "tool" entries
 * becomes one message of pi, and pi's header becomes a separate root.
 */
#ifndef MODEL_CONVERT_H
#define MODEL_CONVERT_H

#include "model/session/file.h"

/* Bytes of a converted session. */
#define SESSION_CONVERTED_MAX ((size_t)1 << 32)

/* An entry with its parent, which its line may omit. */
typedef struct session_item {
    const session_entry *entry;
    bool has_parent;
    slice parent;
} session_item;

/*
 * Converts entries of the dialect `from` and appends a line for each. `header` is pi's, or NULL;
 * `session_id` is for a header that has to be made. `not_in_context` receives the number of entries
 * whose content for the model has no counterpart, or only a partial one. Returns false if out of
 * memory, or over the buffer's maximum.
 */
bool session_convert(buf *out, session_dialect from, const session_header *header,
                     const session_item *items, size_t count, slice session_id,
                     size_t *not_in_context, arena *memory);

/* Converts a whole file. `left_out` receives the number of its lines that are not in the tree. */
bool session_convert_file(buf *out, const session_file *file, slice session_id, size_t *left_out,
                          size_t *not_in_context, arena *memory);

#endif
