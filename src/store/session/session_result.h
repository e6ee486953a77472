/*
 * session_result.h: makes results with sessions and entries from rows, for <cardbox/session.h>.
 * Sends no statement.
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
    const char *cursor; /* allocated in `memory`; NULL: this is the last page */
};

/* Makes a result of up to `limit` rows. More rows mean that there is a next page. The result owns
 * the rows; on failure they are freed. */
cardbox_status sessions_new(cardbox_sessions **out, store_rows *rows, size_t limit,
                            cardbox_error *err);

/* Makes an empty result with capacity for an entry of each row. It owns the rows; on failure they
 * are freed. */
cardbox_status entries_new(cardbox_entries **out, store_rows *rows, cardbox_error *err);

/* Adds the entry of a row. `extra` is the meaning of the row's column `extra`. */
typedef enum entries_extra { EXTRA_NOTHING, EXTRA_CHILDREN, EXTRA_SIDE } entries_extra;
void entries_add(cardbox_entries *entries, int row, entries_extra extra);

/* Sets *out to the result. If `status` is a failure or memory ran out, frees the result and returns
 * the failure. */
cardbox_status entries_finish(cardbox_entries **out, cardbox_entries *entries,
                              cardbox_status status, cardbox_error *err);

#endif
