/*
 * http_clients.h: the open connections of a loop, and a janitor for clients that are slow. The HTTP
 * library's own timeout starts anew with every byte, so a client that dribbles could stay for ever.
 */
#ifndef SERVER_HTTP_CLIENTS_H
#define SERVER_HTTP_CLIENTS_H

#include <stdint.h>
#include "base/slice.h"

typedef enum client_state {
    CLIENT_IDLE,    /* nothing of a request has been seen */
    CLIENT_SENDING, /* a request is arriving */
    CLIENT_WAITING  /* a request is all here: it is our turn */
} client_state;

typedef struct client {
    struct client *next, *prev;
    int fd;
    client_state state;
    int64_t since_ms;          /* in this state */
    bool fresh;                /* has sent no request so far */
    bool greeting;             /* its TLS handshake may go on: no request has come out of it */
    struct exchange *exchange; /* the request that is under way, or NULL */
} client;

typedef struct clients {
    client *first;
    size_t busy;    /* with a request that began or ended in the last second, or as young as that */
    int64_t due_ms; /* the janitor's next round; INT64_MAX: none until clients_stir */
    unsigned idle_rounds; /* rounds that follow; every fourth one checks the idle clients */
} clients;

/* NULL: no memory. */
client *client_open(clients *all, int fd);
void client_close(clients *all, client *c);

/* The one way to another state. */
void client_set_state(client *c, client_state to, int64_t now_ms);

/* Ends its connection. */
void client_shut(client *c, const char *reason, int64_t now_ms);

/* Whether the client has closed its side. */
bool client_left(const client *c);

/* Bytes have come for some client: the janitor looks at the idle ones again. */
void clients_stir(clients *all, int64_t now_ms);

/* Shuts down those that are sending a request for more than `patience_ms`, have left in the middle
 * of one, or have closed their side after the last. */
void clients_tick(clients *all, int64_t now_ms, int64_t patience_ms);

#endif
