/*
 * keeper.h: a thread that keeps what the loops must know and can't wait for: the list of tokens,
 * and whether the database role is fit for a server. Has a database connection of its own.
 */
#ifndef SERVER_KEEPER_H
#define SERVER_KEEPER_H

#include "server/server.h"

typedef struct keeper keeper;

/* NULL: no memory or no thread. */
keeper *keeper_start(server_state *server);

/* Whether it has asked the database once, with or without success. */
bool keeper_has_looked(keeper *k);

/* Why the server must not serve, and what to do: one line. False: nothing speaks against it, as far
 * as is known. */
bool keeper_objects(keeper *k, char *out, size_t size);

/* Ends it. NULL is fine. False: as ticker_stop. */
bool keeper_stop(keeper *k);

#endif
