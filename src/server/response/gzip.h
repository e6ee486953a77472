/*
 * gzip.h: text as gzip, in one go or piece by piece. Knows neither requests nor where it goes.
 */
#ifndef SERVER_GZIP_H
#define SERVER_GZIP_H

#include "base/view.h"

typedef struct gzip_stream gzip_stream;

/* NULL: no memory. */
gzip_stream *gzip_new(void);
void gzip_free(gzip_stream *s);

/* The whole text, to be freed; NULL: no memory. `s` may be used again. */
char *gzip_all(gzip_stream *s, view text, size_t *len);

/* Compresses from the front of `text`, which moves on, into `out`; `last`: nothing follows it.
 * Gives the bytes written; *ended: all is out. */
size_t gzip_some(gzip_stream *s, view *text, bool last, char *out, size_t room, bool *ended);

#endif
