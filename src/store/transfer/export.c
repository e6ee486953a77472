/*
 * export.c: reads a project page by page inside one snapshot and writes each row as a line of JSON,
 * cards here, what else there is in the parts' own files. Pages adapt to the size of the rows, so
 * that memory stays what it is however large they are.
 */
#include "base/isotime.h"
#include "store/read.h"
#include "store/transfer/export_parts.h"

/* Rows of a page at first, and the bytes that a page should have. */
#define PAGE_ROWS_FIRST 32
#define PAGE_BYTES      ((size_t)2 << 20)

/* --- pages --- */

void export_adapt_page(exporter *x, const store_rows *rows)
{
    size_t bytes = rows_bytes(rows);
    if (bytes > 2 * PAGE_BYTES)
        x->page = x->page > 1 ? x->page / 2 : 1;
    else if (bytes < PAGE_BYTES && x->page < EXPORT_ROWS_MAX / 2)
        x->page *= 2;
}

/* `rows` is the page before; NULL: there was none. */
static void put_keys(params *p, const export_source *source, const store_rows *rows)
{
    int last = rows_count(rows) - 1;
    for (int i = 0; i < source->key_count; i++) {
        int column = source->keys[i].column;
        if (rows == NULL)
            params_null(p);
        else if (source->keys[i].type == PARAMS_TEXT)
            params_text(p, rows_text(rows, last, column));
        else if (source->keys[i].type == PARAMS_INT4)
            params_int4(p, rows_int4(rows, last, column));
        else
            params_int8(p, rows_int8(rows, last, column));
    }
}

cardbox_status export_rows(exporter *x, const export_source *source)
{
    store_rows *rows = NULL;
    cardbox_status status = CARDBOX_OK;
    x->page = PAGE_ROWS_FIRST;
    for (int count = 1; status == CARDBOX_OK && count > 0 && !x->stopped;) {
        params p;
        params_init(&p, CARDBOX_TENANT_MAX + (EXPORT_KEYS + 1) * CARDBOX_CARD_ID_MAX);
        params_text(&p, x->tenant);
        put_keys(&p, source, rows);
        params_int8(&p, x->page);
        rows_free(rows);
        rows = NULL;
        status = client_run(x->tx, source->statement, &p, RUN_ONCE, &rows, x->err);
        params_free(&p);
        count = rows_count(rows);
        for (int row = 0; status == CARDBOX_OK && row < count && !x->stopped; row++)
            status = source->give(x, rows, row);
        if (count > 0)
            export_adapt_page(x, rows);
    }
    rows_free(rows);
    return status;
}

/* --- lines --- */

void export_time(buf *out, const char *name, bool has, int64_t micros)
{
    isotime time;
    char text[ISOTIME_SIZE];
    buf_printf(out, ",\"%s\":", name);
    if (!has) {
        buf_text(out, "null");
        return;
    }
    isotime_from_micros(&time, micros);
    isotime_format(text, &time);
    buf_printf(out, "\"%s\"", text);
}

void export_text(buf *out, const char *name, view text)
{
    buf_printf(out, ",\"%s\":", name);
    if (text.ptr == NULL)
        buf_text(out, "null");
    else
        buf_json_string(out, text);
}

void export_token(buf *out, const char *name, view token)
{
    buf_printf(out, ",\"%s\":", name);
    buf_view(out, token.ptr == NULL ? VIEW("null") : token);
}

void export_jsonb(buf *out, const char *name, view json)
{
    buf_printf(out, ",\"%s\":", name);
    if (json.ptr == NULL)
        buf_text(out, "null");
    else
        scan_compact(out, json);
}

void export_int(buf *out, const char *name, int64_t value)
{
    buf_printf(out, ",\"%s\":", name);
    buf_int(out, value);
}

cardbox_status export_hand_over(exporter *x)
{
    if (!buf_ok(&x->line))
        return error_buf(x->err, &x->line, "a line");
    x->stopped = !x->take(x->arg, (view){buf_str(&x->line), x->line.len}, &x->counts);
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

/* --- cards --- */

/* Columns of STATEMENT_cards_export: those of card_row_read, and one more. */
enum { COL_CARD = 0, COL_DELETED = 9 };

/* Content to the byte. Line ends, which in JSON stand only between tokens, would break the line:
 * with any the text goes as a string. */
static void add_content(buf *out, view json)
{
    bool broken = json.len > 0 && (memchr(json.ptr, '\n', json.len) != NULL ||
                                   memchr(json.ptr, '\r', json.len) != NULL);
    if (json.ptr == NULL)
        return;
    if (broken)
        export_text(out, "content_text", json);
    else
        export_token(out, "content", json);
}

static cardbox_status give_card(exporter *x, const store_rows *rows, int row)
{
    buf *out = &x->line;
    card_row card;
    card_row_read(&card, rows, row, COL_CARD);
    buf_text(out, "{\"kind\":\"card\"");
    export_text(out, "card_id", card.card_id);
    add_content(out, card.content);
    export_jsonb(out, "tool_calls", card.tool_calls);
    export_text(out, "tool_call_id", card.tool_call_id);
    if (card.has_ttl)
        export_int(out, "ttl_seconds", card.ttl_seconds);
    else
        export_token(out, "ttl_seconds", VIEW("null"));
    export_time(out, "expires_at", card.has_expiry, card.expires_micros);
    export_time(out, "deleted_at", !rows_null(rows, row, COL_DELETED),
                rows_micros(rows, row, COL_DELETED));
    export_jsonb(out, "metadata", card.metadata);
    export_time(out, "created_at", true, card.created_micros);
    if (card.sealed)
        buf_text(out, ",\"sealed\":true");
    buf_text(out, ",\"exact\":true");
    return export_line(x, TRANSFER_CARD);
}

static cardbox_status export_cards(exporter *x)
{
    static const export_source CARDS = {
        STATEMENT_cards_export, {{PARAMS_TEXT, COL_CARD}}, 1, give_card};
    return export_rows(x, &CARDS);
}

/* --- the whole --- */

static cardbox_status count_lines(exporter *x)
{
    store_rows *rows = NULL;
    params p;
    params_init(&p, 2 * CARDBOX_TENANT_MAX);
    params_text(&p, x->tenant);
    cardbox_status status = client_run(x->tx, STATEMENT_export_count, &p, RUN_ONCE, &rows, x->err);
    if (status == CARDBOX_OK)
        x->counts.total = (uint64_t)rows_int8(rows, 0, 0);
    params_free(&p);
    rows_free(rows);
    return status;
}

/* In this order an import takes the lines in one pass: what a line names comes before it. */
static cardbox_status export_all(exporter *x)
{
    static cardbox_status (*const PARTS[])(exporter *) = {export_cards, export_boxes,
                                                          export_sessions, export_ledger};
    cardbox_status status = count_lines(x);
    if (status == CARDBOX_OK)
        status = export_hand_over(x);
    for (size_t i = 0; status == CARDBOX_OK && i < sizeof(PARTS) / sizeof(PARTS[0]); i++) {
        x->page = PAGE_ROWS_FIRST;
        if (!x->stopped)
            status = PARTS[i](x);
    }
    return status;
}

cardbox_status export_run(cardbox *db, const char *tenant, export_piece take, void *arg,
                          cardbox_error *err)
{
    cardbox_error own = CARDBOX_ERROR_INIT;
    exporter x = {.tenant = view_of(tenant),
                  .take = take,
                  .arg = arg,
                  .err = err ? err : &own,
                  .line = BUF_INIT(4 * TRANSFER_LINE_MAX)};
    if (!view_is_id(x.tenant, CARDBOX_TENANT_MAX))
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
