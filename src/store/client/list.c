/*
 * list.c: formats and parses the cursors of lists, and ends their pages.
 */
#include "store/client/list.h"

#include <inttypes.h>
#include <stdio.h>
#include "cardbox/limits.h"

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

/* Parses an integer that a '.' follows, and returns the text after the '.'. ptr NULL: the text is
 * malformed. */
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

/* --- pages --- */

int list_page_count(int *last, const store_rows *rows, int64_t limit)
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

static void end_page(buf *out, slice next)
{
    buf_char(out, ']');
    buf_member_text(out, "next_cursor", next);
    buf_char(out, '}');
}

void list_json_end(buf *out, const char *next, const arena *memory)
{
    end_page(out, slice_of(next));
    if (memory->failed)
        out->failure = BUF_NOMEM;
}

void list_json_end_at(buf *out, bool more, int64_t next)
{
    char text[24];
    snprintf(text, sizeof(text), "%" PRId64, next);
    end_page(out, slice_of(more ? text : NULL));
}
