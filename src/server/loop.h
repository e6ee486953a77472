/*
 * loop.h: a thread with its own clients and its own database connections. Loops share only the
 * members of server_state.
 */
#ifndef SERVER_LOOP_H
#define SERVER_LOOP_H

#include "cardbox/status.h"
#include "server/server.h"

typedef struct loop loop;

/* Creates a loop. `number` counts from 0. The loop owns `listen_fd`, a descriptor of the listening
 * socket. If loop_new fails, `listen_fd` is closed. */
cardbox_status loop_new(loop **out, server_state *server, size_t number, int listen_fd,
                        cardbox_error *err);

/* Starts the thread of a loop. False: no thread could be started. */
bool loop_start(loop *l);

/* Makes a loop begin its next iteration at once, in which the loop reads server_state. Any thread
 * may call this. */
void loop_wake(loop *l);

/* Waits until the thread of a loop has ended. */
void loop_wait(loop *l);

/* Waits until the thread of a loop has ended, then frees the loop. NULL is accepted. */
void loop_free(loop *l);

#endif
