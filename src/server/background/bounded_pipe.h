/*
 * bounded_pipe.h: a pipe of bounded size between a thread, which waits, and a loop, which must not:
 * what the loop can't do now it is woken for later. Knows nothing of what the bytes are.
 */
#ifndef SERVER_BOUNDED_PIPE_H
#define SERVER_BOUNDED_PIPE_H

#include <sys/types.h>
#include "base/slice.h"

typedef struct bounded_pipe bounded_pipe;

/* `wake` is called on the thread's side when the loop found nothing to take, or too little room,
 * and there is some now. It may not use the bounded_pipe. NULL: no memory. */
bounded_pipe *bounded_pipe_new(size_t size, void (*wake)(void *arg), void *arg);
void bounded_pipe_free(bounded_pipe *p);

/* --- the thread's side --- */

/* Puts all of it in, waiting for room. False: the bounded_pipe was shut. */
bool bounded_pipe_put(bounded_pipe *p, slice bytes);

/* Takes up to `size_max` bytes, waiting for the first. 0: the end; -1: the pipe was shut. */
ssize_t bounded_pipe_take(bounded_pipe *p, char *to, size_t size_max);

/* --- the loop's side --- */

/* Puts in what there is room for now. */
size_t bounded_pipe_offer(bounded_pipe *p, slice bytes);

/* What can be taken at once, lent until bounded_pipe_took. Empty: nothing now. */
slice bounded_pipe_peek(bounded_pipe *p);
void bounded_pipe_took(bounded_pipe *p, size_t len);

/* Whether it makes sense to peek or offer again. */
bool bounded_pipe_is_ready(bounded_pipe *p);

/* --- either side --- */

/* Nothing is put in any more; what is inside can be taken. */
void bounded_pipe_end(bounded_pipe *p);

/* Whoever waits, waits no longer; nothing goes in or comes out. */
void bounded_pipe_shut(bounded_pipe *p);

bool bounded_pipe_is_shut(bounded_pipe *p);

#endif
