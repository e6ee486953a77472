/*
 * gzip.h: compresses a text with gzip, at once or in parts. Knows no requests.
 */
#ifndef SERVER_GZIP_H
#define SERVER_GZIP_H

#include "base/slice.h"

typedef struct gzip_stream gzip_stream;

/* Returns a stream for compression; NULL: out of memory. */
gzip_stream *gzip_new(void);
void gzip_free(gzip_stream *s);

/* Compresses the whole text. The caller frees the result of *len bytes; NULL: out of memory. `s`
 * may be used again. */
char *gzip_all(gzip_stream *s, slice text, size_t *len);

/* Compresses bytes of `text` into `out`, which has `room` bytes, and removes them from `text`.
 * `last`: no text follows after `text`. Returns the number of bytes that were written. *ended is
 * true if the output is complete. */
size_t gzip_some(gzip_stream *s, slice *text, bool last, char *out, size_t room, bool *ended);

#endif
