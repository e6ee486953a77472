/*
 * gc_thread.h: a thread that removes what is dead, at intervals, in small batches, and has tables
 * analyzed that have grown much. Any number of servers may have one: they take turns.
 */
#ifndef SERVER_GC_THREAD_H
#define SERVER_GC_THREAD_H

#include "server/server.h"

typedef struct gc_thread gc_thread;

/* NULL: no memory or no thread. */
gc_thread *gc_thread_start(server_state *server);

/* Ends it. NULL is fine. False: as periodic_stop. */
bool gc_thread_stop(gc_thread *s);

#endif
