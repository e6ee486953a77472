/*
 * incoming.h: a body of any length on its way into a transfer's thread: the loop puts into the
 * bounded_pipe what comes, as far as there is room, and the thread takes it out. Knows nothing of
 * what it is.
 */
#ifndef SERVER_INCOMING_H
#define SERVER_INCOMING_H

#include "server/background/transfers.h"

/* The request's sink; its plan is the transfer. */
extern const request_sink INCOMING_SINK;

/* In the thread: takes what comes next out of the transfer's bounded_pipe, `arg`. 0: that was all;
 * negative, and errno set: the client left, and what is left of a line must not pass for a whole
 * one. */
ssize_t incoming_read(void *arg, char *to, size_t room);

/* On the loop: answers when it is over, by `done`, or where the thread has failed by `stopped`. */
void incoming_update(transfer *t, void (*done)(transfer *t, request *r),
                     void (*stopped)(transfer *t));

#endif
