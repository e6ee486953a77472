/*
 * notifier.h: notifies workers of new work, after requests have made some: in a thread of its own,
 * once for all requests of a moment, so that no answer waits for it. The thread sleeps until then.
 */
#ifndef SERVER_NOTIFIER_H
#define SERVER_NOTIFIER_H

#include "base/slice.h"
#include "server/server.h"

typedef struct notifier notifier;

/* For background_stop. NULL: no memory or no thread. */
notifier *notifier_start(server_state *server);

/* There is work in a project. Any thread; NULL is fine. */
void notifier_add(notifier *n, slice tenant);

#endif
