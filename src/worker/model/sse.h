/*
 * sse.h: a parser of server-sent events. The parser receives the bytes of a stream and passes the
 * data of each event to a function, by WHATWG's rules for lines and fields.
 */
#ifndef WORKER_SSE_H
#define WORKER_SSE_H

#include "base/buf.h"

/* Receives an event's data, which is valid during the call. Returns false to end the stream. */
typedef bool (*sse_sink)(void *arg, slice data);

typedef struct sse {
    buf line;
    buf data;
    bool after_cr;  /* the last byte was a carriage return, so a line feed after it is skipped */
    bool has_begun; /* the first line has ended, so no byte order mark can follow */
    sse_sink sink;
    void *arg;
} sse;

/* `event_max` limits the bytes of a line and of an event's data. */
void sse_init(sse *s, size_t event_max, sse_sink sink, void *arg);

/* Parses the next bytes of the stream. Returns false if the sink ended the stream, if a line or an
 * event exceeds the limit, or if out of memory. An event at the end of the stream that no empty
 * line follows is not passed to the sink. */
bool sse_feed(sse *s, slice bytes);

void sse_free(sse *s);

#endif
