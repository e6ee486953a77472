/*
 * list_json.c: pages of lists as JSON. The statement of a list returns one row more than the page's
 * limit if there is a next page.
 */
#include "store/list_json.h"

#include <inttypes.h>
#include <stdio.h>
#include "base/isotime.h"
#include "base/scan.h"
#include "store/card/card_json.h"
#include "store/admin/projects.h"

static void add_time(buf *out, const char *name, int64_t micros)
{
    buf_text(out, name);
    isotime_json_micros(out, micros);
}

void list_json_end(buf *out, const char *next)
{
    buf_text(out, "],\"next_cursor\":");
    buf_json_text(out, next);
    buf_char(out, '}');
}

/* Same, for a cursor from an arena: if the arena has failed, so has `out`. */
static void end_page(buf *out, const char *next, const arena *memory)
{
    list_json_end(out, next);
    if (memory->failed)
        out->failure = BUF_NOMEM;
}

void list_json_end_at(buf *out, bool more, int64_t next)
{
    char text[24];
    snprintf(text, sizeof(text), "%" PRId64, next);
    list_json_end(out, more ? text : NULL);
}

/* --- projects --- */

void list_json_projects(buf *out, const store_rows *rows, int64_t limit, arena *memory)
{
    int count = rows_count(rows);
    buf_text(out, "{\"projects\":[");
    for (int row = 0; row < count && row < limit; row++) {
        buf_text(out, row == 0 ? "" : ",");
        project_json(out, rows, row);
    }
    end_page(out, projects_next(rows, limit, memory), memory);
}

/* --- cards --- */

void list_json_cards(buf *out, const store_rows *rows, int64_t limit, slice tenant, arena *memory)
{
    card_page page;
    card_page_read(&page, rows, limit);
    buf_text(out, "{\"cards\":[");
    for (int row = 0; row < page.count; row++) {
        card_row card;
        card_row_read(&card, rows, row, CARD_FIRST);
        buf_text(out, row == 0 ? "" : ",");
        card_json(out, &card, tenant);
    }
    end_page(out, page.next.given ? list_cursor_text(memory, page.next.micros, page.next.id) : NULL,
             memory);
}

void list_json_revisions(buf *out, const store_rows *rows, int64_t limit, slice tenant)
{
    int64_t number = 0;
    int count = rows_count(rows);
    buf_text(out, "{\"revisions\":[");
    for (int row = 0; row < count && row < limit && !rows_null(rows, row, REVISION_COL_NUMBER);
         row++) {
        card_row card;
        number = rows_int8(rows, row, REVISION_COL_NUMBER);
        card_row_read(&card, rows, row, REVISION_COL_CARD);
        buf_printf(out, "%s{\"revision\":", row == 0 ? "" : ",");
        buf_int(out, number);
        add_time(out, ",\"replaced_at\":", rows_micros(rows, row, REVISION_COL_AT));
        buf_text(out, ",\"card\":");
        card_json(out, &card, tenant);
        buf_char(out, '}');
    }
    list_json_end_at(out, count > limit, number);
}

/* --- boxes --- */

static void add_box(buf *out, const store_rows *rows, int row)
{
    char id[UUID_TEXT_SIZE];
    uuid16 box = rows_uuid(rows, row, LIST_COL_BOX);
    uuid16_format(id, &box);
    buf_printf(out, "%s{\"box_id\":\"%s\",\"version\":", row == 0 ? "" : ",", id);
    buf_int(out, rows_int8(rows, row, LIST_COL_VERSION));
    buf_text(out, ",\"length\":");
    buf_int(out, rows_int8(rows, row, LIST_COL_LENGTH));
    buf_text(out, ",\"parent_ids\":");
    scan_compact(out, rows_jsonb(rows, row, LIST_COL_PARENTS));
    add_time(out, ",\"created_at\":", rows_micros(rows, row, LIST_COL_CREATED));
    add_time(out, ",\"updated_at\":", rows_micros(rows, row, LIST_COL_UPDATED));
    buf_char(out, '}');
}

void list_json_boxes(buf *out, const store_rows *rows, int64_t limit, arena *memory)
{
    box_page page;
    box_page_read(&page, rows, limit, memory);
    buf_text(out, "{\"boxes\":[");
    for (int row = 0; row < page.count; row++)
        add_box(out, rows, row);
    end_page(out, page.next, memory);
}

static void add_change(buf *out, const store_rows *rows, int row)
{
    buf_printf(out, "%s{\"version\":", row == 0 ? "" : ",");
    buf_int(out, rows_int8(rows, row, LOG_COL_VERSION));
    buf_text(out, ",\"op\":");
    buf_json_string(out, rows_text(rows, row, LOG_COL_OP));
    buf_text(out, ",\"added\":");
    buf_int(out, rows_int8(rows, row, LOG_COL_ADDED));
    buf_text(out, ",\"length\":");
    buf_int(out, rows_int8(rows, row, LOG_COL_LENGTH));
    buf_text(out, ",\"append_key\":");
    buf_json_or_null(out, rows_text(rows, row, LOG_COL_KEY));
    add_time(out, ",\"at\":", rows_micros(rows, row, LOG_COL_AT));
    buf_text(out, ",\"card_ids\":");
    if (rows_null(rows, row, LOG_COL_IDS))
        buf_text(out, "null");
    else
        scan_compact(out, rows_jsonb(rows, row, LOG_COL_IDS));
    buf_char(out, '}');
}

void list_json_log(buf *out, const store_rows *rows, int64_t limit)
{
    int64_t version = 0;
    int count = rows_count(rows);
    buf_text(out, "{\"log\":[");
    for (int row = 0; row < count && row < limit && !rows_null(rows, row, LOG_COL_VERSION); row++) {
        version = rows_int8(rows, row, LOG_COL_VERSION);
        add_change(out, rows, row);
    }
    list_json_end_at(out, count > limit, version);
}

void list_json_change(buf *out, const uuid16 *box, const box_change *change)
{
    char id[UUID_TEXT_SIZE];
    uuid16_format(id, box);
    buf_printf(out, "{\"box_id\":\"%s\",\"version\":", id);
    buf_int(out, change->version);
    buf_text(out, ",\"length\":");
    buf_int(out, change->length);
    buf_char(out, '}');
}
