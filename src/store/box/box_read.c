/*
 * box_read.c: parameters and rows of the statements that read boxes.
 */
#include "store/box/box_read.h"

#include <inttypes.h>
#include "base/errors.h"
#include "base/isotime.h"
#include "cardbox/limits.h"

/* Adds an int8 array of one member of each read; a negative value becomes NULL. */
static void put_int8_member(params *p, const box_read *reads, size_t count, size_t offset)
{
    params_array(p, PARAMS_INT8);
    for (size_t i = 0; i < count; i++) {
        int64_t value;
        memcpy(&value, (const char *)&reads[i] + offset, sizeof(value));
        params_int8_or_null(p, value >= 0, value);
    }
    params_array_end(p);
}

void boxes_read_params(params *p, const box_read *reads, size_t count)
{
    params_column(p, PARAMS_TEXT, reads, count, PARAMS_FIELD(box_read, tenant));
    params_column(p, PARAMS_UUID, reads, count, PARAMS_FIELD(box_read, box_id));
    params_column(p, PARAMS_INT4, reads, count, PARAMS_FIELD(box_read, want));
    put_int8_member(p, reads, count, offsetof(box_read, tail));
    put_int8_member(p, reads, count, offsetof(box_read, skip));
    put_int8_member(p, reads, count, offsetof(box_read, most));
    put_int8_member(p, reads, count, offsetof(box_read, at_version));
    put_int8_member(p, reads, count, offsetof(box_read, at_length));
    params_array(p, PARAMS_TIMESTAMPTZ);
    for (size_t i = 0; i < count; i++)
        params_timestamptz_or_null(p, reads[i].at_time, reads[i].at_micros);
    params_array_end(p);
}

static int64_t clamp(int64_t value, int64_t least, int64_t most)
{
    return value < least ? least : value > most ? most : value;
}

int64_t box_position(const store_rows *rows, int row)
{
    return clamp(rows_int8(rows, row, BOX_COL_POS), 0, INT64_MAX - BOX_RUN_MAX);
}

slice box_run_ids(const store_rows *rows, int row)
{
    slice ids = rows_jsonb(rows, row, BOX_COL_IDS);
    return ids.len > 0 && ids.ptr[0] == '[' ? ids : SLICE("[]");
}

/* Ensures 0 <= first <= before <= length in `out`, even if the row is damaged. */
void box_head_read(box_head *out, const store_rows *rows, int row)
{
    int64_t length = clamp(rows_int8(rows, row, BOX_COL_LENGTH), 0, INT64_MAX);
    int64_t first = clamp(rows_int8(rows, row, BOX_COL_FIRST), 0, length);

    *out = (box_head){
        .parent_ids = rows_jsonb(rows, row, BOX_COL_IDS),
        .version = rows_int8(rows, row, BOX_COL_VERSION),
        .length = length,
        .first = first,
        .before = clamp(rows_int8(rows, row, BOX_COL_BEFORE), first, length),
        .created_micros = rows_micros(rows, row, BOX_COL_CREATED),
        .updated_micros = rows_micros(rows, row, BOX_COL_UPDATED),
        .sealed = rows_bool(rows, row, BOX_COL_SEALED),
    };
}

cardbox_status box_no_such_version(const box_head *now, cardbox_error *err)
{
    char created[ISOTIME_SIZE] = "";
    if (now->created_micros != 0)
        isotime_format_micros(created, now->created_micros);
    return error_set(err, CARDBOX_NOT_FOUND,
                     "no such version of the box: it has versions 1 to %" PRId64
                     "%s%s, and %" PRId64 " ids now",
                     now->version, created[0] == '\0' ? "" : " since ", created, now->length);
}

/* --- lists --- */

static void put_box_cursor(params *p, const list_cursor *from)
{
    uuid16 box;
    params_timestamptz_or_null(p, from->given, from->micros);
    if (from->given && uuid16_parse(&box, from->id))
        params_uuid(p, &box);
    else
        params_null(p);
}

void boxes_list_params(params *p, const box_list *list)
{
    params_text(p, list->tenant);
    put_box_cursor(p, &list->from);
    params_int8(p, list->limit + 1);
    params_bool(p, list->preview);
}

void boxes_with_card_params(params *p, const box_list *list)
{
    params_text(p, list->tenant);
    params_text(p, list->card_id);
    params_int8(p, list->limit + 1);
    put_box_cursor(p, &list->from);
    params_int8(p, CARDBOX_BOXES_WALK_MAX);
    params_bool(p, list->preview);
}

/* Columns of boxes_list and boxes_with_card. Column 0 has the flags for list_page_count. */
enum {
    LIST_COL_BOX = 1,
    LIST_COL_VERSION,
    LIST_COL_LENGTH,
    LIST_COL_PARENTS,
    LIST_COL_CREATED,
    LIST_COL_UPDATED,
    LIST_COL_SEALED,
    LIST_COL_PREVIEW
};

slice box_list_preview(const store_rows *rows, int row)
{
    return rows_text(rows, row, LIST_COL_PREVIEW);
}

uuid16 box_list_read(box_head *out, const store_rows *rows, int row)
{
    *out = (box_head){.version = rows_int8(rows, row, LIST_COL_VERSION),
                      .length = rows_int8(rows, row, LIST_COL_LENGTH),
                      .parent_ids = rows_jsonb(rows, row, LIST_COL_PARENTS),
                      .created_micros = rows_micros(rows, row, LIST_COL_CREATED),
                      .updated_micros = rows_micros(rows, row, LIST_COL_UPDATED),
                      .sealed = rows_bool(rows, row, LIST_COL_SEALED)};
    return rows_uuid(rows, row, LIST_COL_BOX);
}

void box_page_read(box_page *out, const store_rows *rows, int64_t limit, arena *memory)
{
    int last;
    *out = (box_page){.count = list_page_count(&last, rows, limit)};
    if (last >= 0) {
        char id[UUID_TEXT_SIZE];
        uuid16 box = rows_uuid(rows, last, LIST_COL_BOX);
        uuid16_format(id, &box);
        out->next =
            list_cursor_text(memory, rows_micros(rows, last, LIST_COL_CREATED), slice_of(id));
    }
}

void box_log_params(params *p, const history *h)
{
    params_text(p, h->tenant);
    params_uuid(p, &h->box);
    params_int8(p, h->before);
    params_int8(p, h->limit + 1);
    params_int8_or_null(p, h->ids_max >= 0, h->ids_max);
}
