/*
 * buf.c: the text buffer, which grows up to a maximum and remembers its first failure.
 */
#include "base/buf.h"
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

enum { FIRST_CAPACITY = 128 };

static bool fail_buf(buf *b, buf_failure why)
{
    if (b->failure == BUF_FINE)
        b->failure = why;
    return false;
}

/* Sizes are doubled, so that appending has linear cost. */
static size_t next_capacity(const buf *b, size_t needed)
{
    size_t wanted = b->cap < FIRST_CAPACITY ? FIRST_CAPACITY : b->cap;

    while (wanted < needed)
        wanted = wanted > SIZE_MAX / 2 ? needed : wanted * 2;
    if (b->max < wanted - 1)
        wanted = b->max + 1;
    return wanted;
}

bool buf_reserve(buf *b, size_t more)
{
    if (b->failure != BUF_FINE)
        return false;
    if (more > b->max - b->len || more >= SIZE_MAX - b->len)
        return fail_buf(b, BUF_TOO_LARGE);
    size_t needed = b->len + more + 1;
    if (needed <= b->cap)
        return true;
    size_t wanted = next_capacity(b, needed);
    char *grown = realloc(b->data, wanted);
    if (grown == NULL)
        return fail_buf(b, BUF_NOMEM);
    b->data = grown;
    b->data[b->len] = '\0';
    b->cap = wanted;
    return true;
}

void buf_add_slowly(buf *b, const void *bytes, size_t len)
{
    if (buf_reserve(b, len))
        buf_add(b, bytes, len);
}

void buf_int(buf *b, int64_t number)
{
    char digits[24];
    int len = snprintf(digits, sizeof(digits), "%" PRId64, number);

    buf_add(b, digits, (size_t)len);
}

void buf_printf(buf *b, const char *format, ...)
{
    va_list args;
    int len;

    if (!buf_reserve(b, 0))
        return;
    va_start(args, format);
    len = vsnprintf(b->data + b->len, b->cap - b->len, format, args);
    va_end(args);
    if (len >= 0 && (size_t)len >= b->cap - b->len) {
        b->data[b->len] = '\0';
        if (!buf_reserve(b, (size_t)len))
            return;
        va_start(args, format);
        len = vsnprintf(b->data + b->len, b->cap - b->len, format, args);
        va_end(args);
    }
    if (len < 0) {
        b->data[b->len] = '\0';
        fail_buf(b, BUF_TOO_LARGE); /* the text is longer than INT_MAX */
        return;
    }
    b->len += (size_t)len;
}

static bool must_escape(char c)
{
    return (unsigned char)c < 0x20 || c == '"' || c == '\\';
}

static void add_escape(buf *b, char c)
{
    static const char hex[] = "0123456789abcdef";
    static const char letters[] = "\"\"\\\\\bb\ff\nn\rr\tt";
    unsigned char byte = (unsigned char)c;
    char escape[6] = {'\\', 'u', '0', '0', hex[byte >> 4], hex[byte & 15]};

    for (size_t i = 0; i + 1 < sizeof(letters); i += 2) {
        if (letters[i] == c) {
            escape[1] = letters[i + 1];
            buf_add(b, escape, 2);
            return;
        }
    }
    buf_add(b, escape, sizeof(escape));
}

/* Returns the number of bytes before the first byte that must be escaped. */
static size_t count_plain(slice text)
{
    size_t i = 0;
#ifdef __SSE2__
    const __m128i control = _mm_set1_epi8(0x1F);

    for (; text.len - i >= 16; i += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)(text.ptr + i));
        __m128i marks = _mm_or_si128(_mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')),
                                     _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\')));
        __m128i controls = _mm_cmpeq_epi8(_mm_max_epu8(bytes, control), control);
        int found = _mm_movemask_epi8(_mm_or_si128(marks, controls));
        if (found != 0)
            return i + (size_t)__builtin_ctz((unsigned)found);
    }
#endif
    while (i < text.len && !must_escape(text.ptr[i]))
        i++;
    return i;
}

void buf_json_inside(buf *b, slice text)
{
    while (text.len > 0) {
        size_t plain = count_plain(text);

        buf_add(b, text.ptr, plain);
        if (plain == text.len)
            return;
        add_escape(b, text.ptr[plain]);
        text = (slice){text.ptr + plain + 1, text.len - plain - 1};
    }
}

void buf_json_string(buf *b, slice text)
{
    buf_char(b, '"');
    buf_json_inside(b, text);
    buf_char(b, '"');
}

void buf_json_or_null(buf *b, slice text)
{
    if (text.ptr != NULL)
        buf_json_string(b, text);
    else
        buf_text(b, "null");
}

void buf_json_text(buf *b, const char *text)
{
    buf_json_or_null(b, slice_of(text));
}

void buf_json_quoted(buf *b, slice inside)
{
    buf_char(b, '"');
    buf_slice(b, inside);
    buf_char(b, '"');
}

void buf_comma(buf *b)
{
    if (b->len > 0 && strchr("[{:,", b->data[b->len - 1]) == NULL)
        buf_char(b, ',');
}

void buf_name(buf *b, const char *name)
{
    buf_comma(b);
    buf_json_quoted(b, slice_of(name));
    buf_char(b, ':');
}

void buf_member(buf *b, const char *name, slice json)
{
    buf_name(b, name);
    buf_slice(b, json.ptr != NULL ? json : SLICE("null"));
}

void buf_member_text(buf *b, const char *name, slice text)
{
    buf_name(b, name);
    buf_json_or_null(b, text);
}

void buf_member_int(buf *b, const char *name, int64_t number)
{
    buf_name(b, name);
    buf_int(b, number);
}

bool buf_ok(const buf *b)
{
    return b->failure == BUF_FINE;
}

const char *buf_str(const buf *b)
{
    return b->failure == BUF_FINE && b->data != NULL ? b->data : "";
}

slice buf_as_slice(const buf *b)
{
    return buf_since(b, 0);
}

slice buf_since(const buf *b, size_t start)
{
    return buf_ok(b) ? (slice){buf_str(b) + start, b->len - start} : (slice){"", 0};
}

void buf_reset(buf *b, size_t keep)
{
    if (b->cap > keep) {
        free(b->data);
        b->data = NULL;
        b->cap = 0;
    }
    if (b->data != NULL)
        b->data[0] = '\0';
    b->len = 0;
    b->failure = BUF_FINE;
}

void buf_cut(buf *b, size_t len)
{
    if (b->failure != BUF_FINE || len >= b->len)
        return;
    b->len = len;
    b->data[len] = '\0';
}

char *buf_take(buf *b)
{
    buf_failure failure;
    char *text = NULL;

    if (buf_reserve(b, 0)) {
        text = b->data;
        b->data = NULL;
    }
    failure = b->failure;
    buf_free(b);
    b->failure = failure;
    return text;
}

void buf_free(buf *b)
{
    free(b->data);
    *b = BUF_INIT(b->max);
}
