/*
 * half_pairs.c: looks at the escapes \uXXXX of a JSON text. All other bytes are copied.
 */
#include "worker/model/half_pairs.h"

enum { ESCAPE_LEN = 6 };

static slice after(slice text, size_t count)
{
    return (slice){text.ptr + count, text.len - count};
}

/* The UTF-16 code unit of the escape that `text` begins with; -1: it begins with none. */
static int code_unit(slice text)
{
    int unit = 0;

    if (text.len < ESCAPE_LEN || text.ptr[0] != '\\' || text.ptr[1] != 'u')
        return -1;
    for (int i = 2; i < ESCAPE_LEN; i++) {
        int digit = slice_hex_digit(text.ptr[i]);
        if (digit < 0)
            return -1;
        unit = unit * 16 + digit;
    }
    return unit;
}

static bool is_high(int unit)
{
    return unit >= 0xD800 && unit <= 0xDBFF;
}

static bool is_low(int unit)
{
    return unit >= 0xDC00 && unit <= 0xDFFF;
}

/* Appends the escape at the start of `text`, or what stands for it. Returns how many bytes of
 * `text` that covers. */
static size_t add_escape(buf *out, char half[5], slice text, bool begins_string)
{
    int unit = code_unit(text);

    if (unit < 0) { /* \n and its like; a text that ends here is not JSON */
        size_t len = text.len < 2 ? text.len : 2;
        buf_add(out, text.ptr, len);
        return len;
    }
    slice next = after(text, ESCAPE_LEN);
    if (is_high(unit) && is_low(code_unit(next))) {
        buf_add(out, text.ptr, (size_t)2 * ESCAPE_LEN);
        return (size_t)2 * ESCAPE_LEN;
    }
    if (is_high(unit) && next.len > 0 && next.ptr[0] == '"') {
        memcpy(half, text.ptr + 2, 4);
    } else if (is_low(unit) && begins_string && half[0] != '\0') {
        buf_printf(out, "\\u%.4s%.6s", half, text.ptr);
        half[0] = '\0';
    } else {
        bool is_text = unit != 0 && !is_high(unit) && !is_low(unit);
        buf_add(out, is_text ? text.ptr : "\\ufffd", ESCAPE_LEN);
    }
    return ESCAPE_LEN;
}

void half_pairs_join(buf *out, char half[5], slice json)
{
    bool begins_string = false;

    while (json.len > 0) {
        const char *escape = memchr(json.ptr, '\\', json.len);
        size_t len = escape != NULL ? (size_t)(escape - json.ptr) : json.len;
        buf_add(out, json.ptr, len);
        begins_string = len > 0 && json.ptr[len - 1] == '"';
        json = after(json, len);
        if (json.len > 0)
            json = after(json, add_escape(out, half, json, begins_string));
    }
}
