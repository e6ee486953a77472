/*
 * box_json.c: boxes and their lists as JSON; sorts the rows of a box. If all 64 ids of a run were
 * requested, the run is copied as a whole.
 */
#include "store/box/box_json.h"
#include <stdlib.h>
#include "base/isotime.h"
#include "base/scan.h"
#include "store/card/card_json.h"

/* --- rows in order --- */

static int compare_positions(const void *a, const void *b)
{
    const box_row *one = a, *other = b;
    return (one->pos > other->pos) - (one->pos < other->pos);
}

void box_rows_sort(box_row *rows, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        if (rows[i].pos < rows[i - 1].pos) {
            qsort(rows, count, sizeof(*rows), compare_positions);
            return;
        }
    }
}

bool box_view_read(box_view *out, const store_rows *from, const int *index, size_t count,
                   arena *memory)
{
    size_t runs = 0, cards = 0;
    box_row *rows = arena_take(memory, (count + 1) * sizeof(*rows));
    *out = (box_view){.rows = from};
    if (rows == NULL)
        return false;
    /* Runs are stored from the front of the array, cards from its end. */
    for (size_t i = 0; i < count; i++) {
        int32_t kind = rows_int4(from, index[i], BOX_COL_KIND);
        box_row here = {box_position(from, index[i]), from, index[i]};
        if (kind == BOX_HEAD) {
            box_head_read(&out->head, from, index[i]);
            out->exists = true;
        } else if (kind == BOX_IDS) {
            rows[runs++] = here;
        } else {
            rows[count - ++cards] = here;
        }
    }
    box_rows_sort(rows, runs);
    box_rows_sort(rows + count - cards, cards);
    out->runs = rows;
    out->run_count = runs;
    out->cards = rows + count - cards;
    out->card_count = cards;
    return true;
}

bool box_view_first(box_view *out, box_head *now, const store_rows *from, arena *memory)
{
    int *index = arena_zeros(memory, (size_t)rows_count(from) + 1, sizeof(*index));
    size_t count = 0;
    *now = (box_head){.version = 0};
    for (int row = 0; index != NULL && row < rows_count(from); row++) {
        if (rows_int8(from, row, BOX_COL_ORD) == 1)
            index[count++] = row;
        else if (rows_int4(from, row, BOX_COL_KIND) == BOX_HEAD)
            box_head_read(now, from, row);
    }
    return index != NULL && box_view_read(out, from, index, count, memory);
}

/* --- ids --- */

/* Adds the elements `first` to `last` - 1 of a run, counted from 0. */
static void add_run_part(buf *out, slice run, int64_t first, int64_t last)
{
    scan_value item, list = {SCAN_ARRAY, run};
    int64_t index = 0;
    for (scan_walk walk = scan_enter(list); index < last && scan_element(&walk, &item); index++) {
        if (index < first)
            continue;
        buf_comma(out);
        buf_slice(out, item.text);
    }
}

/* Adds the ids at the positions `first` to `before` - 1 of the box. Runs may begin before this
 * range and end after it. */
static void add_ids(buf *out, const box_view *box, int64_t first, int64_t before)
{
    for (size_t i = 0; i < box->run_count; i++) {
        int64_t start = box->runs[i].pos, from = first > start ? first - start : 0;
        bool last = i + 1 == box->run_count || box->runs[i + 1].pos >= before;
        slice run = box_run_ids(box->runs[i].rows, box->runs[i].row);
        if (from > 0 || (last && before - start < BOX_RUN_MAX)) {
            add_run_part(out, run, from, last ? before - start : BOX_RUN_MAX);
        } else if (run.len > 2) {
            buf_comma(out);
            scan_compact(out, (slice){run.ptr + 1, run.len - 2});
        }
        if (last)
            return;
    }
}

static void begin_object(buf *out, const uuid16 *box)
{
    char id[UUID_TEXT_SIZE];
    uuid16_format(id, box);
    buf_char(out, '{');
    buf_member_text(out, "box_id", slice_of(id));
}

