/*
 * export.c: reads a project page by page inside one snapshot and writes each row as a line of JSON,
 * its content exactly as it was written. Pages adapt to the size of the rows, and the ids of a long
 * box come in pages of their own, so that memory stays what it is however large they are.
 */
#include <stdlib.h>
#include "base/isotime.h"
#include "store/client.h"
#include "store/errors.h"
#include "store/read.h"
#include "store/transfer/transfer.h"

/* Rows of a page: at first, and at most; and the bytes that a page should have. */
#define PAGE_ROWS_FIRST 32
#define PAGE_ROWS_MAX   1000
#define PAGE_BYTES      ((size_t)2 << 20)

/* Ids of each box on a page of boxes, and of the one box on each further page. */
#define IDS_FIRST 512
#define IDS_PAGE  8192

/* Bytes of a line that are handed over although it is not complete. */
#define PIECE_BYTES ((size_t)64 << 10)

typedef struct exporter {
    cardbox *tx;
    view tenant;
    export_piece take;
    void *arg;
    cardbox_error *err;
    export_counts counts;
    int64_t page; /* rows of the next page */
    buf line;
    bool stopped; /* the taker wants no more */
} exporter;

static void adapt_page(exporter *x, const store_rows *rows)
{
    size_t bytes = rows_bytes(rows);
    if (bytes > 2 * PAGE_BYTES)
        x->page = x->page > 1 ? x->page / 2 : 1;
    else if (bytes < PAGE_BYTES && x->page < PAGE_ROWS_MAX / 2)
        x->page *= 2;
}

/* --- lines --- */

static void add_time(buf *out, const char *name, bool has, int64_t micros)
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

static void add_text(buf *out, const char *name, view text)
{
    buf_printf(out, ",\"%s\":", name);
    if (text.ptr == NULL)
        buf_text(out, "null");
    else
        buf_json_string(out, text);
}

static void add_jsonb(buf *out, const char *name, view json)
{
    buf_printf(out, ",\"%s\":", name);
    if (json.ptr == NULL)
        buf_text(out, "null");
    else
        scan_compact(out, json);
}

/* Content to the byte. Line ends, which in JSON stand only between tokens, would break the line:
 * with any the text goes as a string. */
static void add_content(buf *out, view json)
{
    bool broken = json.len > 0 && (memchr(json.ptr, '\n', json.len) != NULL ||
                                   memchr(json.ptr, '\r', json.len) != NULL);
    if (json.ptr == NULL)
        return;
    if (broken) {
        add_text(out, "content_text", json);
        return;
    }
    buf_text(out, ",\"content\":");
    buf_view(out, json);
}

/* Hands over what there is. CARDBOX_OK also when the taker stops; see x->stopped. */
static cardbox_status hand_over(exporter *x)
{
    if (!buf_ok(&x->line))
        return error_buf(x->err, &x->line, "a line");
    x->stopped = !x->take(x->arg, (view){buf_str(&x->line), x->line.len}, &x->counts);
    buf_reset(&x->line, PAGE_BYTES);
    return CARDBOX_OK;
}

static cardbox_status finish_line(exporter *x, transfer_kind kind)
{
    buf_text(&x->line, "}\n");
    x->counts.of[kind]++;
    return hand_over(x);
}

/* --- cards --- */

/* Columns of STATEMENT_cards_export: those of card_row_read, and one more. */
enum { COL_CARD = 0, COL_DELETED = 9 };

static cardbox_status export_card(exporter *x, const store_rows *rows, int row)
{
    buf *out = &x->line;
    card_row card;
    card_row_read(&card, rows, row, COL_CARD);
    buf_text(out, "{\"kind\":\"card\"");
    add_text(out, "card_id", card.card_id);
    add_content(out, card.content);
    add_jsonb(out, "tool_calls", card.tool_calls);
    add_text(out, "tool_call_id", card.tool_call_id);
    buf_text(out, ",\"ttl_seconds\":");
    if (card.has_ttl)
        buf_int(out, card.ttl_seconds);
    else
        buf_text(out, "null");
    add_time(out, "expires_at", card.has_expiry, card.expires_micros);
    add_time(out, "deleted_at", !rows_null(rows, row, COL_DELETED),
             rows_micros(rows, row, COL_DELETED));
    add_jsonb(out, "metadata", card.metadata);
    add_time(out, "created_at", true, card.created_micros);
    if (card.sealed)
        buf_text(out, ",\"sealed\":true");
    buf_text(out, ",\"exact\":true");
    return finish_line(x, TRANSFER_CARD);
}

