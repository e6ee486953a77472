/*
 * box_log.c: lists the changes of a box, for <cardbox/box.h>.
 */
#include "cardbox/box.h"

#include <stdlib.h>
#include "base/isotime.h"
#include "store/box/boxes_read.h"
#include "store/client/call.h"
#include "store/list.h"

struct cardbox_log {
    arena memory;
    store_rows *rows;
    cardbox_log_entry *entries;
    size_t count;
};

/* Makes a result of up to `limit` rows; the statement returns one more. It owns the rows. */
static cardbox_status make_log(cardbox_log **out, store_rows *rows, unsigned limit,
                               cardbox_error *err)
{
    size_t count = (size_t)rows_count(rows);
    if (count > 0 && rows_null(rows, 0, LOG_COL_VERSION))
        count = 0; /* the box exists, without such changes */
    if (count > limit)
        count = limit;
    cardbox_log *log = calloc(1, sizeof(*log));
    if (log == NULL) {
        rows_free(rows);
        return error_nomem(err);
    }
    log->rows = rows;
    log->entries = arena_zeros(&log->memory, count, sizeof(*log->entries));
    for (size_t i = 0; log->entries != NULL && i < count; i++) {
        int row = (int)i;
        log->entries[log->count++] = (cardbox_log_entry){
            .version = rows_int8(rows, row, LOG_COL_VERSION),
            .op = rows_text(rows, row, LOG_COL_OP).ptr,
            .length = rows_int8(rows, row, LOG_COL_LENGTH),
            .added = rows_int8(rows, row, LOG_COL_ADDED),
            .append_key = rows_text(rows, row, LOG_COL_KEY).ptr,
            .at = isotime_text(&log->memory, rows_micros(rows, row, LOG_COL_AT)),
        };
    }
    if (log->memory.failed) {
        cardbox_log_free(log);
        return error_nomem(err);
    }
    *out = log;
    return CARDBOX_OK;
}

cardbox_status cardbox_box_log(cardbox_log **out, cardbox *db, const char *tenant,
                               const char *box_id, int64_t before_version, unsigned limit,
                               cardbox_error *err)
{
    store_rows *rows = NULL;
    history h = {.before = before_version > 0 ? before_version : INT64_MAX, .ids_max = -1};
    params p;
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
    params_init(&p, REQUEST_MAX);
    box_log_params(&p, &h);
    status = client_run(db, STATEMENT_box_log, &p, RUN_AGAIN, &rows, err);
    if (status == CARDBOX_OK && rows_count(rows) == 0) {
        rows_free(rows);
        return box_not_found(box_id, err);
    }
    return status == CARDBOX_OK ? make_log(out, rows, limit, err) : status;
}

size_t cardbox_log_count(const cardbox_log *log)
{
    return log == NULL ? 0 : log->count;
}

const cardbox_log_entry *cardbox_log_at(const cardbox_log *log, size_t index)
{
    return index < cardbox_log_count(log) ? &log->entries[index] : NULL;
}

void cardbox_log_free(cardbox_log *log)
{
    if (log == NULL)
        return;
    rows_free(log->rows);
    arena_reset(&log->memory);
    free(log);
}
