/*
 * http.h: the HTTP side of one loop: connections of clients, requests in, answers out. The HTTP
 * library is known to this room alone; the rest of the server sees requests.
 */
#ifndef SERVER_HTTP_H
#define SERVER_HTTP_H

#include "server/request/request.h"

typedef struct http http;

/* Once, before threads start: what the library calls when it finds itself broken. */
void http_global_init(void);

/* What else a loop has that requests need. */
typedef struct http_parts {
    batcher *batcher;
    struct transfers *transfers;
    struct followers *followers;
    struct jobs *jobs;
} http_parts;

/* NULL: it says why in the log. */
http *http_new(server_state *server, stats *s, const http_parts *parts);

/* Closes all connections. No request may be suspended. */
void http_free(http *h);

/* What to wait for, and until when (clock_ms) at the latest: then it has something to do although
 * http_fd is not ready. */
int http_fd(const http *h);
int64_t http_next_ms(const http *h, int64_t now_ms);

/* Takes a connection that waits at a socket that listens. Gives 0, or why it could take none, as
 * errno: EAGAIN, nobody waits. */
int http_accept(http *h, int listen_fd);

/* http_fd is ready: http_run is to be called. */
void http_ready(http *h, int64_t now_ms);

/* Reads, calls handlers, writes. */
void http_run(http *h, int64_t now_ms);

/* Closes connections that are too slow with a request. */
void http_tick(http *h, int64_t now_ms);

/* Requests that have begun to arrive and whose answer has not left. */
size_t http_active(const http *h);

#endif
