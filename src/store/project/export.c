/*
 * export.c: reads a project page by page in one snapshot, and writes each row as a line of JSON.
 * The number of rows per page depends on their size, so that memory stays bounded.
 */
#include "store/project/export_internal.h"
#include "store/project/members.h"

/* Rows of the first page of each kind, and the bytes that a page should have. */
#define PAGE_ROWS_FIRST 32
#define PAGE_BYTES      ((size_t)2 << 20)

/* --- lines --- */

cardbox_status export_hand_over(exporter *x)
{
    if (!buf_ok(&x->line))
        return error_buf(x->err, &x->line, "a line");
    x->stopped = !x->receive(x->arg, buf_as_slice(&x->line), &x->counts);
    buf_reset(&x->line, PAGE_BYTES);
    return CARDBOX_OK;
}

cardbox_status export_line(exporter *x, transfer_kind kind)
{
    buf_text(&x->line, "}\n");
    x->counts.of[kind]++;
    x->counts.lines++;
    return export_hand_over(x);
}

/* --- pages --- */

void export_adapt_page(exporter *x, const store_rows *rows)
{
    size_t bytes = rows_bytes(rows);
    if (bytes > 2 * PAGE_BYTES)
        x->page = x->page > 1 ? x->page / 2 : 1;
    else if (bytes < PAGE_BYTES && x->page < EXPORT_ROWS_MAX / 2)
        x->page *= 2;
}

/* Adds the keys of the last row of `rows`, the previous page. NULL: adds SQL NULLs for the first
 * page. */
static void put_keys(params *p, const member_kind *kind, const store_rows *rows)
{
    int last = rows_count(rows) - 1;
    for (int i = 0; i < EXPORT_KEYS && kind->keys[i].type != 0; i++) {
        int column = kind->keys[i].column;
        if (rows == NULL)
            params_null(p);
        else if (kind->keys[i].type == PARAMS_TEXT)
            params_text(p, rows_text(rows, last, column));
        else
            params_int8(p, rows_int8(rows, last, column));
    }
}

static void write_members(buf *out, const member_kind *kind, const store_rows *rows, int row)
{
    buf_printf(out, "{\"kind\":\"%s\"", kind->name);
    for (int i = 0; member_is_exported(&kind->members[i]); i++)
        member_write(out, &kind->members[i], rows, row, i);
}

static cardbox_status export_rows(exporter *x, transfer_kind kind)
{
    const member_kind *source = &MEMBER_KINDS[kind];
    store_rows *rows = NULL;
    cardbox_status status = CARDBOX_OK;
    for (int count = 1; status == CARDBOX_OK && count > 0 && !x->stopped;) {
        params p = PARAMS_INIT;
        params_text(&p, x->tenant);
        put_keys(&p, source, rows);
        params_int8(&p, x->page);
        rows_free(rows);
        rows = NULL;
        status = client_run(x->tx, source->statement, &p, RUN_ONCE, &rows, x->err);
        count = rows_count(rows);
        for (int row = 0; status == CARDBOX_OK && row < count && !x->stopped; row++) {
            write_members(&x->line, source, rows, row);
            status = export_line(x, kind);
        }
        if (count > 0)
            export_adapt_page(x, rows);
    }
    rows_free(rows);
    return status;
}

/* --- the whole --- */

static cardbox_status count_lines(exporter *x)
{
    store_rows *rows = NULL;
    params p = PARAMS_INIT;
    params_text(&p, x->tenant);
    cardbox_status status = client_run(x->tx, STATEMENT_export_count, &p, RUN_ONCE, &rows, x->err);
    if (status == CARDBOX_OK)
        x->counts.total = (uint64_t)rows_int8(rows, 0, 0);
    rows_free(rows);
    return status;
}

static cardbox_status export_all(exporter *x)
{
    cardbox_status status = count_lines(x);
    if (status == CARDBOX_OK)
        status = export_hand_over(x);
    for (transfer_kind kind = 0; status == CARDBOX_OK && kind < TRANSFER_OTHER && !x->stopped;
         kind++) {
        x->page = PAGE_ROWS_FIRST;
        status = kind == TRANSFER_BOX ? export_boxes(x) : export_rows(x, kind);
    }
    return status;
}

cardbox_status export_run(cardbox *db, const char *tenant, export_receiver receive, void *arg,
                          cardbox_error *err)
{
    cardbox_error own = CARDBOX_ERROR_INIT;
    exporter x = {.tenant = slice_of(tenant),
                  .receive = receive,
                  .arg = arg,
                  .err = err ? err : &own,
                  .line = BUF_INIT(4 * TRANSFER_LINE_MAX)};
    if (!slice_is_id(x.tenant, CARDBOX_TENANT_MAX))
        return error_set(x.err, CARDBOX_INVALID,
                         "the project must be 1 to %d bytes of UTF-8 without control characters",
                         CARDBOX_TENANT_MAX);
    cardbox_status status = client_begin(&x.tx, db, STATEMENT_begin_snapshot, x.err);
    if (status == CARDBOX_OK)
        status = export_all(&x);
    cardbox_rollback(x.tx);
    buf_free(&x.line);
    return status;
}
