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

/* Converts a whole file to the other dialect: appends a line for each entry of its tree.
 * `session_id` is for a header that has to be made. `left_out` receives the number of lines that
 * are not in the tree. `not_in_context` receives the number of entries whose content for the model
 * has no counterpart, or only a partial one. Returns false if out of memory, or over the buffer's
 * maximum.
 */
bool session_convert_file(buf *out, const session_file *file, slice session_id, size_t *left_out,
                          size_t *not_in_context, arena *memory);

#endif
