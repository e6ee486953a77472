/*
 * acceptor.h: one listening socket, of which every loop has a descriptor, and one loop at a time
 * that accepts connections from it. Must not know what they are used for.
 */
#ifndef SERVER_ACCEPTOR_H
#define SERVER_ACCEPTOR_H

#include "server/net/http.h"

/* A loop's side of it. */
typedef struct acceptor {
    server_state *server;
    size_t number; /* of the loop */
    int epoll_fd;
    uint64_t tag;
    int fd;          /* its descriptor of the socket; -1: it accepts no more */
    bool watched;    /* in the epoll set: it is this loop's turn */
    int64_t rest_ms; /* until then it accepts none: there were too many, or no memory */
} acceptor;

/* Which loop accepts the next connection, by what all of them have; `at` is the one whose turn it
 * is. A loop that lacks database connections takes none while another one has them.
 *
 * The first ACCEPT_BUSY busy connections are the first loop's, the next ones the second's, and when
 * each loop has as many, the one with the fewest takes the next: not chance, as with SO_REUSEPORT.
 * ACCEPT_BUSY is low: eight clients that read single cards are cheapest with one loop, where more
 * of them go in one statement, but answer a fifth less of them that read fifty cards at a time.
 *
 * A connection stays where it came, and one that is idle now may be busy later: so no loop takes
 * one while it has ACCEPT_AHEAD more than another, busy or not. What holds, however long the server
 * runs: new connections make up for a difference, and only clients that leave make a large one. */
size_t acceptor_next(const stats *loops, size_t count, size_t at);

enum { ACCEPT_BUSY = 1, ACCEPT_AHEAD = 16 };

/* Takes the descriptor over. It is in the loop's epoll set, with this tag, while it is the loop's
 * turn. */
void acceptor_open(acceptor *a, server_state *server, size_t number, int epoll_fd, uint64_t tag,
                   int fd);

/* A connection waits. */
void acceptor_ready(acceptor *a, http *to, int64_t now_ms);

/* Whether it is this loop's turn may have changed. */
void acceptor_tick(acceptor *a, int64_t now_ms);
int64_t acceptor_next_ms(const acceptor *a);

/* Accepts what waits already, unless `to` is NULL; then no more. */
void acceptor_close(acceptor *a, http *to);

#endif