static cardbox_status export_cards(exporter *x)
{
    buf after = BUF_INIT(CARDBOX_CARD_ID_MAX);
    cardbox_status status = CARDBOX_OK;
    for (int count = -1; status == CARDBOX_OK && count != 0 && !x->stopped;) {
        store_rows *rows = NULL;
        params p;
        params_init(&p, 2 * CARDBOX_CARD_ID_MAX);
        params_text(&p, x->tenant);
        params_cstr(&p, count < 0 ? NULL : buf_str(&after));
        params_int8(&p, x->page);
        status = client_run(x->tx, STATEMENT_cards_export, &p, RUN_ONCE, &rows, x->err);
        params_free(&p);
        count = rows_count(rows);
        for (int row = 0; status == CARDBOX_OK && row < count && !x->stopped; row++)
            status = export_card(x, rows, row);
        if (status == CARDBOX_OK && count > 0) {
            buf_reset(&after, CARDBOX_CARD_ID_MAX);
            buf_view(&after, rows_text(rows, count - 1, COL_CARD));
            adapt_page(x, rows);
        }
        rows_free(rows);
    }
    buf_free(&after);
    return status;
}

/* --- boxes --- */

/* A row of STATEMENT_boxes_read in the order in which it is written: by box, head first, then the
 * runs of ids by their position. */
typedef struct box_part {
    int64_t ord, pos;
    int kind, row;
} box_part;

static int compare_parts(const void *left, const void *right)
{
    const box_part *a = left, *b = right;
    if (a->ord != b->ord)
        return a->ord < b->ord ? -1 : 1;
    if (a->kind != b->kind)
        return a->kind < b->kind ? -1 : 1;
    return a->pos < b->pos ? -1 : a->pos > b->pos;
}

/* The rows of a page of boxes in that order. NULL: no memory. */
static box_part *sort_parts(const store_rows *rows, size_t *count)
{
    *count = (size_t)rows_count(rows);
    box_part *parts = calloc(*count > 0 ? *count : 1, sizeof(*parts));
    if (parts == NULL)
        return NULL;
    for (size_t i = 0; i < *count; i++) {
        int row = (int)i;
        parts[i] = (box_part){.ord = rows_int8(rows, row, BOX_COL_ORD),
                              .pos = rows_int8(rows, row, BOX_COL_POS),
                              .kind = rows_int4(rows, row, BOX_COL_KIND),
                              .row = row};
    }
    qsort(parts, *count, sizeof(*parts), compare_parts);
    return parts;
}

/* Reads boxes, their ids from position `skip` on, at most `most` of each. */
static cardbox_status read_boxes(exporter *x, const uuid16 *ids, size_t count, int64_t skip,
                                 int64_t most, store_rows **rows)
{
    params p;
    box_read *reads = calloc(count, sizeof(*reads));
    if (reads == NULL)
        return error_nomem(x->err);
    for (size_t i = 0; i < count; i++) {
        reads[i] = (box_read)BOX_READ_INIT;
        reads[i].tenant = x->tenant;
        reads[i].box_id = ids[i];
        reads[i].skip = skip;
        reads[i].most = most;
    }
    params_init(&p, PAGE_ROWS_MAX * (CARDBOX_TENANT_MAX + 128));
    boxes_read_params(&p, reads, count);
    cardbox_status status = client_run(x->tx, STATEMENT_boxes_read, &p, RUN_ONCE, rows, x->err);
    params_free(&p);
    free(reads);
    return status;
}

/* Adds those ids of a run that lie in the range of the page: runs may reach out of it. */
static void add_run(buf *out, view ids, int64_t pos, const box_head *head)
{
    scan_value id;
    for (scan_walk walk = scan_enter(scan_whole(ids));
         pos < head->before && scan_element(&walk, &id); pos++) {
        if (pos < head->first)
            continue;
        buf_text(out, pos > 0 ? "," : "");
        buf_view(out, id.text);
    }
}

/* Writes the ids of the box whose head is parts[0]; gives how many parts are its. */
static size_t add_runs(exporter *x, const store_rows *rows, const box_part *parts, size_t count,
                       const box_head *head)
{
    size_t i = 1;
    for (; i < count && parts[i].ord == parts[0].ord; i++)
        add_run(&x->line, rows_jsonb(rows, parts[i].row, BOX_COL_IDS), parts[i].pos, head);
    return i;
}

/* The ids of a long box that were not on the page of boxes. */
static cardbox_status add_rest(exporter *x, const uuid16 *id, int64_t from, int64_t length)
{
    cardbox_status status = CARDBOX_OK;
    while (status == CARDBOX_OK && from < length && !x->stopped) {
        store_rows *rows = NULL;
        box_part *parts = NULL;
        box_head head;
        size_t count;
        if (x->line.len >= PIECE_BYTES)
            status = hand_over(x);
        if (status == CARDBOX_OK)
            status = read_boxes(x, id, 1, from, IDS_PAGE, &rows);
        if (status == CARDBOX_OK)
            parts = sort_parts(rows, &count);
        if (status == CARDBOX_OK && (parts == NULL || count == 0))
            status = error_nomem(x->err);
        if (status == CARDBOX_OK) {
            box_head_read(&head, rows, parts[0].row);
            add_runs(x, rows, parts, count, &head);
            from = head.before;
        }
        free(parts);
        rows_free(rows);
    }
    return status;
}

