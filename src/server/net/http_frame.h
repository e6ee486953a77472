/*
 * http_frame.h: whether a request's head, and what stands between the chunks of its body, are what
 * the HTTP library took them for. The library ends a head at a line that begins with NUL or ':',
 * and cuts texts at a NUL: what follows would be the next request. All its texts lie in one block
 * of memory in order, so gaps give such tricks away.
 */
#ifndef SERVER_HTTP_FRAME_H
#define SERVER_HTTP_FRAME_H

#include "base/slice.h"

typedef struct frame {
    const char *at; /* what comes next stands here, after the end of a line */
    bool broken;
} frame;

/* Starts behind the version. `target` is as the library first gave it. */
void frame_start(frame *f, slice target, const char *version);

/* The next field. */
void frame_field(frame *f, slice name, slice value);

/* The end of the head, after its empty line. Whether all was well. */
bool frame_end(frame *f, const char *end);

/* The chunks of a body. They lie in the library's memory with what frames them. */
typedef struct chunks {
    const char *base; /* where the library begins to read a body; NULL: it is not in chunks */
    const char *at;   /* the end of the last piece */
} chunks;

/* The next piece of a body. False: it is not framed as it must be. What can't be seen any more, as
 * the library has read on over it, is not found out; nor is the end of the body. So no request may
 * follow one in chunks. */
bool chunks_piece(chunks *c, slice piece);

/* So much of the piece was taken. */
void chunks_took(chunks *c, slice piece, size_t len);

#endif
