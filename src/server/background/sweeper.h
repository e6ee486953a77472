/*
 * sweeper.h: a thread that removes what is dead, at intervals, in small batches, and has tables
 * analyzed that have grown much. Any number of servers may have one: they take turns.
 */
#ifndef SERVER_SWEEPER_H
#define SERVER_SWEEPER_H

#include "server/server.h"

typedef struct sweeper sweeper;

/* NULL: no memory or no thread. */
sweeper *sweeper_start(server_state *server);

/* Ends it. NULL is fine. False: as ticker_stop. */
bool sweeper_stop(sweeper *s);

#endif
