/*
 * gzip.c: compression with zlib's fastest level, because a loop serves no other request while it
 * compresses. JSON becomes about four times smaller, at a tenth of the CPU time of the best level.
 */
#include "server/response/gzip.h"
#include <limits.h>
#include <stdint.h>
#include <stdlib.h>
#include <zlib.h>

enum {
    LEVEL = 1,
    GZIP_WINDOW = 15 + 16, /* a window of 32 KiB, and the gzip format */
    MEMORY_LEVEL = 8
};

struct gzip_stream {
    z_stream stream;
};

gzip_stream *gzip_new(void)
{
    gzip_stream *s = calloc(1, sizeof(*s));
    if (s == NULL)
        return NULL;
    if (deflateInit2(&s->stream, LEVEL, Z_DEFLATED, GZIP_WINDOW, MEMORY_LEVEL,
                     Z_DEFAULT_STRATEGY) == Z_OK)
        return s;
    free(s);
    return NULL;
}

void gzip_free(gzip_stream *s)
{
    if (s == NULL)
        return;
    deflateEnd(&s->stream);
    free(s);
}

static uInt most(size_t len)
{
    return len < UINT_MAX ? (uInt)len : UINT_MAX;
}

size_t gzip_some(gzip_stream *s, slice *text, bool last, char *out, size_t room, bool *ended)
{
    z_stream *z = &s->stream;
    uInt given = most(text->len);
    z->next_in = (z_const Bytef *)(uintptr_t)text->ptr;
    z->avail_in = given;
    z->next_out = (Bytef *)out;
    z->avail_out = most(room);
    uInt before = z->avail_out;
    *ended = deflate(z, last && given == text->len ? Z_FINISH : Z_NO_FLUSH) == Z_STREAM_END;
    text->ptr += given - z->avail_in;
    text->len -= given - z->avail_in;
    return before - z->avail_out;
}

char *gzip_all(gzip_stream *s, slice text, size_t *len)
{
    bool ended;
    size_t room = deflateBound(&s->stream, text.len);
    char *out = malloc(room);
    if (out == NULL)
        return NULL;
    deflateReset(&s->stream);
    *len = gzip_some(s, &text, true, out, room, &ended);
    return out;
}
