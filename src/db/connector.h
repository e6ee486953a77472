/*
 * connector.h: a thread that opens the connections of one connection string for event loops that
 * may not block. They are opened one after another. It uses libpq's blocking connect, which does
 * name resolution, service files, several hosts and timeouts.
 */
#ifndef DB_CONNECTOR_H
#define DB_CONNECTOR_H

#include <stdatomic.h>
#include "db/connect.h"

typedef struct connector connector;
typedef struct connect_attempt connect_attempt;

/* `open` counts the connections that were opened and not closed by connector_close; it must outlive
 * the connector. NULL: out of memory, or no thread. */
connector *connector_new(atomic_int *open);

/* Ends the thread and frees the connector. Each attempt must have been taken or abandoned. NULL is
 * fine. False: an attempt hangs in libpq or in name resolution. Then nothing is freed, the thread
 * goes on, and the process should end by _exit. */
bool connector_free(connector *c);

/* Queues an attempt. Writes to the eventfd `wake_fd` when it has ended. `options` is copied; its
 * texts must outlive the attempt, even an abandoned one.
 * NULL: out of memory. */
connect_attempt *connector_start(connector *c, const cardbox_options *options, int wake_fd);

/* True if the attempt has ended. Does not lock. */
bool connector_has_ended(const connect_attempt *a);

/* The connection of an attempt that has ended, for connector_close; NULL: it failed, and *why is
 * filled. Frees the attempt. */
PGconn *connector_take(connector *c, connect_attempt *a, cardbox_error *why);

/* Frees an attempt that nobody waits for any more, in any state. NULL is fine. */
void connector_abandon(connector *c, connect_attempt *a);

/* Closes a connection. NULL is fine. */
void connector_close(connector *c, PGconn *pg);

#endif
