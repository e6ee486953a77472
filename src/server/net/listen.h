/*
 * listen.h: the listening socket. It is a TCP socket, a Unix socket with a path, or a socket that
 * systemd passes to the server.
 */
#ifndef SERVER_LISTEN_H
#define SERVER_LISTEN_H

#include "cardbox/status.h"

#define LISTEN_NAME_SIZE 256

typedef struct listener {
    int *fds; /* one descriptor for each loop; -1: not open, or the loop owns it now */
    size_t count;
    char name[LISTEN_NAME_SIZE]; /* "http://127.0.0.1:8099" or "unix:/path" */
    bool reachable;     /* the socket is a TCP socket, and its address is no loopback address */
    const char *unlink; /* the path of the Unix socket, which listener_close removes; or NULL */
} listener;

/* Opens the listening socket, and one descriptor for each of `loops` loops. `where` is "ADDR:PORT",
 * "[ADDR]:PORT" or "unix:/path"; it is ignored if systemd has passed a socket. Returns
 * CARDBOX_INVALID if `where` is malformed or its host is unknown. The caller calls listener_close
 * in any case. */
cardbox_status listener_open(listener *out, const char *where, size_t loops, cardbox_error *err);

/* Closes the descriptors that no loop owns, and removes the path of a Unix socket. */
void listener_close(listener *l);

#endif
