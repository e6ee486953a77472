/*
 * fuzz_scan.c: any bytes go through the JSON scanner, and what it accepts through all that is done
 * with accepted text. Stops where one function breaks what another relies on.
 */
#include "fuzz/fuzz.h"
#include "base/scan.h"

enum { DEPTH = 64, OUT_MAX = 1 << 24 };

static slice written(const buf *out)
{
    require(buf_ok(out));
    return buf_as_slice(out);
}

static bool is_inside(slice part, slice whole)
{
    return part.ptr >= whole.ptr && part.len <= whole.len &&
           part.ptr - whole.ptr <= (ptrdiff_t)(whole.len - part.len);
}

/* --- tokens --- */

static void check_string(slice token, bool decodes)
{
    buf out = BUF_INIT(OUT_MAX), quoted = BUF_INIT(OUT_MAX);
    bool decoded = scan_decode(&out, token);

    require(decoded || out.len == 0);
    require(decoded || !decodes);
    if (decoded) {
        slice text = written(&out);
        scan_value value;
        unsigned flags;

        require(slice_is_utf8(text));
        require(text.len == 0 || memchr(text.ptr, '\0', text.len) == NULL);
        require(scan_string_is(token, text));
        buf_json_string(&quoted, text);
        require(scan_check(written(&quoted), 0, &value, &flags, NULL));
        require(value.kind == SCAN_STRING && flags == 0 && scan_string_is(value.text, text));
    }
    buf_free(&out);
    buf_free(&quoted);
}

static void check_number(slice text)
{
    char *rest, *copy = malloc(text.len + 1);
    int64_t number = 7;

    require(copy != NULL);
    memcpy(copy, text.ptr, text.len);
    copy[text.len] = '\0';
    if (scan_integer(text, &number)) {
        double wanted = strtod(copy, &rest);

        require(*rest == '\0');
        if (wanted > -1e15 && wanted < 1e15)
            require((double)number == wanted);
        else
            require((number > 0) == (wanted > 0));
    } else {
        require(number == 7);
    }
    free(copy);
}

/* --- containers --- */

static void check_value(scan_value value, unsigned depth);

/* Adds the members to `out` as a compact text, so that nothing can be left out. */
static void write_members(buf *out, scan_value object, unsigned depth)
{
    scan_walk walk = scan_enter(object);
    scan_value value;
    slice key;
    bool first = true;

    buf_char(out, '{');
    for (; scan_member(&walk, &key, &value); first = false) {
        if (!first)
            buf_char(out, ',');
        require(is_inside(key, object.text) && is_inside(value.text, object.text));
        buf_slice(out, key);
        buf_char(out, ':');
        scan_compact(out, value.text);
        check_string(key, false);
        check_value(value, depth + 1);
    }
    buf_char(out, '}');
}

static void write_elements(buf *out, scan_value array, unsigned depth)
{
    scan_walk walk = scan_enter(array);
    scan_value value;
    bool first = true;

    buf_char(out, '[');
    for (; scan_element(&walk, &value); first = false) {
        if (!first)
            buf_char(out, ',');
        require(is_inside(value.text, array.text));
        scan_compact(out, value.text);
        check_value(value, depth + 1);
    }
    buf_char(out, ']');
}

/* Who goes through an object without knowing where it ends comes to its end. */
static void check_leave(scan_value object)
{
    scan_walk walk = {object.text.ptr, object.text.ptr + object.text.len};
    scan_walk inner = scan_into(&walk);
    scan_value value;
    slice key;

    while (scan_member(&inner, &key, &value))
        continue;
    value = scan_leave(&walk, &inner);
    require(value.kind == SCAN_OBJECT && value.text.len == object.text.len);
}

/* A walk covers its container if what it gave makes the same text again. */
static void check_container(scan_value value, unsigned depth)
{
    buf walked = BUF_INIT(OUT_MAX), compact = BUF_INIT(OUT_MAX);

    if (value.kind == SCAN_OBJECT) {
        write_members(&walked, value, depth);
        check_leave(value);
    } else {
        write_elements(&walked, value, depth);
    }
    scan_compact(&compact, value.text);
    require(slice_equal(written(&walked), written(&compact)));
    buf_free(&walked);
    buf_free(&compact);
}

static void check_value(scan_value value, unsigned depth)
{
    scan_value again;
    unsigned flags;

    require(depth <= DEPTH);
    require(scan_check(value.text, DEPTH - depth, &again, &flags, NULL));
    require(again.kind == value.kind && slice_equal(again.text, value.text));
    if (value.kind == SCAN_OBJECT || value.kind == SCAN_ARRAY)
        check_container(value, depth);
    else if (value.kind == SCAN_STRING)
        check_string(value.text, (flags & (SCAN_HAS_NUL | SCAN_HAS_SURROGATE)) == 0);
    else if (value.kind == SCAN_NUMBER)
        check_number(value.text);
}

/* --- whole texts --- */

static void check_compact(slice text, unsigned flags)
{
    buf once = BUF_INIT(text.len), twice = BUF_INIT(text.len);
    unsigned flags_again;

    scan_compact(&once, text);
    require(scan_check(written(&once), DEPTH, NULL, &flags_again, NULL));
    require(flags_again == flags);
    scan_compact(&twice, written(&once));
    require(slice_equal(written(&once), written(&twice)));
    buf_free(&once);
    buf_free(&twice);
}

static void check_sanitise(slice text, scan_value value, unsigned flags)
{
    buf out = BUF_INIT(OUT_MAX);
    scan_value again;
    unsigned flags_again;

    scan_sanitise(&out, text);
    require(scan_check(written(&out), DEPTH, &again, &flags_again, NULL));
    require((flags_again & SCAN_NOT_JSONB) == 0);
    require(again.kind == value.kind || value.kind == SCAN_NUMBER);
    if ((flags & SCAN_NOT_JSONB) == 0)
        require(slice_equal(written(&out), text));
    buf_free(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    slice text = {(const char *)data, size};
    scan_value value;
    scan_error error;
    unsigned flags;

    if (!scan_check(text, DEPTH, &value, &flags, &error)) {
        require(error.message != NULL && error.position <= size && value.kind == SCAN_NONE);
        return 0;
    }
    require(slice_is_utf8(text) && is_inside(value.text, text));
    check_value(value, 0);
    check_compact(text, flags);
    check_sanitise(text, value, flags);
    return 0;
}
