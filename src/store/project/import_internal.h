/*
 * import_internal.h: the statements of an import. For the import's own files only.
 */
#ifndef STORE_IMPORT_INTERNAL_H
#define STORE_IMPORT_INTERNAL_H

#include "store/client/client.h"
#include "store/project/item.h"

/* Maximum rows of one statement. At this number the cost of the round trip is small. */
#define IMPORT_BATCH_MAX 500

/* Returns how many items, from the first, one statement can write: all cards or boxes, consecutive
 * lines of one session, one session, or tasks, messages or calls of one tenant. All items have the
 * same kind. */
size_t import_group(import_item *const *items, size_t count);

/* Writes `count` items of an import_group. If a card, task, message or call is refused, nothing is
 * written. The rows have the outcomes, for import_outcome or import_ledger_outcomes. */
cardbox_status import_send(store_rows **rows, cardbox *db, import_item *const *items, size_t count,
                           cardbox_error *err);

/* Sets the creation times of new boxes whose lines have a created_at. Before this call such a box
 * has the time of its last change as its creation time. */
cardbox_status import_send_box_times(cardbox *db, import_item *const *items, size_t count,
                                     cardbox_error *err);

/* Returns the counter for the outcome of a card, a box, a session or a line of a session. NULL: the
 * item was refused, and `why` is set. */
uint64_t *import_outcome(import_counts *counts, transfer_kind kind, const store_rows *rows, int row,
                         cardbox_error *why);

/* Reads the outcomes of tasks, messages or calls. CARDBOX_OK: all were written, and counted.
 * Otherwise `*bad` is the index of the item that was refused, and `why` has the reason. */
cardbox_status import_ledger_outcomes(import_counts *counts, size_t *bad, const store_rows *rows,
                                      import_item *const *items, size_t count, cardbox_error *why);

#endif
