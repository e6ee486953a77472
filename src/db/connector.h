/*
 * connector.h: a thread that opens database connections for event loops, which must not block. All
 * connections have the same connection string, and are opened one after another. The thread uses
 * libpq's blocking connect, which does name resolution, service files, several hosts and timeouts.
 */
#ifndef DB_CONNECTOR_H
#define DB_CONNECTOR_H

#include <stdatomic.h>
#include "db/connect.h"

typedef struct connector connector;
typedef struct connect_attempt connect_attempt;

/* Starts the thread. `open` is the number of connections that were opened and not yet closed by
 * connector_close; the number is stored by the caller, and must outlive the connector. NULL: out of
 * memory, or no thread could be started. */
connector *connector_new(atomic_int *open);

/* Ends the thread and frees the connector. connector_take or connector_abandon must have been
 * called for each attempt. NULL is accepted. Returns false if an attempt hangs in libpq or in name
 * resolution: then nothing is freed, the thread continues, and the process should end with _exit.
 */
bool connector_free(connector *c);

/* Queues an attempt to connect. The thread writes to the eventfd `wake_fd` when the attempt has
 * ended. `options` is copied, but not its texts, which must outlive the attempt, also if it is
 * abandoned. NULL: out of memory. */
connect_attempt *connector_start(connector *c, const cardbox_options *options, int wake_fd);

/* True if the attempt has ended. Uses no lock. */
bool connector_has_ended(const connect_attempt *a);

/* Returns the connection of an attempt that has ended, which the caller closes with
 * connector_close; NULL: the attempt failed, and *why has the error. Frees the attempt. */
PGconn *connector_take(connector *c, connect_attempt *a, cardbox_error *why);

/* Abandons an attempt in any state; it is freed, and its connection closed. NULL is accepted. */
void connector_abandon(connector *c, connect_attempt *a);

/* Closes a connection that connector_take has returned. NULL is accepted. */
void connector_close(connector *c, PGconn *pg);

#endif
