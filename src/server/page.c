/*
 * page.c: limit, cursor and end of a page. A page asks for a row more than it shows: it tells that
 * there is a next one.
 */
#include "server/page.h"

#include <inttypes.h>
#include <stdio.h>
#include "base/isotime.h"
#include "base/scan.h"

int64_t page_limit(const field_value *limit)
{
    return limit->given ? limit->number : LIMIT_DEFAULT;
}

static void bad_cursor(request *r)
{
    fault_answer_shape(r, VIEW("{\"type\":\"value_error\",\"loc\":[\"query\",\"cursor\"],"
                               "\"msg\":\"Input should be the next_cursor of a page\"}"));
}

bool page_cursor(request *r, list_cursor *out, const field_value *cursor,
                 bool (*read)(list_cursor *out, view text, arena *memory))
{
    if (!cursor->given || read(out, cursor->text, &r->memory))
        return true;
    if (r->memory.failed)
        fault_answer(r, FAULT_UNAVAILABLE, NULL, "out of memory");
    else
        bad_cursor(r);
    return false;
}

enum { P_LIMIT, P_CURSOR, PAGE_FIELDS };

static const field PAGE[PAGE_FIELDS] = {
    [P_LIMIT] = PAGE_LIMIT_FIELD, [P_CURSOR] = PAGE_CURSOR_FIELD};

static bool read_number(view text, int64_t *out)
{
    *out = 0;
    if (text.len == 0 || text.len > 18)
        return false;
    for (size_t i = 0; i < text.len; i++) {
        if (text.ptr[i] < '0' || text.ptr[i] > '9')
            return false;
        *out = *out * 10 + (text.ptr[i] - '0');
    }
    return *out > 0;
}

history *page_history(request *r)
{
    field_value *query = handler_read_query(r, PAGE, PAGE_FIELDS, false);
    history *h = query == NULL ? NULL : handler_take(r, 1, sizeof(*h));
    if (h == NULL)
        return NULL;
    *h = (history){.tenant = request_tenant(r),
                   .before = INT64_MAX,
                   .limit = page_limit(&query[P_LIMIT]),
                   .ids_max = -1};
    if (query[P_CURSOR].given && !read_number(query[P_CURSOR].text, &h->before)) {
        bad_cursor(r);
        return NULL;
    }
    return h;
}

box_list *page_of_boxes(request *r)
{
    field_value *query = handler_read_query(r, PAGE, PAGE_FIELDS, false);
    box_list *list = query == NULL ? NULL : handler_take(r, 1, sizeof(*list));
    if (list == NULL)
        return NULL;
    *list = (box_list){.tenant = request_tenant(r), .limit = page_limit(&query[P_LIMIT])};
    return page_cursor(r, &list->from, &query[P_CURSOR], list_cursor_read_box) ? list : NULL;
}

bool page_check_budget(request *r, const store_rows *rows)
{
    if (rows_bytes(rows) <= (size_t)r->shared->set->response_max)
        return true;
    fault_answer_budget(r);
    return false;
}

void page_end(request *r, const char *next)
{
    buf *out = request_body(r);
    buf_text(out, "],\"next_cursor\":");
    if (next == NULL)
        buf_text(out, "null}");
    else
        buf_printf(out, "\"%s\"}", next);
    if (r->memory.failed)
        fault_answer(r, FAULT_UNAVAILABLE, NULL, "out of memory");
    else
        fault_or_answer(r);
}

void page_end_numbered(request *r, int64_t next)
{
    char text[24];
    snprintf(text, sizeof(text), "%" PRId64, next);
    page_end(r, next == 0 ? NULL : text);
}

void page_time(buf *out, const char *name, int64_t micros)
{
    char text[ISOTIME_SIZE];
    isotime time;
    isotime_from_micros(&time, micros);
    isotime_format(text, &time);
    buf_text(out, name);
    buf_char(out, '"');
    buf_text(out, text);
    buf_char(out, '"');
}

static void add_box(buf *out, const store_rows *rows, int row, const char *id)
{
    buf_printf(out, "%s{\"box_id\":\"%s\",\"version\":", row == 0 ? "" : ",", id);
    buf_int(out, rows_int8(rows, row, LIST_COL_VERSION));
    buf_text(out, ",\"length\":");
    buf_int(out, rows_int8(rows, row, LIST_COL_LENGTH));
    buf_text(out, ",\"parent_ids\":");
    scan_compact(out, rows_jsonb(rows, row, LIST_COL_PARENTS));
    page_time(out, ",\"created_at\":", rows_micros(rows, row, LIST_COL_CREATED));
    page_time(out, ",\"updated_at\":", rows_micros(rows, row, LIST_COL_UPDATED));
    buf_char(out, '}');
}

void page_render_boxes(request *r, const join_rows *found, int time_column)
{
    const box_list *list = r->ticket.keys;
    const store_rows *rows = found->rows;
    const char *next = NULL;
    buf *out = request_body(r);
    if (!page_check_budget(r, rows))
        return;
    buf_text(out, "{\"boxes\":[");
    for (int row = 0; row < rows_count(rows) && row < list->limit; row++) {
        char id[UUID_TEXT_SIZE];
        uuid16 box = rows_uuid(rows, row, LIST_COL_BOX);
        uuid16_format(id, &box);
        add_box(out, rows, row, id);
        if (row + 1 == list->limit && rows_count(rows) > list->limit)
            next = list_cursor_text(&r->memory, rows_micros(rows, row, time_column), view_of(id));
    }
    page_end(r, next);
}
