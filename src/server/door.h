/*
 * door.h: where connections come in: one socket that all loops listen on, and one loop at a time
 * that takes them from it, until it is another's turn. Knows no HTTP.
 */
#ifndef SERVER_DOOR_H
#define SERVER_DOOR_H

#include "server/http.h"

/* A loop's side of it. */
typedef struct door {
    shared *house;
    size_t number; /* of the loop */
    int epoll_fd;
    uint64_t tag;
    int fd;          /* its descriptor of the socket; -1: it takes no more */
    bool watched;    /* the loop stands at the door */
    int64_t rest_ms; /* until then it takes none: there were too many, or no memory */
} door;

/* Which loop takes the next connection, by what all of them have; `at` stands at the door.
 *
 * Few clients are best served by one loop, as what they ask for goes in one statement: with eight
 * of them cards cost a seventh less. So the first loop takes all until DOOR_BUSY of its connections
 * are busy, then the second, and when all loops have as many each next one goes to the loop with
 * the fewest. A connection stays where it came, and who is idle now may be busy later: so no loop
 * ever takes one while it has DOOR_AHEAD more than another, busy or not. */
size_t door_next(const stats *loops, size_t count, size_t at);

enum { DOOR_BUSY = 16, DOOR_AHEAD = 16 };

/* Takes the descriptor over. It is watched in the loop's epoll set, with this tag, while the loop
 * stands at the door. */
void door_open(door *d, shared *house, size_t number, int epoll_fd, uint64_t tag, int fd);

/* Somebody is at the door. */
void door_ready(door *d, http *to, int64_t now_ms);

/* Whether it is this loop's turn may have changed. */
void door_tick(door *d, int64_t now_ms);
int64_t door_next_ms(const door *d);

/* Lets in who waits already; then none. */
void door_close(door *d, http *to);

#endif
