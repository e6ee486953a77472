/*
 * http.h: the HTTP connections of one loop. Only this folder uses the HTTP library; the rest of the
 * server sees requests.
 */
#ifndef SERVER_HTTP_H
#define SERVER_HTTP_H

#include "server/request/request.h"

typedef struct http http;

/* Installs the handler of the library's fatal errors. Called once, before threads start. */
void http_global_init(void);

/* Other parts of the loop that requests use. */
typedef struct http_parts {
    batcher *batcher;
    struct transfers *transfers;
    struct followers *followers;
    struct jobs *jobs;
} http_parts;

/* NULL: out of memory, or the HTTP library has logged the reason. */
http *http_new(server_state *server, stats *s, const http_parts *parts);

/* Closes all connections. No request may be suspended. */
void http_free(http *h);

/* The descriptor to poll, and the time (clock_ms) at which http_run is due even if the descriptor
 * is not ready. */
int http_fd(const http *h);
int64_t http_next_ms(const http *h, int64_t now_ms);

/* Accepts a connection. Returns 0 or an errno; EAGAIN: no connection waits. */
int http_accept(http *h, int listen_fd);

/* http_fd is ready, and http_run is called next. */
void http_ready(http *h, int64_t now_ms);

/* Reads requests, calls handlers, writes answers. */
void http_run(http *h, int64_t now_ms);

/* Closes connections whose request arrives too slowly. */
void http_tick(http *h, int64_t now_ms);

/* Requests that began to arrive and whose answer is not completely sent. */
size_t http_active(const http *h);

#endif
