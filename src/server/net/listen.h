/*
 * listen.h: the listening socket: an address and port, a path in the file system, or a socket that
 * a service manager passes.
 */
#ifndef SERVER_LISTEN_H
#define SERVER_LISTEN_H

#include "cardbox/status.h"

#define LISTEN_NAME_SIZE 256

typedef struct listener {
    int *fds; /* one for each loop; -1: the loop owns it now */
    size_t count;
    char name[LISTEN_NAME_SIZE]; /* "http://127.0.0.1:8099" or "unix:/path" */
    bool reachable;              /* other machines can connect */
    const char *unlink;          /* the path to remove when the server stops, or NULL */
} listener;

/* Opens `where`, "ADDR:PORT", "[ADDR]:PORT" or "unix:/path", for `loops` loops. CARDBOX_INVALID: it
 * is malformed. */
cardbox_status listener_open(listener *out, const char *where, size_t loops, cardbox_error *err);

/* Closes the descriptors that no loop owns, and removes a socket's path. */
void listener_close(listener *l);

#endif
