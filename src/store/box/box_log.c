/*
 * box_log.c: lists the changes of a box, for <cardbox/box.h>.
 */
#include "cardbox/box.h"

#include "base/isotime.h"
#include "store/box/box_load.h"
#include "store/client/call.h"
#include "store/client/result.h"
#include "store/box/box_read.h"

/* If the box exists, but no change matches, the statement returns one row whose version is NULL. No
 * entry is made from that row. */
static bool fill_entry(void *entry, arena *memory, const store_rows *rows, int row)
{
    *(cardbox_log_entry *)entry = (cardbox_log_entry){
        .version = rows_int8(rows, row, LOG_COL_VERSION),
        .op = rows_text(rows, row, LOG_COL_OP).ptr,
        .length = rows_int8(rows, row, LOG_COL_LENGTH),
        .added = rows_int8(rows, row, LOG_COL_ADDED),
        .append_key = rows_text(rows, row, LOG_COL_KEY).ptr,
        .at = isotime_text(memory, rows_micros(rows, row, LOG_COL_AT)),
    };
    return !rows_null(rows, row, LOG_COL_VERSION);
}

cardbox_status cardbox_box_log(cardbox_log **out, cardbox *db, const char *tenant,
                               const char *box_id, int64_t before_version, unsigned limit,
                               cardbox_error *err)
{
    store_rows *rows = NULL;
    history h = {.before = before_version > 0 ? before_version : INT64_MAX, .ids_max = -1};
    params p = PARAMS_INIT;
    cardbox_status status = check_read(out, db, tenant, err);
    if (status == CARDBOX_OK && before_version < 0)
        status = error_set(err, CARDBOX_INVALID, "before_version must be 0 or more");
    if (status == CARDBOX_OK)
        status = check_page(&limit, err);
    if (status != CARDBOX_OK)
        return status;
    *out = NULL;
    if (box_id == NULL)
        return error_set(err, CARDBOX_INVALID, "box_id must not be NULL");
    if (!uuid16_parse(&h.box, slice_of(box_id)))
        return box_not_found(box_id, err);
    h.tenant = slice_of(tenant);
    h.limit = limit;
    box_log_params(&p, &h);
    status = client_run(db, STATEMENT_box_log, &p, RUN_AGAIN, &rows, err);
    if (status == CARDBOX_OK && rows_count(rows) == 0) {
        rows_free(rows);
        return box_not_found(box_id, err);
    }
    if (status != CARDBOX_OK)
        return status;
    *out = result_new(rows, limit, sizeof(cardbox_log_entry), fill_entry, err);
    return *out == NULL ? CARDBOX_NOMEM : CARDBOX_OK;
}

size_t cardbox_log_count(const cardbox_log *log)
{
    return result_count(log);
}

const cardbox_log_entry *cardbox_log_at(const cardbox_log *log, size_t index)
{
    return result_at(log, index);
}

void cardbox_log_free(cardbox_log *log)
{
    result_free(log);
}