void box_view_start(buf *out, const uuid16 *id)
{
    begin_object(out, id);
    buf_text(out, ",\"card_ids\":[");
}

bool box_view_is_whole(const box_view *box)
{
    int64_t next = box->head.first / BOX_RUN_MAX * BOX_RUN_MAX;
    size_t i = 0;

    for (; i < box->run_count && next < box->head.before; i++, next += BOX_RUN_MAX)
        if (box->runs[i].pos != next || box_run_ids(box->runs[i].rows, box->runs[i].row).len <= 2)
            return false;
    return next >= box->head.before;
}

void box_view_ids(buf *out, const box_view *box)
{
    if (box->head.first > 0)
        buf_char(out, ',');
    add_ids(out, box, box->head.first, box->head.before);
}

void box_view_all_ids(buf *out, const box_view *box)
{
    add_ids(out, box, 0, box->head.length);
}

static void add_members(buf *out, const box_head *head)
{
    buf_member_int(out, "version", head->version);
    buf_member_int(out, "length", head->length);
    buf_name(out, "parent_ids");
    scan_compact(out, head->parent_ids);
    isotime_member(out, "created_at", head->created_micros);
    isotime_member(out, "updated_at", head->updated_micros);
    buf_text(out, head->sealed ? ",\"sealed\":true" : ",\"sealed\":false");
}

static void end_object(buf *out, const box_head *head)
{
    add_members(out, head);
    buf_char(out, '}');
}

void box_view_end(buf *out, const box_head *head)
{
    buf_char(out, ']');
    end_object(out, head);
}

void box_view_object(buf *out, const box_view *box, const uuid16 *id)
{
    box_view_start(out, id);
    add_ids(out, box, box->head.first, box->head.before);
    box_view_end(out, &box->head);
}

/* --- cards --- */

bool box_view_card(buf *out, const box_row *card, slice tenant)
{
    card_row found;
    if (rows_null(card->rows, card->row, BOX_COL_CONTENT))
        return false;
    card_row_read(&found, card->rows, card->row, BOX_COL_CARD);
    buf_comma(out);
    card_json(out, &found, tenant);
    return true;
}

size_t box_view_cards(buf *out, const box_view *box, slice tenant)
{
    size_t absent = 0;
    for (size_t i = 0; i < box->card_count; i++)
        absent += !box_view_card(out, &box->cards[i], tenant);
    return absent;
}

/* --- lists --- */

void list_json_boxes(buf *out, const store_rows *rows, int64_t limit, bool preview, arena *memory)
{
    box_page page;
    box_page_read(&page, rows, limit, memory);
    buf_text(out, "{\"boxes\":[");
    for (int row = 0; row < page.count; row++) {
        box_head head;
        uuid16 box = box_list_read(&head, rows, row);
        buf_comma(out);
        begin_object(out, &box);
        add_members(out, &head);
        if (preview)
            buf_member(out, "preview", box_list_preview(rows, row));
        buf_char(out, '}');
    }
    list_json_end(out, page.next, memory);
}

static void add_change(buf *out, const store_rows *rows, int row)
{
    buf_comma(out);
    buf_char(out, '{');
    buf_member_int(out, "version", rows_int8(rows, row, LOG_COL_VERSION));
    buf_member_text(out, "op", rows_text(rows, row, LOG_COL_OP));
    buf_member_int(out, "added", rows_int8(rows, row, LOG_COL_ADDED));
    buf_member_int(out, "length", rows_int8(rows, row, LOG_COL_LENGTH));
    buf_member_text(out, "append_key", rows_text(rows, row, LOG_COL_KEY));
    isotime_member(out, "at", rows_micros(rows, row, LOG_COL_AT));
    buf_name(out, "card_ids");
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
    begin_object(out, box);
    buf_member_int(out, "version", change->version);
    buf_member_int(out, "length", change->length);
    buf_char(out, '}');
}
