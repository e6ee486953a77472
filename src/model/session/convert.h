/*
 * convert.h: a session of one dialect as lines of the other, such that converting back gives the
 * same bytes. What has a counterpart becomes it; what has none travels along: whole entries as
 * "metadata" (in pi as "custom" entries), the rest of an entry in a member of its own, "pi" or
 * "plain", which the other side keeps as any unknown field; labels and names are the same in both.
 * So ids, parents and branches are the same on both sides, but for runs of plain "tool" entries,
 * which become one message of pi, and for pi's header, which becomes a root of its own.
 */
#ifndef MODEL_CONVERT_H
#define MODEL_CONVERT_H

#include "model/session/file.h"

/* Bytes of a converted session. */
#define SESSION_CONVERTED_MAX ((size_t)1 << 32)

/* An entry with its place, which its line may not name. */
typedef struct session_item {
    const session_entry *entry;
    bool has_parent;
    view parent;
} session_item;

/*
 * Appends the lines of entries of the dialect `from` in the other one, in their order, each with a
 * newline. `header` is pi's, or NULL; `session_id` names a header that has to be made.
 * `not_in_context` receives how many entries meant something and have no counterpart, or none for
 * all of it. False: out of memory, or over the buffer's maximum.
 */
bool session_convert(buf *out, session_dialect from, const session_header *header,
                     const session_item *items, size_t count, view session_id,
                     size_t *not_in_context, arena *memory);

/* The same of a whole file. `left_out` receives how many of its lines are in no tree. */
bool session_convert_file(buf *out, const session_file *file, view session_id, size_t *left_out,
                          size_t *not_in_context, arena *memory);

#endif
