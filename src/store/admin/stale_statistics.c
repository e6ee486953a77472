/*
 * stale_statistics.c: runs the statement analyze_grown.
 */
#include "store/admin/stale_statistics.h"

#include "store/client/client.h"

cardbox_status stale_statistics_analyze(char table[TABLE_NAME_SIZE], cardbox *db,
                                        cardbox_error *err)
{
    store_rows *rows = NULL;
    cardbox_status status = client_run(db, STATEMENT_analyze_grown, NULL, RUN_AGAIN, &rows, err);
    table[0] = '\0';
    if (status == CARDBOX_OK && rows_count(rows) == 1)
        rows_copy_text(table, TABLE_NAME_SIZE, rows, 0, 0);
    rows_free(rows);
    return status;
}
