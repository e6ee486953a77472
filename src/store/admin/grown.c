/*
 * grown.c: the statement behind grown.h.
 */
#include "store/admin/grown.h"

#include "store/client/client.h"

cardbox_status grown_analyze(char table[GROWN_NAME_SIZE], cardbox *db, cardbox_error *err)
{
    store_rows *rows = NULL;
    cardbox_status status = client_run(db, STATEMENT_analyze_grown, NULL, RUN_AGAIN, &rows, err);
    table[0] = '\0';
    if (status == CARDBOX_OK && rows_count(rows) == 1)
        rows_copy_text(table, GROWN_NAME_SIZE, rows, 0, 0);
    rows_free(rows);
    return status;
}
