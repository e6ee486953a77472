/*
 * loop.h: a thread with its own clients and its own database connections. Loops share only the
 * members of server_state.
 */
#ifndef SERVER_LOOP_H
#define SERVER_LOOP_H

#include "cardbox/status.h"
#include "server/server.h"

typedef struct loop loop;

/* The loop of this number, from 0. It owns its descriptor of the listening socket, which it
 * closes on failure too. */
cardbox_status loop_new(loop **out, server_state *server, size_t number, int listen_fd,
                        cardbox_error *err);

/* Starts its thread. */
bool loop_start(loop *l);

/* Makes the loop read server.stop at once. Any thread may call it. */
void loop_wake(loop *l);

/* Waits until the loop has stopped. */
void loop_wait(loop *l);

/* Waits likewise, then frees the loop. */
void loop_free(loop *l);

#endif
