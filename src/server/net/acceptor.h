/*
 * acceptor.h: accepts connections from the listening socket. Every loop has a descriptor of
 * the socket, and one loop at a time accepts.
 */
#ifndef SERVER_ACCEPTOR_H
#define SERVER_ACCEPTOR_H

#include "server/net/http.h"

/* The acceptor of one loop. While this loop accepts, the descriptor is in its epoll set. */
typedef struct acceptor {
    server_state *server;
    size_t number; /* the loop's */
    int epoll_fd;
    uint64_t tag;
    int fd;                  /* its descriptor of the socket, owned; -1: it accepts no more */
    bool watched;            /* the descriptor is in the epoll set: this loop accepts */
    int64_t paused_until_ms; /* too many connections, or out of memory */
} acceptor;

/* The loop that accepts the next connection: the one with the fewest clients, or the accepting loop
 * `at` if it has hardly more. A loop that lacks database connections is chosen only if all do. With
 * SO_REUSEPORT the kernel would choose at random. */
size_t acceptor_next(const stats *loops, size_t count, size_t at);

/* The descriptor is ready: a connection waits. */
void acceptor_ready(acceptor *a, http *to, int64_t now_ms);

/* Begins to watch the socket if this loop has become the accepting one, or its pause is over. */
void acceptor_tick(acceptor *a, int64_t now_ms);
int64_t acceptor_next_ms(const acceptor *a);

/* Accepts the connections that wait already, unless `to` is NULL, and closes the descriptor. */
void acceptor_close(acceptor *a, http *to);

#endif
