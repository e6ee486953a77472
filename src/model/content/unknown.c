/*
 * unknown.c: copies the members of an object that are no fields of its class to the stored form,
 * byte for byte. If members have the same name, only the last one is copied. Repeated names are
 * found by sorting, because comparing all pairs would be too slow for millions of members.
 */
#include "model/content/class.h"

#include <stdlib.h>

static int by_place(const void *left, const void *right)
{
    const slice *a = left;
    const slice *b = right;
    return (a->ptr > b->ptr) - (a->ptr < b->ptr);
}

static int by_name(const void *left, const void *right)
{
    const slice *a = left;
    const slice *b = right;
    int order = content_compare(scan_inside(*a), scan_inside(*b));
    return order != 0 ? order : by_place(left, right);
}

/* Moves the keys that occur again later in the object to the start of `keys`, in the order of the
 * text, and returns their number. Afterwards the other elements of `keys` are invalid. */
static size_t find_superseded(slice *keys, size_t count)
{
    size_t found = 0;
    if (count < 2)
        return 0;
    qsort(keys, count, sizeof *keys, by_name);
    for (size_t i = 0; i + 1 < count; i++)
        if (content_compare(scan_inside(keys[i]), scan_inside(keys[i + 1])) == 0)
            keys[found++] = keys[i];
    qsort(keys, found, sizeof *keys, by_place);
    return found;
}

static void collect_keys(buf *keys, const content_class *class, scan_value object)
{
    slice key;
    scan_value value;
    scan_walk walk = scan_enter(object);
    while (scan_member(&walk, &key, &value))
        if (content_is_unknown(class, key))
            buf_add(keys, &key, sizeof key);
}

void content_put_unknown(buf *out, const content_class *class, scan_value object)
{
    /* A member with its comma has at least 5 bytes, which limits the number of keys. */
    buf keys = BUF_INIT((object.text.len / 5 + 1) * sizeof(slice));
    collect_keys(&keys, class, object);
    if (!buf_ok(&keys)) {
        out->failure = keys.failure;
        goto done;
    }
    slice *list = (slice *)(void *)keys.data;
    size_t superseded = find_superseded(list, keys.len / sizeof(slice));
    size_t next = 0;
    slice key;
    scan_value value;
    scan_walk walk = scan_enter(object);
    while (keys.len > 0 && scan_member(&walk, &key, &value)) {
        if (next < superseded && key.ptr == list[next].ptr) {
            next++;
        } else if (content_is_unknown(class, key)) {
            buf_char(out, ',');
            buf_slice(out, key);
            buf_char(out, ':');
            buf_slice(out, value.text);
        }
    }
done:
    buf_free(&keys);
}
