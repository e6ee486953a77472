/*
 * loop.h: one thread with its own clients and its own database connections. Loops share nothing but
 * what server.h holds.
 */
#ifndef SERVER_LOOP_H
#define SERVER_LOOP_H

#include "cardbox/status.h"
#include "server/server.h"

typedef struct loop loop;

/* The loop of this number, from 0. Takes its descriptor of the listening socket over, whatever the
 * outcome. */
cardbox_status loop_new(loop **out, server_state *server, size_t number, int listen_fd,
                        cardbox_error *err);

/* Starts its thread. */
bool loop_start(loop *l);

/* Makes it look at server.stop at once. Any thread. */
void loop_wake(loop *l);

/* Waits until it has stopped. */
void loop_wait(loop *l);

/* The same, then frees it. */
void loop_free(loop *l);

#endif
