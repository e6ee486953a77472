/*
 * session_result.h: results with sessions and entries, as <cardbox/session.h> lends them: made,
 * filled from rows, finished. Must not send anything.
 */
#ifndef STORE_SESSION_RESULT_H
#define STORE_SESSION_RESULT_H

#include "cardbox/session.h"
#include "store/session/sessions.h"

struct cardbox_entries {
    arena memory;
    store_rows *rows;
    cardbox_entry *entries;
    size_t count;
    const char *cursor; /* in the memory; NULL: the last page */
};

/* Takes the rows over (also on failure). Of more than `limit` the rest tells that there is a next
 * page. */
cardbox_status sessions_take(cardbox_sessions **out, store_rows *rows, size_t limit,
                             cardbox_error *err);

/* A result that owns the rows (also on failure), with room for an entry a row. */
cardbox_status entries_new(cardbox_entries **out, store_rows *rows, cardbox_error *err);

/* Adds the entry of a row, and what the row's extra column says of it. */
typedef enum entries_extra { EXTRA_NOTHING, EXTRA_CHILDREN, EXTRA_SIDE } entries_extra;
void entries_add(cardbox_entries *entries, int row, entries_extra extra);

/* Gives the result away, or says that memory ran out. */
cardbox_status entries_finish(cardbox_entries **out, cardbox_entries *entries, cardbox_error *err);

#endif
