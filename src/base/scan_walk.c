/*
 * scan_walk.c: reads members, elements, strings and integers of a text that scan_check accepted.
 * The grammar is not checked again, but no byte after the text is read.
 */
#include "base/scan.h"
#include "base/scan_token.h"

scan_value scan_whole(slice text)
{
    if (text.len == 0)
        return (scan_value){SCAN_NONE, text};
    const char *end = text.ptr + text.len;
    const char *from = scan_skip_space(text.ptr, end);

    while (end > from && scan_is_space(end[-1]))
        end--;
    return from < end ? scan_value_of(from, end) : (scan_value){SCAN_NONE, {from, 0}};
}

scan_walk scan_enter(scan_value container)
{
    bool compound = container.kind == SCAN_OBJECT || container.kind == SCAN_ARRAY;

    if (!compound || container.text.len < 2)
        return (scan_walk){NULL, NULL};
    return (scan_walk){container.text.ptr + 1, container.text.ptr + container.text.len - 1};
}

static const char *skip_container(const char *at, const char *end)
{
    size_t depth = 0;

    while (at < end) {
        char c = *at;

        if (c == '"') {
            at = scan_skip_string(at, end);
            continue;
        }
        at++;
        if (c == '{' || c == '[')
            depth++;
        if ((c == '}' || c == ']') && --depth == 0)
            break;
    }
    return at;
}

static const char *skip_scalar(const char *at, const char *end)
{
    while (at < end && *at != ',' && *at != '}' && *at != ']' && !scan_is_space(*at))
        at++;
    return at;
}

static const char *skip_value(const char *at, const char *end)
{
    if (*at == '"')
        return scan_skip_string(at, end);
    if (*at == '{' || *at == '[')
        return skip_container(at, end);
    return skip_scalar(at, end);
}

/* Moves to the next token, over white space and at most one `separator`. False at the end. */
static bool next_token(scan_walk *walk, char separator)
{
    walk->at = scan_skip_space(walk->at, walk->end);
    if (walk->at < walk->end && *walk->at == separator)
        walk->at = scan_skip_space(walk->at + 1, walk->end);
    return walk->at < walk->end;
}

bool scan_take(scan_walk *walk, scan_value *value)
{
    const char *from = walk->at;

    if (from >= walk->end)
        return false;
    walk->at = skip_value(from, walk->end);
    if (walk->at == from) /* no value, which is possible if scan_check has not accepted the text */
        return false;
    *value = scan_value_of(from, walk->at);
    return true;
}

bool scan_to_member(scan_walk *walk, slice *key)
{
    if (!next_token(walk, ',') || *walk->at != '"')
        return false;
    const char *from = walk->at;
    walk->at = scan_skip_string(from, walk->end);
    *key = (slice){from, (size_t)(walk->at - from)};
    return next_token(walk, ':');
}

bool scan_to_element(scan_walk *walk)
{
    return next_token(walk, ',');
}

scan_value scan_leave(scan_walk *walk, const scan_walk *inner)
{
    const char *from = walk->at;

    walk->at = inner->at < walk->end ? inner->at + 1 : walk->end;
    return scan_value_of(from, walk->at);
}

bool scan_member(scan_walk *walk, slice *key, scan_value *value)
{
    return scan_to_member(walk, key) && scan_take(walk, value);
}

bool scan_element(scan_walk *walk, scan_value *value)
{
    return scan_to_element(walk) && scan_take(walk, value);
}

size_t scan_count(scan_value container)
{
    slice key;
    scan_value value;
    size_t count = 0;

    for (scan_walk walk = scan_enter(container); container.kind == SCAN_OBJECT
                                                     ? scan_member(&walk, &key, &value)
                                                     : scan_element(&walk, &value);)
        count++;
    return count;
}

/* --- strings --- */

static bool has_escapes(slice text)
{
    return text.len > 0 && memchr(text.ptr, '\\', text.len) != NULL;
}

bool scan_string_equals_decoded(slice token, slice text)
{
    slice rest = scan_inside(token);
    char storage[4];
    uint32_t code;

    if (rest.len == text.len || !has_escapes(rest))
        return slice_equal(rest, text);
    while (rest.len > 0) {
        slice part = scan_next_part(&rest, storage, &code);
        if (part.len == 0 || scan_is_half(code) || part.len > text.len ||
            memcmp(part.ptr, text.ptr, part.len) != 0)
            return false;
        text = (slice){text.ptr + part.len, text.len - part.len};
    }
    return text.len == 0;
}

