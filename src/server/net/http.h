/*
 * http.h: the HTTP connections of one loop. Only the files of src/server/net use libmicrohttpd.
 * Other files of the server use the struct request.
 */
#ifndef SERVER_HTTP_H
#define SERVER_HTTP_H

#include "server/request/request.h"

/* Number of connections beyond --connections-max, which are kept for health checks. */
enum { HTTP_RESERVED = 8 };

typedef struct http http;

/* Installs the handler of libmicrohttpd's fatal errors. The server calls this once, before it
 * starts threads. */
void http_global_init(void);

/* The members of a loop that requests use. */
typedef struct http_parts {
    batcher *batcher;
    struct transfers *transfers;
    struct followers *followers;
    struct jobs *jobs;
} http_parts;

/* Creates the HTTP state of a loop. NULL: out of memory, or libmicrohttpd could not start. */
http *http_new(server_state *server, stats *s, const http_parts *parts);

/* Closes all connections and frees `h`. NULL is accepted. No request may be suspended. */
void http_free(http *h);

/* http_fd returns the descriptor to poll. http_next_ms returns the time, as clock_ms(), at which
 * http_run or http_tick is due even if the descriptor is not ready. */
int http_fd(const http *h);
int64_t http_next_ms(const http *h, int64_t now_ms);

/* Returns how many more connections all loops together may open: --connections-max minus the open
 * ones that are not reserved. */
int64_t http_free_connections(const server_state *server);

/* Closes the longest idle connection of this loop among those whose `reserved` has this value, at
 * the next http_run. Returns false if there is none. http_close_partial does the same with the
 * connections that have sent incomplete headers, or a request whose missing body is not needed. */
bool http_close_idle(http *h, bool reserved, int64_t now_ms);
bool http_close_partial(http *h, bool reserved, int64_t now_ms);

/* Accepts a connection, which is reserved if no other is free. Returns 0, also if the connection
 * was lost meanwhile, or else an errno of accept4(). EAGAIN: no connection is waiting. */
int http_accept(http *h, int listen_fd);

/* To be called when http_fd is ready, before http_run. */
void http_ready(http *h, int64_t now_ms);

/* Reads requests, calls handlers, and writes answers. */
void http_run(http *h, int64_t now_ms);

/* Closes connections whose request arrives too slowly or whose client has left, and logs the number
 * of answers of 503. */
void http_tick(http *h, int64_t now_ms);

/* Returns the number of requests that have begun to arrive and whose answer is not yet completely
 * sent. */
size_t http_active(const http *h);

#endif
