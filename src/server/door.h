/*
 * door.h: where connections come in: one socket that all loops have, and one loop at a time that
 * takes connections from it, until it is another's turn. Must not know what they are used for.
 */
#ifndef SERVER_DOOR_H
#define SERVER_DOOR_H

#include "server/http/http.h"

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
 * The first DOOR_BUSY busy connections are the first loop's, the next ones the second's, and when
 * each loop has as many, the one with the fewest takes the next: not chance, as with SO_REUSEPORT.
 * DOOR_BUSY is low: eight clients that read single cards are cheapest with one loop, where more of
 * them go in one statement, but answer a fifth less of them that read fifty cards at a time.
 *
 * A connection stays where it came, and one that is idle now may be busy later: so no loop takes
 * one while it has DOOR_AHEAD more than another, busy or not. What holds, however long the server
 * runs: new connections make up for a difference, and only clients that leave make a large one. */
size_t door_next(const stats *loops, size_t count, size_t at);

enum { DOOR_BUSY = 1, DOOR_AHEAD = 16 };

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
