/*
 * gc_thread.h: a thread that removes what is dead, at intervals, in small batches, and has tables
 * analyzed that have grown much. Any number of servers may have one: they take turns.
 */
#ifndef SERVER_GC_THREAD_H
#define SERVER_GC_THREAD_H

#include "server/server.h"

/* The thread, for background_stop. NULL: no memory or no thread. */
void *gc_thread_start(server_state *server);

#endif