/* Writes the box whose head is parts[0]; gives how many parts are its. */
static cardbox_status export_box(exporter *x, const store_rows *rows, const box_part *parts,
                                 size_t count, const uuid16 *id, size_t *used)
{
    buf *out = &x->line;
    box_head head;
    char text[UUID_TEXT_SIZE];
    box_head_read(&head, rows, parts[0].row);
    uuid16_format(text, id);
    buf_printf(out, "{\"kind\":\"box\",\"box_id\":\"%s\",\"card_ids\":[", text);
    *used = add_runs(x, rows, parts, count, &head);
    cardbox_status status = add_rest(x, id, head.before, head.length);
    if (status != CARDBOX_OK || x->stopped)
        return status;
    buf_char(out, ']');
    add_jsonb(out, "parent_ids", head.parent_ids);
    add_time(out, "updated_at", true, head.updated_micros);
    if (head.created_micros != head.updated_micros)
        add_time(out, "created_at", true, head.created_micros);
    return finish_line(x, TRANSFER_BOX);
}

static cardbox_status export_parts(exporter *x, const store_rows *rows, const uuid16 *ids)
{
    size_t count, used = 0;
    box_part *parts = sort_parts(rows, &count);
    cardbox_status status = CARDBOX_OK;
    if (parts == NULL)
        return error_nomem(x->err);
    for (size_t i = 0; status == CARDBOX_OK && i < count && !x->stopped; i += used)
        status = export_box(x, rows, parts + i, count - i, &ids[parts[i].ord - 1], &used);
    free(parts);
    return status;
}

/* The ids of the next page of boxes, after *after unless that is NULL. */
static cardbox_status next_boxes(exporter *x, const uuid16 *after, uuid16 ids[PAGE_ROWS_MAX],
                                 int *count)
{
    store_rows *rows = NULL;
    params p;
    params_init(&p, 2 * CARDBOX_TENANT_MAX);
    params_text(&p, x->tenant);
    if (after == NULL)
        params_null(&p);
    else
        params_uuid(&p, after);
    params_int8(&p, x->page);
    cardbox_status status = client_run(x->tx, STATEMENT_boxes_export, &p, RUN_ONCE, &rows, x->err);
    params_free(&p);
    *count = rows_count(rows);
    for (int i = 0; i < *count; i++)
        ids[i] = rows_uuid(rows, i, 0);
    rows_free(rows);
    return status;
}

static cardbox_status export_boxes(exporter *x)
{
    uuid16 ids[PAGE_ROWS_MAX];
    const uuid16 *after = NULL;
    cardbox_status status = CARDBOX_OK;
    for (int count = 1; status == CARDBOX_OK && count > 0 && !x->stopped;) {
        store_rows *rows = NULL;
        status = next_boxes(x, after, ids, &count);
        if (status == CARDBOX_OK && count > 0) {
            after = &ids[count - 1];
            status = read_boxes(x, ids, (size_t)count, 0, IDS_FIRST, &rows);
        }
        if (rows != NULL) {
            status = export_parts(x, rows, ids);
            adapt_page(x, rows);
        }
        rows_free(rows);
    }
    return status;
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

cardbox_status export_run(cardbox *db, const char *tenant, export_piece take, void *arg,
                          cardbox_error *err)
{
    cardbox_error own = CARDBOX_ERROR_INIT;
    exporter x = {.tenant = view_of(tenant),
                  .take = take,
                  .arg = arg,
                  .err = err ? err : &own,
                  .page = PAGE_ROWS_FIRST,
                  .line = BUF_INIT(4 * TRANSFER_LINE_MAX)};
    if (!view_is_id(x.tenant, CARDBOX_TENANT_MAX))
        return error_set(x.err, CARDBOX_INVALID,
                         "the project must be 1 to %d bytes of UTF-8 without control characters",
                         CARDBOX_TENANT_MAX);
    cardbox_status status = client_begin(&x.tx, db, STATEMENT_begin_snapshot, x.err);
    if (status == CARDBOX_OK)
        status = count_lines(&x);
    if (status == CARDBOX_OK)
        status = hand_over(&x);
    if (status == CARDBOX_OK && !x.stopped)
        status = export_cards(&x);
    x.page = PAGE_ROWS_FIRST;
    if (status == CARDBOX_OK && !x.stopped)
        status = export_boxes(&x);
    cardbox_rollback(x.tx);
    buf_free(&x.line);
    return status;
}
