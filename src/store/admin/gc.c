/*
 * gc.c: runs the statements of gc. The comments of the SQL functions gc_*.sql explain which rows
 * are removed.
 */
#include "store/admin/gc.h"

#include "store/client/client.h"

/* Rows of gc_batch and gc_count begin with these columns. Two columns for each gc_kind follow: rows
 * and bytes. */
enum { COL_BUSY, COL_MORE, COL_ROOM, COL_FIRST };

const char *gc_name(gc_kind kind)
{
    static const char *const NAMES[] = {"cards",    "revisions", "boxes",  "changes",
                                        "segments", "chains",    "entries"};
    return NAMES[kind];
}

int64_t gc_rows(const gc_sum *sum)
{
    int64_t rows = 0;
    for (int kind = 0; kind < GC_KINDS; kind++)
        rows += sum->rows[kind];
    return rows;
}

static void add_sum(gc_sum *sum, const store_rows *rows)
{
    for (int kind = 0; kind < GC_KINDS; kind++) {
        sum->rows[kind] += rows_int8(rows, 0, COL_FIRST + 2 * kind);
        sum->bytes[kind] += rows_int8(rows, 0, COL_FIRST + 2 * kind + 1);
    }
}

/* Limits how long gc waits for locks of tables. */
static cardbox_status wait_for_locks(cardbox *tx, cardbox_error *err)
{
    params p = PARAMS_INIT;
    params_cstr(&p, GC_LOCK_WAIT_MS);
    params_bool(&p, true);
    return client_run(tx, STATEMENT_lock_wait, &p, RUN_ONCE, NULL, err);
}

static cardbox_status run_gc_statement(store_rows **rows, cardbox *tx, int64_t retention_days,
                                       int64_t most, cardbox_error *err)
{
    params p = PARAMS_INIT;
    params_int8(&p, retention_days * GC_SECONDS_PER_DAY);
    params_int8(&p, most);
    return client_run(tx, STATEMENT_gc_batch, &p, RUN_ONCE, rows, err);
}

cardbox_status gc_batch(gc_sum *sum, gc_state *state, cardbox *db, int64_t retention_days,
                        int64_t most, cardbox_error *err)
{
    store_rows *rows = NULL;
    cardbox *tx = NULL;
    cardbox_status status = cardbox_begin(&tx, db, err);
    if (status == CARDBOX_OK)
        status = wait_for_locks(tx, err);
    if (status == CARDBOX_OK)
        status = run_gc_statement(&rows, tx, retention_days, most, err);
    if (status != CARDBOX_OK) {
        cardbox_rollback(tx);
        *state = GC_LOCKED;
        return status == CARDBOX_BUSY ? CARDBOX_OK : status;
    }
    status = cardbox_commit(tx, err);
    if (status == CARDBOX_OK) {
        add_sum(sum, rows);
        *state = rows_bool(rows, 0, COL_MORE) ? GC_MORE : GC_OVER;
        if (rows_bool(rows, 0, COL_BUSY))
            *state = GC_BUSY;
    }
    rows_free(rows);
    return status;
}

void gc_blocker_get(gc_blocker *out, cardbox *db, gc_state state)
{
    store_rows *rows = NULL;
    params p = PARAMS_INIT;
    bool is_busy = state == GC_BUSY;
    *out = (gc_blocker){.text = "the session that held it may have ended"};
    params_cstr(&p, is_busy ? "gc" : NULL);
    if (!is_busy)
        params_bool(&p, false);
    statement_id id = is_busy ? STATEMENT_lock_row_holder : STATEMENT_lock_holder;
    if (client_run(db, id, &p, RUN_AGAIN, &rows, NULL) == CARDBOX_OK && rows_count(rows) > 0) {
        rows_copy_text(out->text, sizeof(out->text), rows, 0, 0);
        out->pid = rows_int4(rows, 0, 1);
        rows_copy_text(out->application, sizeof(out->application), rows, 0, 2);
        out->transaction = is_busy ? rows_int8(rows, 0, 3) : 0;
    }
    rows_free(rows);
}

cardbox_status gc_count(gc_sum *sum, cardbox *db, int64_t retention_days, cardbox_error *err)
{
    store_rows *rows = NULL;
    params p = PARAMS_INIT;
    params_int8(&p, retention_days * GC_SECONDS_PER_DAY);
    cardbox_status status = client_run(db, STATEMENT_gc_count, &p, RUN_AGAIN, &rows, err);
    if (status == CARDBOX_OK)
        add_sum(sum, rows);
    rows_free(rows);
    return status;
}
