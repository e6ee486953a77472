/*
 * convert.h: converts a session of one dialect to lines of the other. Labels and names are the same
 * in both dialects. Every other converted line contains its original in the member "pi" or "plain",
 * so converting back restores the original. An entry without a counterpart becomes a "metadata"
 * entry in plain, or a "custom" entry in pi. Ids, parents and branches stay the same, with two
 * exceptions. A plain "assistant" or "tool" entry and the "tool" entries after it become one
 * message of pi. The header of pi becomes an additional root in plain.
 */
#ifndef MODEL_CONVERT_H
#define MODEL_CONVERT_H

#include "model/session/file.h"

/* Maximum bytes of a converted session. */
#define SESSION_CONVERTED_MAX ((size_t)1 << 32)

/* Converts a whole file to the other dialect: appends a line for each entry of its tree.
 * `session_id` is for a header of pi that has to be made. `left_out`: number of lines that are not
 * converted (bad lines, further headers, duplicates, conflicts). `not_in_context`: number of
 * entries without a full counterpart, other than "custom" and "metadata" entries. Returns false if
 * out of memory, or over the buffer's maximum. */
bool session_convert_file(buf *out, const session_file *file, slice session_id, size_t *left_out,
                          size_t *not_in_context, arena *memory);

#endif
