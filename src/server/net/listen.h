/*
 * listen.h: sockets that listen: an address and port, a path in the file system, or one that a
 * service manager hands over.
 */
#ifndef SERVER_LISTEN_H
#define SERVER_LISTEN_H

#include <stdbool.h>
#include <stddef.h>

#define LISTEN_NAME_SIZE 256

typedef struct listener {
    int *fds; /* one for each loop; -1: handed over */
    size_t count;
    char name[LISTEN_NAME_SIZE]; /* "http://127.0.0.1:8099" or "unix:/path" */
    bool reachable;              /* by other machines */
    const char *unlink;          /* the path to remove at the end, or NULL */
    bool no_place;               /* after a failure: what was given can't be listened on anywhere */
} listener;

/* Opens `where`, "ADDR:PORT", "[ADDR]:PORT" or "unix:/path", for so many loops. False, with
 * the reason in `error`. */
bool listener_open(listener *out, const char *where, size_t loops, char *error, size_t size);

/* Closes what was not handed over, and removes a socket's path. */
void listener_close(listener *l);

#endif
