/*
 * incoming.h: passes a request's body of any length to the thread of a transfer. The loop fills the
 * bounded_pipe, and the thread reads from it.
 */
#ifndef SERVER_INCOMING_H
#define SERVER_INCOMING_H

#include "server/background/transfers.h"

/* The request's sink; its plan is the transfer. */
extern const request_sink INCOMING_SINK;

/* In the thread: reads from the bounded_pipe `arg`. 0: the end. Negative, and errno is set: the
 * client left, and the last line may be incomplete. */
ssize_t incoming_read(void *arg, char *to, size_t room);

/* On the loop: answers when the thread has ended: by `done`, or after a failure by `stopped`. */
void incoming_update(transfer *t, void (*done)(transfer *t, request *r),
                     void (*stopped)(transfer *t));

#endif
