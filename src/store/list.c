/*
 * list.c: builds the parameters of list statements, and formats and parses page cursors.
 */
#include "store/list.h"

#include <inttypes.h>
#include <stdio.h>
#include "cardbox/limits.h"
#include "store/read.h"

/* --- cursors --- */

const char *list_cursor_text(arena *memory, int64_t micros, slice id)
{
    size_t size = 24 + 2 * id.len;
    char *cursor = arena_take(memory, size);
    if (cursor == NULL)
        return NULL;
    int at = snprintf(cursor, size, "%" PRId64 ".", micros);
    for (size_t i = 0; i < id.len; i++)
        at += snprintf(cursor + at, size - (size_t)at, "%02x", (unsigned char)id.ptr[i]);
    return cursor;
}

bool list_number_read(int64_t *out, slice text)
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

/* Parses an integer that ends at a '.', and returns the text after that. ptr NULL: malformed. */
static slice read_micros(slice text, int64_t *micros)
{
    const slice bad = {NULL, 0};
    bool negative = text.len > 0 && text.ptr[0] == '-';
    size_t at = negative ? 1 : 0, first = at;
    uint64_t value = 0, most = (uint64_t)INT64_MAX + negative;
    for (; at < text.len && text.ptr[at] >= '0' && text.ptr[at] <= '9'; at++) {
        uint64_t digit = (uint64_t)(text.ptr[at] - '0');
        if (value > (most - digit) / 10)
            return bad;
        value = value * 10 + digit;
    }
    if (at == first || at == text.len || text.ptr[at] != '.')
        return bad;
    *micros = negative ? (int64_t)(0 - value) : (int64_t)value;
    return (slice){text.ptr + at + 1, text.len - at - 1};
}

static bool read_id(slice *out, slice hex, arena *memory)
{
    size_t len = hex.len / 2;
    if (hex.len % 2 != 0 || len == 0 || len > CARDBOX_CARD_ID_MAX)
        return false;
    char *id = arena_take(memory, len + 1);
    if (id == NULL)
        return false;
    for (size_t i = 0; i < len; i++) {
        int high = slice_hex_digit(hex.ptr[2 * i]), low = slice_hex_digit(hex.ptr[2 * i + 1]);
        if (high < 0 || low < 0)
            return false;
        id[i] = (char)(high * 16 + low);
    }
    id[len] = '\0';
    *out = (slice){id, len};
    return slice_is_id(*out, CARDBOX_CARD_ID_MAX);
}

bool list_cursor_read(list_cursor *out, slice text, arena *memory)
{
    *out = (list_cursor){.given = true};
    slice hex = read_micros(text, &out->micros);
    return hex.ptr != NULL && read_id(&out->id, hex, memory);
}

bool list_cursor_read_box(list_cursor *out, slice text, arena *memory)
{
    uuid16 box;
    return list_cursor_read(out, text, memory) && uuid16_parse(&box, out->id);
}

/* --- cards --- */

static void put_call_ids(params *p, const card_list *list)
{
    if (list->call_count == 0) {
        params_null(p);
        return;
    }
    params_column(p, PARAMS_TEXT, list->call_ids, list->call_count, sizeof(slice), 0);
}

static void put_matches(params *p, const card_list *list)
{
    buf json = BUF_INIT((size_t)CARDBOX_FILTERS_MAX * 16 * CARDBOX_KEY_MAX);
    if (list->match_count == 0) {
        params_null(p);
        return;
    }
    for (size_t i = 0; i < list->match_count; i++) {
        buf_char(&json, i == 0 ? '{' : ',');
        buf_json_string(&json, list->matches[i].key);
        buf_char(&json, ':');
        buf_json_string(&json, list->matches[i].value);
    }
    buf_char(&json, '}');
    params_jsonb(p, buf_as_slice(&json));
    params_made_of(p, &json);
    buf_free(&json);
}

void cards_list_params(params *p, const card_list *list)
{
    params_text(p, list->tenant);
    params_text_or_null(p, list->step_id);
    params_text_or_null(p, list->type);
    params_text_or_null(p, list->trace_id);
    params_text_or_null(p, list->agent_turn_id);
    params_text_or_null(p, list->role);
    put_call_ids(p, list);
    put_matches(p, list);
    params_timestamptz_or_null(p, list->has_after, list->after_micros);
    params_timestamptz_or_null(p, list->has_before, list->before_micros);
    params_timestamptz_or_null(p, list->from.given, list->from.micros);
    params_text_or_null(p, list->from.id);
    params_int8(p, list->limit + 1);
    params_int8(p, CARDBOX_LIST_WALK_MAX);
}

/* Returns how many rows belong to the page. The first column of the last row is a set of flags.
 * FITS: the row matches the filters. ENDS_WALK: the limit of scanned rows ended the list there.
 * `last`: the row after which the next page begins; negative: this is the last page. */
static int page_count(int *last, const store_rows *rows, int64_t limit)
{
    enum { COL_BITS = 0, FITS = 1, ENDS_WALK = 2 };
    int count = rows_count(rows);
    int64_t bits = count > 0 ? rows_int8(rows, count - 1, COL_BITS) : FITS;
    *last = (bits & ENDS_WALK) != 0 ? count - 1 : -1;
    if ((bits & FITS) == 0)
        count--;
    if (count > limit) {
        count = (int)limit;
        *last = count - 1;
    }
    return count;
}

void card_page_read(card_page *out, const store_rows *rows, int64_t limit)
{
    int last;
    *out = (card_page){.count = page_count(&last, rows, limit)};
    if (last >= 0) {
        card_row card;
        card_row_read(&card, rows, last, CARD_FIRST);
        out->next = (list_cursor){true, card.created_micros, card.card_id};
    }
}

/* --- boxes --- */

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
}

void boxes_with_card_params(params *p, const box_list *list)
{
    params_text(p, list->tenant);
    params_text(p, list->card_id);
    params_int8(p, list->limit + 1);
    put_box_cursor(p, &list->from);
    params_int8(p, CARDBOX_BOXES_WALK_MAX);
}

void box_page_read(box_page *out, const store_rows *rows, int64_t limit, arena *memory)
{
    int last;
    *out = (box_page){.count = page_count(&last, rows, limit)};
    if (last >= 0) {
        char id[UUID_TEXT_SIZE];
        uuid16 box = rows_uuid(rows, last, LIST_COL_BOX);
        uuid16_format(id, &box);
        out->next =
            list_cursor_text(memory, rows_micros(rows, last, LIST_COL_CREATED), slice_of(id));
    }
}

/* --- histories --- */

void card_revisions_params(params *p, const history *h)
{
    params_text(p, h->tenant);
    params_text(p, h->card_id);
    params_int8(p, h->before);
    params_int8(p, h->limit + 1);
}

void box_log_params(params *p, const history *h)
{
    params_text(p, h->tenant);
    params_uuid(p, &h->box);
    params_int8(p, h->before);
    params_int8(p, h->limit + 1);
    params_int8_or_null(p, h->ids_max >= 0, h->ids_max);
}
