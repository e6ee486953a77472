/*
 * outgoing.h: a text that a transfer's thread makes and its client reads: small pieces are gathered
 * in the thread, and sent on the loop as fast as the client reads, and no faster. Knows nothing of
 * what it is.
 */
#ifndef SERVER_OUTGOING_H
#define SERVER_OUTGOING_H

#include "server/background/transfers.h"

/* The struct of such a transfer begins with one. */
typedef struct outgoing {
    transfer transfer;
    buf chunk;
    bool begun;
} outgoing;

/* --- in the thread --- */

/* The answer may begin: what it is headed by is there. Else it begins when so much was gathered
 * that it has to go, so that what goes wrong before is answered as an error. */
void outgoing_begin(outgoing *o);

/* False: nobody reads it any more. */
bool outgoing_put(outgoing *o, slice piece);

/* Behind the last piece; gives the status of all of it. */
cardbox_status outgoing_end(outgoing *o, cardbox_status status);

/* --- on either side --- */

void outgoing_clear(transfer *t);

/* --- on the loop --- */

/* Answers when it begins, and sends. `head` adds headers. */
void outgoing_update(transfer *t, void (*head)(outgoing *o, request *r));

#endif
