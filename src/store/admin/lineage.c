/*
 * lineage.c: asks PostgreSQL which cluster, database and timeline it is.
 */
#include "store/admin/lineage.h"

#include "store/client/client.h"

int64_t lineage_of(const store_rows *rows, bool is_standby)
{
    return rows_count(rows) == 1 && rows_bool(rows, 0, 0) == is_standby ? rows_int8(rows, 0, 1) : 0;
}

cardbox_status lineage_get(int64_t *out, cardbox *db, cardbox_error *err)
{
    store_rows *rows = NULL;
    cardbox_status status = client_run(db, STATEMENT_lineage, NULL, RUN_AGAIN, &rows, err);
    *out = lineage_of(rows, false);
    rows_free(rows);
    return status;
}
