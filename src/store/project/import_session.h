/*
 * import_session.h: writes imported sessions and lines of sessions.
 */
#ifndef STORE_IMPORT_SESSION_H
#define STORE_IMPORT_SESSION_H

#include "db/rows.h"
#include "store/project/item.h"

/* The number of the first items that one statement writes: consecutive lines of one session, or one
 * session. */
size_t import_session_group(import_item *const *items, size_t count);

/* Writes the items; one that is refused does not affect the others. Rows: the ordinal of the item,
 * from 1, and its outcome. For lines there is also a row with ordinal 0. */
cardbox_status import_session_send(cardbox *db, import_item *const *items, size_t count,
                                   store_rows **rows, cardbox_error *err);

/* The counter of an outcome. NULL: it was refused, and `why` is set. */
uint64_t *import_session_counter(import_counts *counts, transfer_kind kind, slice outcome,
                                 cardbox_error *why);

#endif
