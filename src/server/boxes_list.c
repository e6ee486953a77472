/*
 * boxes_list.c: pages of boxes without their ids, and of the changes of one box.
 */
#include "base/scan.h"
#include "base/uuid.h"
#include "server/page.h"

/* A change that added more ids than this is shown without them: ?at_version= gives the list. */
enum { LOG_IDS_MAX = 1000 };

/* --- boxes --- */

static void build_boxes(params *p, const void *keys)
{
    boxes_list_params(p, keys);
}

static void render_boxes(request *r, const join_rows *found)
{
    page_render_boxes(r, found, LIST_COL_CREATED);
}

void handle_list_boxes(request *r)
{
    box_list *list = page_of_boxes(r);
    if (list != NULL)
        handler_run(r, JOIN_READ_ALONE, STATEMENT_boxes_list, build_boxes, list, render_boxes);
}

/* --- changes --- */

static void add_change(buf *out, const store_rows *rows, int row)
{
    view key = rows_text(rows, row, LOG_COL_KEY);
    buf_printf(out, "%s{\"version\":", row == 0 ? "" : ",");
    buf_int(out, rows_int8(rows, row, LOG_COL_VERSION));
    buf_text(out, ",\"op\":");
    buf_json_string(out, rows_text(rows, row, LOG_COL_OP));
    buf_text(out, ",\"added\":");
    buf_int(out, rows_int8(rows, row, LOG_COL_ADDED));
    buf_text(out, ",\"length\":");
    buf_int(out, rows_int8(rows, row, LOG_COL_LENGTH));
    buf_text(out, ",\"append_key\":");
    if (key.ptr == NULL)
        buf_text(out, "null");
    else
        buf_json_string(out, key);
    page_time(out, ",\"at\":", rows_micros(rows, row, LOG_COL_AT));
    buf_text(out, ",\"card_ids\":");
    if (rows_null(rows, row, LOG_COL_IDS))
        buf_text(out, "null");
    else
        scan_compact(out, rows_jsonb(rows, row, LOG_COL_IDS));
    buf_char(out, '}');
}

static void render_log(request *r, const join_rows *found)
{
    const history *h = r->ticket.keys;
    const store_rows *rows = found->rows;
    int count = rows_count(rows);
    int64_t version = 0;
    if (count == 0) {
        fault_answer(r, FAULT_NOT_FOUND, NULL, "box not found");
        return;
    }
    if (!page_check_budget(r, found->rows))
        return;
    buf_text(request_body(r), "{\"log\":[");
    for (int row = 0; row < count && row < h->limit && !rows_null(rows, row, LOG_COL_VERSION);
         row++) {
        version = rows_int8(rows, row, LOG_COL_VERSION);
        add_change(request_body(r), rows, row);
    }
    page_end_numbered(r, count > h->limit ? version : 0);
}

static void build_log(params *p, const void *keys)
{
    box_log_params(p, keys);
}

void handle_box_log(request *r)
{
    history *h = page_history(r);
    if (h == NULL || !handler_box(r, &h->box))
        return;
    h->ids_max = LOG_IDS_MAX;
    handler_run(r, JOIN_READ_ALONE, STATEMENT_box_log, build_log, h, render_log);
}
