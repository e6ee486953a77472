/*
 * import_ledger.h: writes imported rows of the ledger, many in one statement.
 */
#ifndef STORE_IMPORT_LEDGER_H
#define STORE_IMPORT_LEDGER_H

#include "db/rows.h"
#include "store/project/item.h"

/* Writes items of one kind and tenant, all or none. */
cardbox_status import_ledger_send(cardbox *db, import_item *const *items, size_t count,
                                  store_rows **rows, cardbox_error *err);

/* Reads the outcomes. CARDBOX_OK: all were written, and counted. Otherwise `*bad` is the item that
 * was refused, and `why` the reason. */
cardbox_status import_ledger_outcomes(import_counts *counts, size_t *bad, const store_rows *rows,
                                      import_item *const *items, size_t count, cardbox_error *why);

#endif
