/*
 * checks.c: runs the statements of `cardbox doctor` and `cardbox dev`.  */
#include "store/admin/checks.h"

#include "store/client/client.h"
#include "base/errors.h"

cardbox_status admin_counts(cardbox *db, const char *tenant, admin_project *out, cardbox_error *err)
{
    store_rows *rows = NULL;
    params p = PARAMS_INIT;
    params_cstr(&p, tenant);
    cardbox_status status = client_run(db, STATEMENT_project_counts, &p, RUN_AGAIN, &rows, err);
    if (status == CARDBOX_OK) {
        out->cards = rows_int8(rows, 0, 0);
        out->boxes = rows_int8(rows, 0, 1);
        out->sessions = rows_int8(rows, 0, 2);
        out->tasks = rows_int8(rows, 0, 3);
    }
    rows_free(rows);
    return status;
}

cardbox_status admin_dev_prepare(cardbox *db, cardbox_error *err)
{
    return client_run(db, STATEMENT_dev_prepare, NULL, RUN_AGAIN, NULL, err);
}

/* --- doctor --- */

/* Columns of STATEMENT_doctor. */
enum {
    COL_ROLE,
    COL_IN_SERVICE_ROLE,
    COL_IN_WORKER_ROLE,
    COL_VERSION,
    COL_IN_RECOVERY,
    COL_READS_ONLY,
    COL_ENCODING,
    COL_HAS_SETTINGS,
    COL_COMMITS_LATE,
    COL_FSYNC_OFF,
    COL_FULL_PAGES_OFF,
    COL_NO_STANDBY,
    COL_OLDEST,
    COL_AGE,
    COL_DATABASE,
    COL_BYTES,
    COL_DEV
};

static cardbox_status inspect_role(cardbox *db, admin_facts *out, cardbox_error *err)
{
    store_rows *rows = NULL;
    cardbox_status status = client_run(db, STATEMENT_doctor, NULL, RUN_AGAIN, &rows, err);
    if (status != CARDBOX_OK)
        return status;
    rows_copy_text(out->role, sizeof(out->role), rows, 0, COL_ROLE);
    rows_copy_text(out->version, sizeof(out->version), rows, 0, COL_VERSION);
    rows_copy_text(out->database, sizeof(out->database), rows, 0, COL_DATABASE);
    out->in_service_role = rows_bool(rows, 0, COL_IN_SERVICE_ROLE);
    out->in_worker_role = rows_bool(rows, 0, COL_IN_WORKER_ROLE);
    out->in_recovery = rows_bool(rows, 0, COL_IN_RECOVERY);
    out->reads_only = rows_bool(rows, 0, COL_READS_ONLY);
    rows_copy_text(out->encoding, sizeof(out->encoding), rows, 0, COL_ENCODING);
    out->has_settings = rows_bool(rows, 0, COL_HAS_SETTINGS);
    out->commits_late = rows_bool(rows, 0, COL_COMMITS_LATE);
    out->fsync_off = rows_bool(rows, 0, COL_FSYNC_OFF);
    out->full_pages_off = rows_bool(rows, 0, COL_FULL_PAGES_OFF);
    out->no_standby = rows_bool(rows, 0, COL_NO_STANDBY);
    rows_copy_text(out->oldest, sizeof(out->oldest), rows, 0, COL_OLDEST);
    out->age = rows_int4(rows, 0, COL_AGE);
    out->bytes = rows_int8(rows, 0, COL_BYTES);
    out->is_dev = rows_bool(rows, 0, COL_DEV);
    rows_free(rows);
    return role_rights_get(&out->rights, db, err);
}

static cardbox_status inspect_migration(cardbox *db, admin_facts *out, cardbox_error *err)
{
    store_rows *rows = NULL;
    cardbox_status status = client_run(db, STATEMENT_ping, NULL, RUN_AGAIN, &rows, err);
    if (status == CARDBOX_OK)
        out->migration = rows_int4(rows, 0, 0);
    rows_free(rows);
    return status;
}

static cardbox_status inspect_names(cardbox *db, statement_id id, char *out, size_t size,
                                    cardbox_error *err)
{
    store_rows *rows = NULL;
    cardbox_status status = client_run(db, id, NULL, RUN_AGAIN, &rows, err);
    if (status == CARDBOX_OK)
        rows_copy_text(out, size, rows, 0, 0);
    rows_free(rows);
    return status;
}

static cardbox_status inspect_grants(cardbox *db, admin_facts *out, cardbox_error *err)
{
    store_rows *rows = NULL;
    params p = PARAMS_INIT;
    if (!out->in_worker_role)
        return CARDBOX_OK;
    params_int8(&p, ADMIN_GRANTS_NAMED);
    cardbox_status status = client_run(db, STATEMENT_doctor_grants, &p, RUN_AGAIN, &rows, err);
    if (status == CARDBOX_OK) {
        out->granted = rows_int8(rows, 0, 0);
        rows_copy_text(out->grants, sizeof(out->grants), rows, 0, 1);
    }
    rows_free(rows);
    return status;
}

cardbox_status admin_inspect(cardbox *db, admin_facts *out, cardbox_error *err)
{
    memset(out, 0, sizeof(*out));
    cardbox_status status = inspect_role(db, out, err);
    if (status == CARDBOX_OK)
        status = inspect_migration(db, out, err);
    if (status == CARDBOX_OK)
        status = inspect_grants(db, out, err);
    if (status == CARDBOX_OK)
        status = inspect_names(db, STATEMENT_doctor_schemas, out->open_schemas,
                               sizeof(out->open_schemas), err);
    if (status == CARDBOX_OK)
        status = inspect_names(db, STATEMENT_doctor_rls, out->open_tables, sizeof(out->open_tables),
                               err);
    if (status == CARDBOX_OK)
        status = inspect_names(db, STATEMENT_doctor_members, out->bad_members,
                               sizeof(out->bad_members), err);
    if (status == CARDBOX_OK)
        status = inspect_names(db, STATEMENT_doctor_functions, out->bad_writers,
                               sizeof(out->bad_writers), err);
    return status;
}

bool admin_try(cardbox *db, admin_attempt what)
{
    static const statement_id STATEMENTS[] = {
        STATEMENT_doctor_read_all, STATEMENT_doctor_make_token, STATEMENT_doctor_make_grant};
    cardbox *tx = NULL;
    cardbox_status status = cardbox_begin(&tx, db, NULL);
    if (status == CARDBOX_OK && what == ADMIN_READ_PAST)
        status = client_run(tx, STATEMENT_doctor_row_security_off, NULL, RUN_ONCE, NULL, NULL);
    if (status == CARDBOX_OK)
        status = client_run(tx, STATEMENTS[what], NULL, RUN_ONCE, NULL, NULL);
    cardbox_rollback(tx);
    return status == CARDBOX_OK;
}
