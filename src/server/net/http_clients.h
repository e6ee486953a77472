/*
 * http_clients.h: the open connections of a loop, and a periodic check for slow clients. The HTTP
 * library's timeout restarts with every byte, so it does not stop a client that sends slowly.
 */
#ifndef SERVER_HTTP_CLIENTS_H
#define SERVER_HTTP_CLIENTS_H

#include <stdint.h>
#include "base/slice.h"

typedef enum client_state {
    CLIENT_IDLE,    /* between requests */
    CLIENT_SENDING, /* a request is arriving */
    CLIENT_WAITING  /* a request was received completely; the server works on it */
} client_state;

typedef struct client {
    struct client *next, *prev;
    int fd;
    client_state state;
    int64_t since_ms;          /* in this state */
    bool fresh;                /* has sent no request yet */
    bool handshaking;          /* in its TLS handshake, or before its first request */
    struct exchange *exchange; /* its current request, or NULL */
} client;

typedef struct clients {
    client *first;
    size_t busy;          /* clients whose state changed in the last second */
    int64_t due_ms;       /* next check; INT64_MAX: none until clients_check_idle */
    unsigned idle_rounds; /* checks that follow; every fourth one includes the idle clients */
} clients;

/* NULL: no memory. */
client *client_open(clients *all, int fd);
void client_close(clients *all, client *c);

/* Changes the state. */
void client_set_state(client *c, client_state to, int64_t now_ms);

/* Closes the connection. */
void client_shut_down(client *c, const char *reason, int64_t now_ms);

/* True if the client closed its side. */
bool client_has_left(const client *c);

/* Bytes were received: the idle clients are checked again. */
void clients_check_idle(clients *all, int64_t now_ms);

/* Closes connections whose request does not arrive within `patience_ms`, and those that the client
 * closed. */
void clients_tick(clients *all, int64_t now_ms, int64_t patience_ms);

#endif
