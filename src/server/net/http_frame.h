/*
 * http_frame.h: detects request smuggling that the HTTP library permits. The library ends the
 * headers at a line that begins with NUL or ':', and cuts texts at a NUL. The rest would be parsed
 * as the next request. Its texts lie in order in one block of memory, so unexpected gaps reveal
 * this.
 */
#ifndef SERVER_HTTP_FRAME_H
#define SERVER_HTTP_FRAME_H

#include "base/slice.h"

typedef struct frame {
    const char *at; /* the next text follows here, after a line end */
    bool broken;
} frame;

/* Starts after the version. `target`: the library's text of the request target. */
void frame_start(frame *f, slice target, const char *version);

/* Checks the next header. */
void frame_field(frame *f, slice name, slice value);

/* `end`: the address after the empty line that ends the headers. True if the header texts lie at
 * the expected distances from each other. */
bool frame_end(frame *f, const char *end);

/* A body with Transfer-Encoding: chunked, in the library's buffer, size lines included. */
typedef struct chunks {
    const char *base; /* start of the library's buffer; NULL: the body is not chunked */
    const char *at;   /* the end of the data that was read before; NULL: none was read */
} chunks;

/* Checks the size line before the next data of a body. False: it is malformed. The check misses
 * size lines that the library has overwritten, and the end of the body. So the connection is closed
 * after a chunked request. */
bool chunks_piece(chunks *c, slice piece);

/* To be called after `len` bytes of `piece` were read. */
void chunks_took(chunks *c, slice piece, size_t len);

#endif
