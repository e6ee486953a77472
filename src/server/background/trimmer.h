/*
 * trimmer.h: a thread that gives memory back to the system which a burst of large bodies has left
 * free. Knows nothing of requests but how many bytes they and their answers had.
 */
#ifndef SERVER_TRIMMER_H
#define SERVER_TRIMMER_H

#include "server/server.h"

typedef struct trimmer trimmer;

/* NULL: no memory or no thread. */
trimmer *trimmer_start(const server_state *server);

/* The loops' stats must still be there. */
void trimmer_stop(trimmer *t);

#endif
