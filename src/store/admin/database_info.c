/*
 * database_info.c: the identity of a database, its free connections, and its stale statistics.
 */
#include "store/admin/database_info.h"

#include "store/client/client.h"

int64_t cluster_identity_of(const store_rows *rows, bool is_standby)
{
    return rows_count(rows) == 1 && rows_bool(rows, 0, 0) == is_standby ? rows_int8(rows, 0, 1) : 0;
}

cardbox_status cluster_identity_get(int64_t *out, cardbox *db, cardbox_error *err)
{
    store_rows *rows = NULL;
    cardbox_status status = client_run(db, STATEMENT_cluster_identity, NULL, RUN_AGAIN, &rows, err);
    *out = cluster_identity_of(rows, false);
    rows_free(rows);
    return status;
}

cardbox_status free_slots_get(int *out, cardbox *db, cardbox_error *err)
{
    store_rows *rows = NULL;
    cardbox_status status = client_run(db, STATEMENT_free_slots, NULL, RUN_AGAIN, &rows, err);
    if (status == CARDBOX_OK && rows_count(rows) == 1)
        *out = rows_int4(rows, 0, 0);
    rows_free(rows);
    return status;
}

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
