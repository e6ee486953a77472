/*
 * background.h: the threads beside the loops that repeat a task: auth_watcher, gc_thread and
 * notifier. Each has a database connection with short timeouts, since stopping waits for them.
 */
#ifndef SERVER_BACKGROUND_H
#define SERVER_BACKGROUND_H

#include "base/periodic.h"
#include "cardbox/client.h"
#include "server/batch/slots.h"

/* The struct of each such thread begins with this. */
typedef struct background {
    server_state *server;
    periodic periodic;
    cardbox *db; /* the thread's own; NULL: not open */
} background;

/* A struct of `size` bytes, all zeros but its server. NULL: out of memory. */
void *background_new(size_t size, server_state *server);

/* Starts the thread and returns it. NULL, and it is freed: there is no thread. NULL is accepted. */
void *background_start(void *thread, periodic_task task);

/* Ends and frees the thread. NULL is accepted. False: see periodic_stop. */
bool background_stop(void *thread);

/* Opens *db unless it is open. `name` is what the database calls the connection; `timeout_ms`
 * limits the connect, and each statement. */
cardbox_status background_db_open(cardbox **db, const settings *set, const char *name,
                                  unsigned timeout_ms, cardbox_error *err);

/* As background_db_open, but CARDBOX_UNAVAILABLE until a loop has its connections. */
cardbox_status background_db_open_when_served(cardbox **db, server_state *server, const char *name,
                                              unsigned timeout_ms);

/* Reports to slots.c if PostgreSQL had no connection slot for this connection. */
void background_db_report(server_state *server, slots_user asker, const cardbox_error *err);

/* Called at the end of each cycle: closes the connection while slots are scarce. */
void background_db_close_if_scarce(cardbox **db, const server_state *server);

/* --- the threads --- */

/* Starts the thread that polls what the loops need in memory: the list of tokens, and whether the
 * database role has the right privileges. NULL: no memory or no thread, as for the next two. */
typedef struct auth_watcher auth_watcher;
auth_watcher *auth_watcher_start(server_state *server);

/* Returns whether it has queried the database once, with or without success. */
bool auth_watcher_has_checked(auth_watcher *w);

/* Returns whether the server must not serve, for a reason that the error has with a remedy. */
bool auth_watcher_refuses(auth_watcher *w, cardbox_error *err);

/* Starts the thread that removes expired and deleted rows in small batches, and analyzes tables
 * that have grown. Several servers may run one: a lock in the database lets one work at a time. */
void *gc_thread_start(server_state *server);

/* Starts the thread that notifies workers of new work in a project, so that no request waits for
 * the notification. Several requests for one project share a notification. */
typedef struct notifier notifier;
notifier *notifier_start(server_state *server);

/* Adds a project with new work. Any thread may call it. NULL is accepted. */
void notifier_add(notifier *n, slice tenant);

#endif
