/*
 * sse.h: a parser of server-sent events. The parser receives the bytes of a stream and passes the
 * data of each event to a function, by WHATWG's rules for lines and fields.
 */
#ifndef WORKER_SSE_H
#define WORKER_SSE_H

#include "base/buf.h"

/* Receives the data of an event, which is valid only during the call. The function returns false to
 * end the stream. */
typedef bool (*sse_sink)(void *arg, slice data);

typedef struct sse {
    buf line;
    buf data;
    bool after_cr;  /* true: the last byte was a CR, so the next byte is skipped if it is an LF */
    bool has_begun; /* true: the first line has ended; only this line may have a byte order mark */
    sse_sink sink;
    void *arg;
} sse;

/* `event_max` is the maximum size in bytes of a line, and of the data of an event. */
void sse_init(sse *s, size_t event_max, sse_sink sink, void *arg);

/* Parses the next bytes of the stream. Returns false if the sink ended the stream, if a line or an
 * event exceeds the limit, or if memory is exhausted. If no empty line follows the last event of
 * the stream, this event is not passed to the sink. */
bool sse_feed(sse *s, slice bytes);

void sse_free(sse *s);

#endif
