/*
 * cluster_identity.c: asks PostgreSQL which cluster, database and timeline it is.
 */
#include "store/admin/cluster_identity.h"

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
