/*
 * export_boxes.c: writes the boxes of a project to an export, each with its current list of ids. A
 * long list is read in pages, so that memory is bounded.
 */
#include <stdlib.h>
#include "base/isotime.h"
#include "store/box/box_read.h"
#include "store/project/export_internal.h"

/* Maximum number of ids of each box that are read with a page of boxes, and of one box with each
 * further page of its ids. */
#define IDS_FIRST 512
#define IDS_PAGE  8192

/* An incomplete line is passed to the receiver when it has at least this number of bytes. */
#define PART_BYTES ((size_t)64 << 10)

/* A row of STATEMENT_boxes_read. Rows are written in this order: by box, first its head, then its
 * runs of ids by position. */
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

/* Returns the rows of a page of boxes in the order of compare_parts. NULL: out of memory. */
static box_part *sort_parts(const store_rows *rows, size_t *count)
{
    *count = (size_t)rows_count(rows);
    box_part *parts = calloc(*count > 0 ? *count : 1, sizeof(*parts));
    if (parts == NULL)
        return NULL;
    for (size_t i = 0; i < *count; i++) {
        int row = (int)i;
        parts[i] = (box_part){.ord = rows_int8(rows, row, BOX_COL_ORD),
                              .pos = box_position(rows, row),
                              .kind = rows_int4(rows, row, BOX_COL_KIND),
                              .row = row};
    }
    qsort(parts, *count, sizeof(*parts), compare_parts);
    return parts;
}

/* Reads boxes, each with at most `most` ids from position `skip` on. */
static cardbox_status read_boxes(exporter *x, const uuid16 *ids, size_t count, int64_t skip,
                                 int64_t most, store_rows **rows)
{
    params p = PARAMS_INIT;
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
    boxes_read_params(&p, reads, count);
    cardbox_status status = client_run(x->tx, STATEMENT_boxes_read, &p, RUN_ONCE, rows, x->err);
    free(reads);
    return status;
}

/* Adds the ids of a run that lie in the range of the page; a run may extend beyond it. A comma
 * precedes each id except the box's first. */
static void add_run(buf *out, slice ids, int64_t pos, const box_head *head, bool *any)
{
    scan_value id;
    for (scan_walk walk = scan_enter(scan_whole(ids));
         pos < head->before && scan_element(&walk, &id); pos++) {
        if (pos < head->first)
            continue;
        buf_text(out, *any ? "," : "");
        buf_slice(out, id.text);
        *any = true;
    }
}

/* Writes the ids of the box whose head is parts[0], and returns the number of its parts. *any: the
 * line of the box already has an id. */
static size_t add_runs(exporter *x, const store_rows *rows, const box_part *parts, size_t count,
                       const box_head *head, bool *any)
{
    size_t i = 1;
    for (; i < count && parts[i].ord == parts[0].ord; i++)
        add_run(&x->line, box_run_ids(rows, parts[i].row), parts[i].pos, head, any);
    return i;
}

/* Writes one more page of the ids of a long box, starting at *from, and sets *from to the position
 * after the page. *more: the page had ids. A page without ids ends the list, even if the box's
 * length is greater. */
static cardbox_status add_page(exporter *x, const uuid16 *id, int64_t *from, bool *any, bool *more)
{
    store_rows *rows = NULL;
    size_t count;
    cardbox_status status = read_boxes(x, id, 1, *from, IDS_PAGE, &rows);
    box_part *parts = status == CARDBOX_OK ? sort_parts(rows, &count) : NULL;
    *more = false;
    if (parts != NULL && count > 1 && parts[0].kind == BOX_HEAD) {
        box_head head;
        box_head_read(&head, rows, parts[0].row);
        add_runs(x, rows, parts, count, &head, any);
        *more = head.before > *from;
        *from = head.before;
    } else if (status == CARDBOX_OK && parts == NULL) {
        status = error_nomem(x->err);
    }
    free(parts);
    rows_free(rows);
    return status;
}

/* Writes the ids of a long box after the first IDS_FIRST, page by page. */
static cardbox_status add_rest(exporter *x, const uuid16 *id, int64_t from, int64_t length,
                               bool any)
{
    cardbox_status status = CARDBOX_OK;
    for (bool more = true; status == CARDBOX_OK && more && from < length && !x->stopped;) {
        status = add_page(x, id, &from, &any, &more);
        if (status == CARDBOX_OK && x->line.len >= PART_BYTES)
            status = export_hand_over(x);
        else if (status == CARDBOX_OK)
            x->stopped = !x->receive(x->arg, SLICE(""), &x->counts);
    }
    return status;
}

/* Writes the box whose head is parts[0]. `used` receives the number of its parts. */
static cardbox_status export_box(exporter *x, const store_rows *rows, const box_part *parts,
                                 size_t count, const uuid16 *id, size_t *used)
{
    buf *out = &x->line;
    box_head head;
    bool any = false;
    char text[UUID_TEXT_SIZE];
    box_head_read(&head, rows, parts[0].row);
    uuid16_format(text, id);
    buf_printf(out, "{\"kind\":\"box\",\"box_id\":\"%s\",\"card_ids\":[", text);
    *used = add_runs(x, rows, parts, count, &head, &any);
    cardbox_status status = *used > 1 ? add_rest(x, id, head.before, head.length, any) : CARDBOX_OK;
    if (status != CARDBOX_OK || x->stopped)
        return status;
    buf_text(out, "],\"parent_ids\":");
    scan_compact(out, head.parent_ids);
    isotime_member(out, "updated_at", head.updated_micros);
    if (head.created_micros != head.updated_micros)
        isotime_member(out, "created_at", head.created_micros);
    buf_text(out, head.sealed ? ",\"sealed\":true" : "");
    return export_line(x, TRANSFER_BOX);
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

/* Reads the box ids of the next page: those after *after; NULL: the first page. */
static cardbox_status next_boxes(exporter *x, const uuid16 *after, uuid16 ids[EXPORT_ROWS_MAX],
                                 int *count)
{
    store_rows *rows = NULL;
    params p = PARAMS_INIT;
    params_text(&p, x->tenant);
    if (after == NULL)
        params_null(&p);
    else
        params_uuid(&p, after);
    params_int8(&p, x->page);
    cardbox_status status = client_run(x->tx, STATEMENT_boxes_export, &p, RUN_ONCE, &rows, x->err);
    *count = rows_count(rows);
    for (int i = 0; i < *count; i++)
        ids[i] = rows_uuid(rows, i, 0);
    rows_free(rows);
    return status;
}

cardbox_status export_boxes(exporter *x)
{
    uuid16 ids[EXPORT_ROWS_MAX];
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
            export_adapt_page(x, rows);
        }
        rows_free(rows);
    }
    return status;
}
