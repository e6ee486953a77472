/*
 * acceptor.h: accepts connections from the listening socket. Each loop has a descriptor of the
 * socket. While the server serves, only one loop at a time, the accepting loop, accepts
 * connections.
 */
#ifndef SERVER_ACCEPTOR_H
#define SERVER_ACCEPTOR_H

#include "server/net/http.h"

/* The acceptor of one loop. */
typedef struct acceptor {
    server_state *server;
    size_t number; /* the loop's number */
    int epoll_fd;
    uint64_t tag;
    int fd;       /* the loop's descriptor of the listening socket; -1: closed */
    bool watched; /* `fd` is in the epoll set, because this is the accepting loop */
    /* end of a pause in which the loop accepts no connections, because there are too many or
     * accepting failed */
    int64_t paused_until_ms;
} acceptor;

/* Returns the number of the loop that accepts the next connection: the loop with the fewest
 * clients, or the accepting loop `at` if it has only one client more. A loop in which a group has
 * no usable connection to the primary is chosen only if this is so in all loops. With SO_REUSEPORT
 * the kernel would choose a loop at random. */
size_t acceptor_next(const stats *loops, size_t count, size_t at);

/* Accepts waiting connections, or makes another loop the accepting loop. To be called when `fd` is
 * ready. */
void acceptor_ready(acceptor *a, http *to, int64_t now_ms);

/* Begins to watch the socket if this loop is the accepting loop and not in a pause. */
void acceptor_tick(acceptor *a, int64_t now_ms);
int64_t acceptor_next_ms(const acceptor *a);

/* Accepts the connections that are waiting now, unless `to` is NULL, and closes the descriptor. */
void acceptor_close(acceptor *a, http *to);

#endif
