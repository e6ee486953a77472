/*
 * role.c: reads the rights of the connection's database role, and names a right that the role
 * should not have.
 */
#include "store/admin/role.h"

#include "db/schema.h"
#include "store/client/client.h"

cardbox_status role_rights_get(role_rights *out, cardbox *db, cardbox_error *err)
{
    store_rows *rows = NULL;
    *out = (role_rights){.superuser = false};
    cardbox_status status = client_run(db, STATEMENT_role_rights, NULL, RUN_AGAIN, &rows, err);
    if (status == CARDBOX_OK && rows_count(rows) == 1) {
        rows_copy_text(out->name, sizeof(out->name), rows, 0, 0);
        out->superuser = rows_bool(rows, 0, 1);
        out->bypasses_rls = rows_bool(rows, 0, 2);
        out->owner = rows_bool(rows, 0, 3);
        out->writer = rows_bool(rows, 0, 4);
        out->on_standby = rows_bool(rows, 0, 5);
    }
    rows_free(rows);
    return status;
}

cardbox_status role_check_get(role_check *out, cardbox *db, cardbox_error *err)
{
    store_rows *rows = NULL;
    params p = PARAMS_INIT;
    int version;
    *out = (role_check){.has_schema = false};
    schema_params(&p);
    params_bool(&p, true);
    cardbox_status status = client_run(db, STATEMENT_ready, &p, RUN_AGAIN, &rows, err);
    if (status == CARDBOX_OK && rows_count(rows) == 1 && !rows_null(rows, 0, 2)) {
        out->has_schema = schema_compare(rows, &version) == SCHEMA_FITS;
        out->has_rights = rows_bool(rows, 0, 2);
    }
    rows_free(rows);
    return status;
}

const char *role_excess(const role_rights *rights)
{
    if (rights->superuser)
        return "is a superuser, and so bypasses row-level security";
    if (rights->bypasses_rls)
        return "has BYPASSRLS, and so bypasses row-level security";
    if (rights->owner)
        return "owns tables of cardbox, and could change their policies";
    if (rights->writer)
        return "is a member of cardbox_writer, and could write to every project";
    return NULL;
}
