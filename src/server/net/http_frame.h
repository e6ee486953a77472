/*
 * http_frame.h: detects request smuggling that libmicrohttpd permits. libmicrohttpd ends the
 * headers at a line that begins with NUL or ':', and cuts texts at a NUL. The bytes after that
 * would be parsed as the next request. The texts of the headers follow each other in one block of
 * memory, so unexpected gaps between them reveal such a request.
 */
#ifndef SERVER_HTTP_FRAME_H
#define SERVER_HTTP_FRAME_H

#include "base/slice.h"

typedef struct frame {
    const char *at; /* end of the last text that was checked */
    bool broken;
} frame;

/* Checks the request line. The first header is expected after its `version`. `target` and `version`
 * are in libmicrohttpd's memory. */
void frame_start(frame *f, slice target, const char *version);

/* Checks the position of a header: its name and value must directly follow the text that was
 * checked last. */
void frame_field(frame *f, slice name, slice value);

/* Returns true if all texts of the headers are at the expected distances from each other. `end` is
 * the address after the empty line that ends the headers. */
bool frame_end(frame *f, const char *end);

/* A body with Transfer-Encoding: chunked. libmicrohttpd's buffer contains the size lines and the
 * data of the body. */
typedef struct chunks {
    const char *base; /* start of the body's bytes in the buffer; NULL: the body is not chunked */
    const char *at;   /* the end of the data that was read last; NULL: none was read */
} chunks;

/* Checks the size line before `piece`, the next data of a body. Returns false if the size line is
 * malformed. Size lines that libmicrohttpd has overwritten, and the end of the body, are not
 * checked. So the connection is closed after a request with a chunked body. */
bool chunks_piece(chunks *c, slice piece);

/* Records that the first `len` bytes of `piece` were read. */
void chunks_took(chunks *c, slice piece, size_t len);

#endif
