/*
 * free_slots.c: asks PostgreSQL for its sessions and their limits.
 */
#include "store/admin/free_slots.h"

#include "store/client/client.h"

cardbox_status free_slots_get(int *out, cardbox *db, cardbox_error *err)
{
    store_rows *rows = NULL;
    cardbox_status status = client_run(db, STATEMENT_free_slots, NULL, RUN_AGAIN, &rows, err);
    if (status == CARDBOX_OK && rows_count(rows) == 1)
        *out = rows_int4(rows, 0, 0);
    rows_free(rows);
    return status;
}
