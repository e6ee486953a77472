/*
 * background.h: the threads beside the loops that repeat a task: auth_watcher, gc_thread,
 * notifier and search_indexer. Each has a database connection with short timeouts, since the server
 * waits for the threads when it stops.
 */
#ifndef SERVER_BACKGROUND_H
#define SERVER_BACKGROUND_H

#include "base/periodic.h"
#include "cardbox/client.h"
#include "server/batch/slots.h"

/* The first member of the struct of each background thread. */
typedef struct background {
    server_state *server;
    periodic periodic;
    cardbox *db; /* the thread's database connection; NULL: not open */
} background;

/* Allocates the struct of a thread: `size` bytes, all zeros except the member `server`. NULL: out
 * of memory. */
void *background_new(size_t size, server_state *server);

/* Starts a thread and returns its struct. If the thread can't be started, frees the struct and
 * returns NULL. `thread` may be NULL. */
void *background_start(void *thread, periodic_task task);

/* Ends a thread, closes its connection and frees its struct. `thread` may be NULL. Returns false if
 * the thread still runs after 1 second: see periodic_stop. */
bool background_stop(void *thread);

/* Opens `*db` unless it is open. `name` is the application_name of the connection, and `timeout_ms`
 * limits connecting and each statement. */
cardbox_status background_db_open(cardbox **db, const settings *set, const char *name,
                                  unsigned timeout_ms, cardbox_error *err);

/* Does what background_db_open does, and reports a failure to slots.c. Does not open the database
 * but returns CARDBOX_UNAVAILABLE while no loop has a usable connection of each group to the
 * primary. */
cardbox_status background_db_open_when_served(cardbox **db, server_state *server, const char *name,
                                              unsigned timeout_ms);

/* Reports an error to slots.c if it means that PostgreSQL had no free connection slot. */
void background_db_report(server_state *server, slots_user asker, const cardbox_error *err);

/* Closes a thread's connection if slots are scarce. gc_thread, notifier and search_indexer call
 * this after their work. */
void background_db_close_if_scarce(cardbox **db, const server_state *server);

/* --- the threads --- */

/* Starts the thread that polls the list of tokens, the rights of the database role, the number of
 * free connection slots, and whether the queue of the search has rows. Each of the functions that
 * start a thread returns NULL if memory runs out or the thread can't be started. */
typedef struct auth_watcher auth_watcher;
auth_watcher *auth_watcher_start(server_state *server);

/* Returns whether the auth watcher has polled the database at least once, with or without success.
 */
bool auth_watcher_has_checked(auth_watcher *w);

/* Returns whether the server must not start, because its database role has too many or too few
 * rights. The error has the reason and the remedy. */
bool auth_watcher_refuses(auth_watcher *w, cardbox_error *err);

/* Starts the thread that removes expired and deleted rows in small batches, and analyzes tables
 * that have grown. Each server of a database may run such a thread: only the thread that holds a
 * lock in the database removes rows. */
void *gc_thread_start(server_state *server);

/* Starts the thread that notifies workers of new work in a project, so that no request waits for
 * the notification. Several requests for one project may cause a single notification. */
typedef struct notifier notifier;
notifier *notifier_start(server_state *server);

/* Requests a notification for a project that has new work. Any thread may call this. `n` may be
 * NULL. */
void notifier_add(notifier *n, slice tenant);

/* Starts the thread that indexes cards, messages and entries for the search. Each server of a
 * database may run such a thread: only one of them indexes at a time. */
typedef struct search_indexer_thread search_indexer_thread;
search_indexer_thread *search_indexer_start(server_state *server);

/* Wakes the thread if documents are queued, or if it has a connection while slots are scarce: then
 * it closes the connection. The auth watcher calls this after each poll. `s` may be NULL. */
void search_indexer_wake(search_indexer_thread *s, bool is_queued);

#endif
