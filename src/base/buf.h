/*
 * buf.h: the buffer that all text is built in. It has a maximum size and remembers its first
 * failure: appending to a failed buffer does nothing, so a chain of appends is checked once, at its
 * end, with buf_ok. The contents are always NUL-terminated.
 */
#ifndef BASE_BUF_H
#define BASE_BUF_H

#include <stdarg.h>
#include <stdint.h>
#include "base/slice.h"

typedef enum buf_failure { BUF_FINE = 0, BUF_TOO_LARGE, BUF_NOMEM } buf_failure;

typedef struct buf {
    char *data; /* NULL while nothing was appended */
    size_t len; /* bytes, without the NUL */
    size_t cap;
    size_t max; /* len may not pass it */
    buf_failure failure;
} buf;

/* An empty buffer that may grow to `max` bytes. Nothing is allocated. */
#define BUF_INIT(max_bytes) ((buf){NULL, 0, 0, (max_bytes), BUF_FINE})

/* Allocates memory for `more` bytes in one step, if their number is known. False: failed. */
bool buf_reserve(buf *b, size_t more);

/* Appends bytes that do not fit into the allocated memory: grows it, or fails. buf_add appends
 * bytes that fit inline, because answers are built of many short texts. */
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

/* NULL appends nothing. Inline, so that the compiler computes the length of a literal. */
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
void buf_json_inside(buf *b, slice text); /* without the quotes */

/* The same with its quotes; NULL, or a slice whose ptr is NULL: null. */
void buf_json_or_null(buf *b, slice text);
void buf_json_text(buf *b, const char *text);

/* Appends the inside of a JSON string token, escapes and all, with quotes around it. */
void buf_json_quoted(buf *b, slice inside);

/* Appends the comma between two elements or members: none at the beginning of the buffer, or after
 * an opening bracket, a colon or a comma. */
void buf_comma(buf *b);

/* Appends the name of a member of an object, with the comma before it. The others append a member
 * with its value: JSON, a text, or a number; ptr NULL: null. */
void buf_name(buf *b, const char *name);
void buf_member(buf *b, const char *name, slice json);
void buf_member_text(buf *b, const char *name, slice text);
void buf_member_int(buf *b, const char *name, int64_t number);

/* True if every append since the start (or buf_reset) worked. */
bool buf_ok(const buf *b);

/* The text so far; "" for an empty or failed buffer. Borrowed until the next append. */
const char *buf_str(const buf *b);

/* The same as a slice, which may hold NUL bytes; of a failed buffer empty. */
slice buf_as_slice(const buf *b);

/* The bytes from offset `start` on; empty if the buffer failed. */
slice buf_since(const buf *b, size_t start);

/* Empties the buffer and clears a failure. Frees the memory if it has more than `keep` bytes. */
void buf_reset(buf *b, size_t keep);

/* Returns the memory, which the caller frees with free(). NULL: the buffer failed, or memory is
 * exhausted. An empty buffer returns "". The buffer is empty afterwards, but `failure` remains. */
char *buf_take(buf *b);

void buf_free(buf *b);

#endif
