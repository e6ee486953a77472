/*
 * import_session.h: lines of sessions, and sessions, on their way into the database.
 */
#ifndef STORE_IMPORT_SESSION_H
#define STORE_IMPORT_SESSION_H

#include "db/rows.h"
#include "store/project/item.h"

/* How many of the first items one statement takes: lines of one session, or a session. */
size_t import_session_run(import_item *const *items, size_t count);

/* Writes them, each for itself. Rows: place, from 1, and outcome; of lines
 * also one with place 0. */
cardbox_status import_session_send(cardbox *db, import_item *const *items, size_t count,
                                   store_rows **rows, cardbox_error *err);

/* The counter of an outcome; NULL: it was refused, and why. */
uint64_t *import_session_judge(import_counts *counts, transfer_kind kind, slice outcome,
                               cardbox_error *why);

#endif
