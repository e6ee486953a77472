/*
 * ring.h: a pipe of bounded size between a thread, which waits, and a loop, which must not: what
 * the loop can't do now it is woken for later. Knows nothing of what the bytes are.
 */
#ifndef SERVER_RING_H
#define SERVER_RING_H

#include "base/view.h"

typedef struct ring ring;

/* `wake` is called on the thread's side when the loop found nothing to take, or too little room,
 * and there is some now. It may not use the ring. NULL: no memory. */
ring *ring_new(size_t size, void (*wake)(void *arg), void *arg);
void ring_free(ring *r);

/* --- the thread's side --- */

/* Puts all of it in, waiting for room. False: the ring was shut. */
bool ring_put(ring *r, view bytes);

/* Takes up to `room` bytes, waiting for the first. 0: the end; see ring_is_shut. */
size_t ring_take(ring *r, char *to, size_t room);

/* --- the loop's side --- */

/* Puts in what there is room for now. */
size_t ring_offer(ring *r, view bytes);

/* What can be taken at once, lent until ring_took. Empty: nothing now. */
view ring_peek(ring *r);
void ring_took(ring *r, size_t len);

/* Whether it makes sense to peek or offer again. */
bool ring_is_ready(ring *r);

/* --- either side --- */

/* Nothing is put in any more; what is inside can be taken. */
void ring_end(ring *r);

/* Whoever waits, waits no longer; nothing goes in or comes out. */
void ring_shut(ring *r);

bool ring_is_shut(ring *r);

#endif
