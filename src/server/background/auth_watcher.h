/*
 * auth_watcher.h: a thread that keeps what the loops must know and can't wait for: the list of
 * tokens, and whether the database role is fit for a server. Has a database connection of its own.
 */
#ifndef SERVER_AUTH_WATCHER_H
#define SERVER_AUTH_WATCHER_H

#include "server/server.h"

typedef struct auth_watcher auth_watcher;

/* For background_stop. NULL: no memory or no thread. */
auth_watcher *auth_watcher_start(server_state *server);

/* Whether it has asked the database once, with or without success. */
bool auth_watcher_has_checked(auth_watcher *w);

/* Why the server must not serve, and what to do: one line. False: nothing speaks against it, as far
 * as is known. */
bool auth_watcher_refuses(auth_watcher *w, char *out, size_t size);

#endif
