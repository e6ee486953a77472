/*
 * bounded_pipe.h: a byte pipe of fixed size between a thread and a loop. The thread waits for bytes
 * or free space. The loop does not wait: an eventfd wakes the loop when there are bytes or free
 * space.
 */
#ifndef SERVER_BOUNDED_PIPE_H
#define SERVER_BOUNDED_PIPE_H

#include <sys/types.h>
#include "base/slice.h"

typedef struct bounded_pipe bounded_pipe;

/* Creates a pipe of `size` bytes. If the loop has found the pipe empty or full, the thread writes
 * to the eventfd `wake_fd` as soon as the loop can continue. NULL: out of memory. */
bounded_pipe *bounded_pipe_new(size_t size, int wake_fd);
void bounded_pipe_free(bounded_pipe *p);

/* --- the thread's side --- */

/* Writes all bytes to the pipe, and waits for free space. Returns false if the pipe was shut. */
bool bounded_pipe_put(bounded_pipe *p, slice bytes);

/* Reads up to `size_max` bytes from the pipe, and waits for the first byte. Returns the number of
 * bytes read; 0: the pipe was ended and is empty; -1: the pipe was shut. */
ssize_t bounded_pipe_take(bounded_pipe *p, char *to, size_t size_max);

/* --- the loop's side --- */

/* Writes as many bytes to the pipe as it has free space for, and returns their number. */
size_t bounded_pipe_offer(bounded_pipe *p, slice bytes);

/* Returns the bytes that can be read at once; an empty slice: none. The bytes stay in the pipe
 * until bounded_pipe_took removes the first `len` bytes. */
slice bounded_pipe_peek(bounded_pipe *p);
void bounded_pipe_took(bounded_pipe *p, size_t len);

/* Returns false while the loop, which has found the pipe empty or full, waits to be woken. */
bool bounded_pipe_is_ready(bounded_pipe *p);

/* --- either side --- */

/* Marks the end of the bytes: when the pipe is empty, bounded_pipe_take then returns 0. */
void bounded_pipe_end(bounded_pipe *p);

/* Shuts the pipe: the thread stops waiting, and all its later reads and writes fail. */
void bounded_pipe_shut(bounded_pipe *p);

bool bounded_pipe_is_shut(bounded_pipe *p);

#endif
