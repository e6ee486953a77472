/*
 * convert.h: converts a session of one dialect to lines of the other. The lines of labels and
 * names of sessions are copied, except lines without an id and lines that do not name their parent.
 * Any other converted entry contains its original in the member "pi" or "plain", so that converting
 * back restores the original. An entry without a counterpart becomes a "metadata" entry in plain,
 * or a "custom" entry in pi. Ids, parents and branches stay the same, with two exceptions. A plain
 * "assistant" or "tool" entry and the "tool" entries directly after it can become one message of
 * pi. The header of pi can become an additional root in plain.
 */
#ifndef MODEL_CONVERT_H
#define MODEL_CONVERT_H

#include "model/session/file.h"

/* Maximum bytes of the output of `cardbox session convert`. */
#define SESSION_CONVERTED_MAX ((size_t)1 << 32)

/* Converts a whole file to the other dialect: appends lines for the entries of its tree. If a
 * header of pi has to be made, it gets the id `session_id`. `left_out` receives the number of lines
 * that are not converted (bad lines, further headers, duplicates, conflicts). `not_in_context`
 * receives the number of entries without a full counterpart, other than "custom" and "metadata"
 * entries. Returns false if memory is exhausted or the maximum of `out` is exceeded. */
bool session_convert_file(buf *out, const session_file *file, slice session_id, size_t *left_out,
                          size_t *not_in_context, arena *memory);

#endif
