/*
 * sse.h: the parser of server-sent events: bytes in, the data of each event out. Follows WHATWG's
 * rules for lines and fields. Knows neither where the bytes come from nor what the data says.
 */
#ifndef WORKER_SSE_H
#define WORKER_SSE_H

#include "base/buf.h"

/* Called with an event's data, lent during the call. False: no more is wanted. */
typedef bool (*sse_sink)(void *arg, slice data);

typedef struct sse {
    buf line;
    buf data;
    bool has_data;  /* an empty data line makes an event too */
    bool after_cr;  /* a line feed that comes now belongs to the line before */
    bool has_begun; /* a byte order mark may stand only before the first byte */
    sse_sink sink;
    void *arg;
} sse;

/* A line, and the data of an event, may have so many bytes. */
void sse_init(sse *s, size_t event_max, sse_sink sink, void *arg);

/* Takes the next bytes of the stream. False: the sink has had enough, an event is over the limit,
 * or out of memory. An event without the empty line that ends it is never given out. */
bool sse_feed(sse *s, slice bytes);

void sse_free(sse *s);

#endif
