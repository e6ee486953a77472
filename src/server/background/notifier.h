/*
 * notifier.h: a thread that notifies workers of new work in a project, so that no request waits for
 * the notification. Several requests for one project share a notification.
 */
#ifndef SERVER_NOTIFIER_H
#define SERVER_NOTIFIER_H

#include "base/slice.h"
#include "server/server.h"

typedef struct notifier notifier;

/* For background_stop. NULL: no memory or no thread. */
notifier *notifier_start(server_state *server);

/* Adds a project with new work. Any thread may call it. NULL is accepted. */
void notifier_add(notifier *n, slice tenant);

#endif
