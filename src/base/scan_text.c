/*
 * scan_text.c: rewrites a text that scan_check accepted: without white space, with decoded escapes,
 * or so that jsonb accepts the text.
 */
#include "base/scan.h"
#include "base/scan_token.h"

/* Returns the text. For an empty text too, the pointer is not NULL. */
static slice with_pointer(slice text)
{
    return text.len > 0 ? text : (slice){"", 0};
}

static slice between(const char *from, const char *to)
{
    return (slice){from, (size_t)(to - from)};
}

/* Reserves `len` bytes, or as many as the buffer's maximum allows. */
static void reserve_up_to(buf *out, size_t len)
{
    size_t left = out->max - out->len;

    if (len > 0)
        buf_reserve(out, len < left ? len : left);
}

void scan_compact(buf *out, slice text)
{
    const char *from;

    text = with_pointer(text);
    const char *at = from = text.ptr;
    const char *end = text.ptr + text.len;
    reserve_up_to(out, text.len);
    while (at < end) {
        if (*at == '"') {
            at = scan_skip_string(at, end);
        } else if (scan_is_space(*at)) {
            buf_slice(out, between(from, at));
            from = at = scan_skip_space(at, end);
        } else {
            at++;
        }
    }
    buf_slice(out, between(from, end));
}

void scan_readable(buf *out, slice text)
{
    char storage[4];
    uint32_t code;

    text = with_pointer(text);
    for (const char *at = text.ptr, *end = text.ptr + text.len; at < end;) {
        const char *escape = memchr(at, '\\', (size_t)(end - at));
        slice rest, said;

        if (escape == NULL)
            escape = end;
        buf_slice(out, between(at, escape));
        rest = between(escape, end);
        said = scan_next_part(&rest, storage, &code);
        at = said.len > 0 ? rest.ptr : end;
        buf_slice(out,
                  said.len > 0 && code >= 0xA0 && !scan_is_half(code) ? said : between(escape, at));
    }
}

/* --- text for jsonb --- */

/* A copy that is being written. The bytes before `from` are already copied or replaced. */
typedef struct copy {
    buf *out;
    const char *from;
    const char *end;
} copy;

/* Copies the bytes before `at`, then appends `instead`. The copy continues at `next`. */
static void replace(copy *c, const char *at, const char *instead, const char *next)
{
    buf_slice(c->out, between(c->from, at));
    buf_text(c->out, instead);
    c->from = next;
}

/* Replaces escapes that PostgreSQL's type text can't hold by U+FFFD. Returns the end of the string.
 */
static const char *sanitise_string(copy *c, const char *at)
{
    const char *after = scan_skip_string(at, c->end), *next;
    uint32_t code;

    while ((at = memchr(at, '\\', (size_t)(after - at))) != NULL) {
        next = scan_escape(at, after, &code);
        if (next == NULL)
            break;
        if (code == 0 || scan_is_half(code))
            replace(c, at, "\xEF\xBF\xBD", next);
        at = next;
    }
    return after;
}

/* Moves *at behind a number. In the copy, the number gets quotes if it has the flag
 * SCAN_HAS_LONG_NUMBER. False: there is no number. */
static bool sanitise_number(copy *c, const char **at)
{
    scan_number number;

    if (!scan_number_read(&number, *at, c->end))
        return false;
    if ((scan_number_flags(&number) & SCAN_HAS_LONG_NUMBER) != 0) {
        replace(c, *at, "\"", *at);
        replace(c, number.end, "\"", number.end);
    }
    *at = number.end;
    return true;
}

void scan_sanitise(buf *out, slice text)
{
    const char *at;

    text = with_pointer(text);
    copy c = (copy){out, text.ptr, text.ptr + text.len};
    reserve_up_to(out, text.len);
    for (at = text.ptr; at < c.end;) {
        if (*at == '"')
            at = sanitise_string(&c, at);
        else if (!sanitise_number(&c, &at))
            at++;
    }
    replace(&c, c.end, NULL, c.end);
}
