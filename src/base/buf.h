/*
 * buf.h: the buffer in which texts are built. A buffer has a maximum size and remembers its first
 * failure: appending to a failed buffer does nothing. So buf_ok can check a chain of appends once,
 * at its end. A NUL follows the contents.
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdarg.h>
#include <stdint.h>
#include "base/slice.h"

typedef enum buf_failure { BUF_FINE = 0, BUF_TOO_LARGE, BUF_NOMEM } buf_failure;

typedef struct buf {
    char *data; /* the text, or NULL if no memory is allocated */
    size_t len; /* length of the text, without the NUL */
    size_t cap;
    size_t max; /* maximum of len */
    buf_failure failure;
} buf;

/* An empty buffer that may grow to `max_bytes` bytes. Nothing is allocated. */
#define BUF_INIT(max_bytes) ((buf){NULL, 0, 0, (max_bytes), BUF_FINE})

/* Allocates memory for `more` bytes in one step, for callers that know the number. False: the
 * buffer has failed. */
bool buf_reserve(buf *b, size_t more);

/* buf_add appends bytes. buf_add is inline, because answers are built of many short texts. It calls
 * buf_add_slowly for bytes that do not fit into the allocated memory, and for a failed buffer. */
void buf_add_slowly(buf *b, const void *bytes, size_t len);
static inline void buf_add(buf *b, const void *bytes, size_t len)
{
    if (len == 0)
        return;
    if (b->failure != BUF_FINE || len >= b->cap - b->len) {
        buf_add_slowly(b, bytes, len);
        return;
    }
    memcpy(b->data + b->len, bytes, len);
    b->len += len;
    b->data[b->len] = '\0';
}

static inline void buf_slice(buf *b, slice text)
{
    buf_add(b, text.ptr, text.len);
}

static inline void buf_char(buf *b, char c)
{
    buf_add(b, &c, 1);
}

/* Appends a C string; NULL: nothing. buf_text is inline, so that the compiler computes the length
 * of literals. */
static inline void buf_text(buf *b, const char *text)
{
    if (text != NULL)
        buf_add(b, text, strlen(text));
}

void buf_int(buf *b, int64_t number); /* decimal */
void buf_printf(buf *b, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* Appends UTF-8 text as a JSON string token with its quotes. '"', '\\' and bytes below 0x20 are
 * escaped; all other bytes are copied. */
void buf_json_string(buf *b, slice text);
void buf_json_inside(buf *b, slice text); /* the same without the quotes */

/* Appends a text as a JSON string token with its quotes; NULL, or a slice with ptr NULL: null. */
void buf_json_or_null(buf *b, slice text);
void buf_json_text(buf *b, const char *text);

/* Appends the text `inside` in quotes. Special characters of `inside` must already be escaped. */
void buf_json_quoted(buf *b, slice inside);

/* Appends the comma before an element or member of JSON. Appends nothing at the beginning of the
 * buffer, or after an opening bracket, a colon or a comma. */
void buf_comma(buf *b);

/* buf_name appends the name of a member of an object, after a comma if one is necessary. The
 * buf_member functions append the name and a value: JSON, a text or a number; ptr NULL: null. */
void buf_name(buf *b, const char *name);
void buf_member(buf *b, const char *name, slice json);
void buf_member_text(buf *b, const char *name, slice text);
void buf_member_int(buf *b, const char *name, int64_t number);

/* True if no append has failed since the buffer was created or reset. */
bool buf_ok(const buf *b);

/* Returns the text of the buffer; "" if the buffer is empty or has failed. The result is valid
 * until the buffer is changed or freed. */
const char *buf_str(const buf *b);

/* Returns the text of the buffer as a slice, which may contain NUL bytes; empty if the buffer has
 * failed. */
slice buf_as_slice(const buf *b);

/* Returns the bytes from offset `start` to the end; empty if the buffer failed. */
slice buf_since(const buf *b, size_t start);

/* Empties the buffer and clears a failure. Frees the buffer's memory if its size is over `keep`. */
void buf_reset(buf *b, size_t keep);

/* Shortens the text to its first `len` bytes. */
void buf_cut(buf *b, size_t len);

/* Returns the buffer's memory, which the caller frees with free(). NULL: the buffer has failed, or
 * memory is exhausted. If the buffer is empty, the result is "". Empties the buffer, but does not
 * clear a failure. */
char *buf_take(buf *b);

void buf_free(buf *b);

#endif
