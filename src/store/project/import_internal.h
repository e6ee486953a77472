/*
 * import_internal.h: the statements of an import. For the import's own files only.
 */
#ifndef STORE_IMPORT_INTERNAL_H
#define STORE_IMPORT_INTERNAL_H

#include "store/client/client.h"
#include "store/project/item.h"

/* Maximum rows of one statement. With this many, the round trip costs little. */
#define IMPORT_BATCH_MAX 500

/* The number of the first items that one statement writes: cards and boxes, consecutive lines of
 * one session, one session, or rows of the ledger of one tenant. All items have the same kind. */
size_t import_group(import_item *const *items, size_t count);

/* Writes such items. If a card or a row of the ledger is refused, nothing is written. Rows: the
 * ordinal of the item, from 1, and its outcome. For lines there is also a row with ordinal 0. */
cardbox_status import_send(store_rows **rows, cardbox *db, import_item *const *items, size_t count,
                           cardbox_error *err);

/* A saved box has the time of its last change as its creation time. If the line has another one, it
 * is set by this. */
cardbox_status import_send_box_times(cardbox *db, import_item *const *items, size_t count,
                                     cardbox_error *err);

/* The counter of an outcome of a card, a box, a session or a line. NULL: it was refused, and `why`
 * is set. */
uint64_t *import_outcome(import_counts *counts, transfer_kind kind, const store_rows *rows, int row,
                         cardbox_error *why);

/* Reads the outcomes of the ledger. CARDBOX_OK: all were written, and counted. Otherwise `*bad` is
 * the item that was refused, and `why` the reason. */
cardbox_status import_ledger_outcomes(import_counts *counts, size_t *bad, const store_rows *rows,
                                      import_item *const *items, size_t count, cardbox_error *why);

#endif
