/*
 * scan_compare.c: compares JSON values by meaning: numbers by value, strings with their escapes
 * decoded, objects with their members in any order. The function scan_check must have accepted the
 * texts: its limit of depth also limits the recursion.
 */
#include "base/scan.h"
#include "base/scan_token.h"

/* --- numbers --- */

/* A number without the zeros before and behind its other digits. */
typedef struct plain_number {
    scan_number parts;
    size_t first, before; /* indexes of the first digit, and after the last one */
    int64_t point;        /* position of the decimal point, relative to `first` */
} plain_number;

static void read_plain(plain_number *out, slice number)
{
    *out = (plain_number){.first = 0};
    if (!scan_number_read(&out->parts, number.ptr, number.ptr + number.len))
        return;
    out->before = out->parts.whole.len + out->parts.fraction.len;
    while (out->first < out->before && scan_digit(&out->parts, out->first) == 0)
        out->first++;
    while (out->before > out->first && scan_digit(&out->parts, out->before - 1) == 0)
        out->before--;
    out->point = (int64_t)out->parts.whole.len - (int64_t)out->first + out->parts.exponent;
}

static int sign_of(const plain_number *number)
{
    return number->first == number->before ? 0 : number->parts.negative ? -1 : 1;
}

static int order_magnitudes(const plain_number *a, const plain_number *b)
{
    size_t i = a->first, k = b->first;
    if (a->point != b->point)
        return a->point < b->point ? -1 : 1;
    for (; i < a->before && k < b->before; i++, k++) {
        int difference = scan_digit(&a->parts, i) - scan_digit(&b->parts, k);
        if (difference != 0)
            return difference < 0 ? -1 : 1;
    }
    return (i < a->before) - (k < b->before);
}

int scan_number_order(slice a, slice b)
{
    plain_number one, other;
    read_plain(&one, a);
    read_plain(&other, b);
    int sign = sign_of(&one);
    if (sign != sign_of(&other))
        return sign < sign_of(&other) ? -1 : 1;
    return sign * order_magnitudes(&one, &other);
}

/* --- strings --- */

size_t scan_string_length(slice token)
{
    slice rest = scan_inside(token);
    char storage[4];
    uint32_t code;
    size_t length = 0;
    while (rest.len > 0) {
        slice part = scan_next_part(&rest, storage, &code);
        for (size_t i = 0; i < part.len; i++)
            length += ((unsigned char)part.ptr[i] & 0xC0) != 0x80;
    }
    return length;
}

bool scan_string_equal(slice a, slice b)
{
    slice rest[2] = {scan_inside(a), scan_inside(b)}, part[2] = {{NULL, 0}, {NULL, 0}};
    char storage[2][4];
    uint32_t code;
    if (slice_equal(a, b))
        return true;
    for (;;) {
        for (int i = 0; i < 2; i++)
            if (part[i].len == 0)
                part[i] = scan_next_part(&rest[i], storage[i], &code);
        size_t len = part[0].len < part[1].len ? part[0].len : part[1].len;
        if (len == 0)
            return part[0].len == part[1].len;
        if (memcmp(part[0].ptr, part[1].ptr, len) != 0)
            return false;
        for (int i = 0; i < 2; i++)
            part[i] = (slice){part[i].ptr + len, part[i].len - len};
    }
}

/* --- values --- */

static bool arrays_equal(scan_value a, scan_value b)
{
    scan_walk one = scan_enter(a), other = scan_enter(b);
    scan_value x, y;
    for (;;) {
        bool more = scan_element(&one, &x);
        if (more != scan_element(&other, &y))
            return false;
        if (!more)
            return true;
        if (!scan_equal(x, y))
            return false;
    }
}

static bool has_member(scan_value object, slice wanted, scan_value like)
{
    slice key;
    scan_value value;
    for (scan_walk walk = scan_enter(object); scan_member(&walk, &key, &value);)
        if (scan_string_equal(key, wanted))
            return scan_equal(value, like);
    return false;
}

static bool objects_equal(scan_value a, scan_value b)
{
    slice key;
    scan_value value;
    if (scan_count(a) != scan_count(b))
        return false;
    for (scan_walk walk = scan_enter(a); scan_member(&walk, &key, &value);)
        if (!has_member(b, key, value))
            return false;
    return true;
}

bool scan_equal(scan_value a, scan_value b)
{
    if (a.kind != b.kind)
        return false;
    switch (a.kind) {
    case SCAN_NUMBER:
        return scan_number_order(a.text, b.text) == 0;
    case SCAN_STRING:
        return scan_string_equal(a.text, b.text);
    case SCAN_ARRAY:
        return arrays_equal(a, b);
    case SCAN_OBJECT:
        return objects_equal(a, b);
    default:
        return true;
    }
}
