/*
 * session_result.h: results with sessions and entries, as <cardbox/session.h> lends them: made,
 * filled from rows, finished. Must not send anything.
 */
#ifndef STORE_SESSION_RESULT_H
#define STORE_SESSION_RESULT_H

#include "cardbox/session.h"
#include "store/session/sessions.h"

/* Takes the rows over (also on failure). Of more than `limit` the rest tells that there is a next
 * page. */
cardbox_status sessions_take(cardbox_sessions **out, store_rows *rows, size_t limit,
                             cardbox_error *err);

/* A result that owns the rows (also on failure), with room for an entry a row. */
cardbox_status entries_new(cardbox_entries **out, store_rows *rows, cardbox_error *err);

arena *entries_memory(cardbox_entries *entries);

/* Adds the entry of a row, and what the row's extra column says of it. */
typedef enum entries_extra { EXTRA_NOTHING, EXTRA_CHILDREN, EXTRA_SIDE } entries_extra;
void entries_add(cardbox_entries *entries, int row, entries_extra extra);

/* `cursor` lives in the result's memory, or NULL. */
void entries_set_cursor(cardbox_entries *entries, const char *cursor);

/* Gives the result away, or says that memory ran out. */
cardbox_status entries_finish(cardbox_entries **out, cardbox_entries *entries, cardbox_error *err);

#endif
