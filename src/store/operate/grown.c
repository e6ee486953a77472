/*
 * grown.c: the statement behind grown.h.
 */
#include "store/operate/grown.h"

#include <stdio.h>
#include "store/client.h"

cardbox_status grown_analyze(char table[GROWN_NAME_SIZE], cardbox *db, cardbox_error *err)
{
    store_rows *rows = NULL;
    cardbox_status status = client_run(db, STATEMENT_analyze_grown, NULL, RUN_AGAIN, &rows, err);
    table[0] = '\0';
    if (status == CARDBOX_OK && rows_count(rows) == 1) {
        view name = rows_text(rows, 0, 0);
        snprintf(table, GROWN_NAME_SIZE, "%.*s", (int)name.len, name.ptr);
    }
    rows_free(rows);
    return status;
}