scan_value scan_find(scan_value object, const char *name)
{
    scan_value found = {SCAN_NONE, {NULL, 0}}, value;
    slice wanted = slice_of(name), key;
    scan_walk walk = scan_enter(object);

    if (object.kind != SCAN_OBJECT)
        return found;
    while (scan_member(&walk, &key, &value)) {
        if (scan_string_is(key, wanted))
            found = value;
    }
    return found;
}

/* True if a text has an escape of the form \uXXXX. */
static bool has_numbered_escape(slice text)
{
    const char *at = text.ptr, *end = text.ptr + text.len;

    while (at < end && (at = memchr(at, '\\', (size_t)(end - at))) != NULL && end - at > 1) {
        if (at[1] == 'u')
            return true;
        at += 2;
    }
    return false;
}

/* True if a text contains `name`. If the first byte of `name` is rare, memchr is several times as
 * fast as memmem. */
static bool has_bytes(slice text, slice name)
{
    const char *at = text.ptr, *end = text.ptr + text.len;

    while ((size_t)(end - at) >= name.len &&
           (at = memchr(at, name.ptr[0], (size_t)(end - at) - name.len + 1)) != NULL) {
        if (memcmp(at, name.ptr, name.len) == 0)
            return true;
        at++;
    }
    return false;
}

bool scan_may_name(slice text, slice name)
{
    return text.len > 0 && (has_bytes(text, name) || has_numbered_escape(text));
}

bool scan_may_have_half(slice inside)
{
    const char *at = inside.ptr, *end = inside.ptr + inside.len;

#ifdef __SSE2__
    for (; end - at >= 18; at += 16) {
        uint64_t found = scan_equal_16(at, '\\') & scan_equal_16(at + 1, 'u');
        if (found != 0 && (found & (scan_equal_16(at + 2, 'd') | scan_equal_16(at + 2, 'D'))) != 0)
            return true;
    }
#endif
    for (; end - at >= 3; at++) {
        if (at[0] == '\\' && at[1] == 'u' && (at[2] == 'd' || at[2] == 'D'))
            return true;
    }
    return false;
}

bool scan_split_first(scan_value object, slice name, scan_value *value, slice *rest)
{
    scan_walk walk = scan_enter(object);
    slice key;

    if (object.kind != SCAN_OBJECT || !scan_member(&walk, &key, value) ||
        !scan_string_is(key, name))
        return false;
    if (!next_token(&walk, ','))
        return false;
    *rest = (slice){walk.at, (size_t)(walk.end - walk.at)};
    return !scan_may_name(*rest, name);
}

static bool can_decode(slice rest)
{
    char storage[4];
    uint32_t code;

    while (rest.len > 0) {
        if (scan_next_part(&rest, storage, &code).len == 0 || code == 0 || scan_is_half(code))
            return false;
    }
    return true;
}

bool scan_decode(buf *out, slice token)
{
    slice rest = scan_inside(token);
    char storage[4];
    uint32_t code;

    if (!has_escapes(rest)) {
        buf_slice(out, rest);
        return true;
    }
    if (!can_decode(rest))
        return false;
    while (rest.len > 0)
        buf_slice(out, scan_next_part(&rest, storage, &code));
    return true;
}

/* --- integers --- */

/* Appends a decimal digit to a number. The result is clamped to the range of int64_t. */
static int64_t shift_in(int64_t number, int digit, bool negative)
{
    int64_t limit = negative ? INT64_MIN : INT64_MAX;

    if (__builtin_mul_overflow(number, 10, &number) ||
        __builtin_add_overflow(number, negative ? -digit : digit, &number))
        return limit;
    return number;
}

bool scan_integer(slice number, int64_t *out)
{
    scan_number parts;
    int64_t whole, result = 0;

    if (number.len == 0 || !scan_number_read(&parts, number.ptr, number.ptr + number.len) ||
        parts.end != number.ptr + number.len)
        return false;
    size_t digits = parts.whole.len + parts.fraction.len;
    whole = (int64_t)parts.whole.len + parts.exponent;
    for (size_t i = 0; i < digits; i++) {
        int digit = scan_digit(&parts, i);

        if ((int64_t)i < whole)
            result = shift_in(result, digit, parts.negative);
        else if (digit != 0)
            return false;
    }
    for (int64_t i = (int64_t)digits;
         i < whole && result != 0 && result != INT64_MIN && result != INT64_MAX; i++)
        result = shift_in(result, 0, parts.negative);
    *out = result;
    return true;
}
