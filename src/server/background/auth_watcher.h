/*
 * auth_watcher.h: a thread that polls what the loops need in memory: the list of tokens, and
 * whether the database role has the right privileges. It has a database connection of its own.
 */
#ifndef SERVER_AUTH_WATCHER_H
#define SERVER_AUTH_WATCHER_H

#include "server/server.h"

typedef struct auth_watcher auth_watcher;

/* For background_stop. NULL: no memory or no thread. */
auth_watcher *auth_watcher_start(server_state *server);

/* Returns whether it has queried the database once, with or without success. */
bool auth_watcher_has_checked(auth_watcher *w);

/* Returns whether the server must not serve, and writes the reason and a remedy to `out`. */
bool auth_watcher_refuses(auth_watcher *w, char *out, size_t size);

#endif
