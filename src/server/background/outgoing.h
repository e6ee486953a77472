/*
 * outgoing.h: an answer that the thread of a transfer writes. The thread collects chunks, and the
 * loop sends them as fast as the client reads.
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

/* Begins the answer. Without this call it begins with the first full chunk, so that an earlier
 * failure is answered as an error. */
void outgoing_begin(outgoing *o);

/* False: the client does not read any more. */
bool outgoing_put(outgoing *o, slice piece);

/* Sends the last chunk, if `status` is CARDBOX_OK. Returns the status of the whole answer. */
cardbox_status outgoing_end(outgoing *o, cardbox_status status);

/* --- on either side --- */

void outgoing_clear(transfer *t);

/* --- on the loop --- */

/* Begins and sends the answer. `head` adds headers. */
void outgoing_update(transfer *t, void (*head)(outgoing *o, request *r));

#endif
