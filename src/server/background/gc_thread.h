/*
 * gc_thread.h: a thread that removes expired and deleted rows in small batches, and analyzes tables
 * that have grown. Several servers may run one: a lock in the database lets one work at a time.
 */
#ifndef SERVER_GC_THREAD_H
#define SERVER_GC_THREAD_H

#include "server/server.h"

/* The thread, for background_stop. NULL: no memory or no thread. */
void *gc_thread_start(server_state *server);

#endif
