/*
 * http_frame.h: whether a request's head is what the HTTP library took it for. The library ends a
 * head at a line that begins with NUL or ':', and cuts texts at a NUL: what follows would be the
 * next request. All its texts lie in one block of memory in order, so gaps give such tricks away.
 */
#ifndef SERVER_HTTP_FRAME_H
#define SERVER_HTTP_FRAME_H

#include "base/view.h"

typedef struct frame {
    const char *at; /* what comes next stands here, after the end of a line */
    bool broken;
} frame;

/* Starts behind the version. `target` is as the library first gave it. */
void frame_start(frame *f, view target, const char *version);

/* The next field. */
void frame_field(frame *f, view name, view value);

/* The end of the head, after its empty line. Whether all was well. */
bool frame_end(frame *f, const char *end);

#endif
