/*
 * bounded_pipe.h: a byte pipe of fixed size between a thread, which may wait, and a loop, which
 * must not: the loop is woken when it can continue.
 */
#ifndef SERVER_BOUNDED_PIPE_H
#define SERVER_BOUNDED_PIPE_H

#include <sys/types.h>
#include "base/slice.h"

typedef struct bounded_pipe bounded_pipe;

/* The thread writes to the eventfd `wake_fd` when the loop found the pipe empty or full, and that
 * has changed. NULL: out of memory. */
bounded_pipe *bounded_pipe_new(size_t size, int wake_fd);
void bounded_pipe_free(bounded_pipe *p);

/* --- the thread's side --- */

/* Puts all bytes in, waiting for free space. False: the bounded_pipe was shut. */
bool bounded_pipe_put(bounded_pipe *p, slice bytes);

/* Removes up to `size_max` bytes, waiting for the first. 0: the end; -1: the pipe was shut. */
ssize_t bounded_pipe_take(bounded_pipe *p, char *to, size_t size_max);

/* --- the loop's side --- */

/* Puts in as much as fits now, and returns that number of bytes. */
size_t bounded_pipe_offer(bounded_pipe *p, slice bytes);

/* The bytes that can be read at once, lent until bounded_pipe_took. Empty: none now. */
slice bounded_pipe_peek(bounded_pipe *p);
void bounded_pipe_took(bounded_pipe *p, size_t len);

/* True if it makes sense to peek or offer again. */
bool bounded_pipe_is_ready(bounded_pipe *p);

/* --- either side --- */

/* Nothing is put in any more; what is inside can be taken. */
void bounded_pipe_end(bounded_pipe *p);

/* Ends all waiting. After it nothing can be put in or taken out. */
void bounded_pipe_shut(bounded_pipe *p);

bool bounded_pipe_is_shut(bounded_pipe *p);

#endif
