/*
 * connector.h: a thread that opens database connections for event loops, which must not block. The
 * thread opens one connection after another with libpq's blocking connect, which does name
 * resolution, service files, several hosts and timeouts.
 */
#ifndef DB_CONNECTOR_H
#define DB_CONNECTOR_H

#include <stdatomic.h>
#include "db/connect.h"

typedef struct connector connector;
typedef struct connect_attempt connect_attempt;

/* Starts the thread. *open counts the connections that were opened and not yet closed by
 * connector_close; `open` must outlive the connector. NULL: out of memory, or no thread could be
 * started. */
connector *connector_new(atomic_int *open);

/* Ends the thread and frees the connector. connector_take or connector_abandon must have been
 * called for each attempt. NULL is accepted. Returns false if an attempt still runs, for example
 * because it hangs in name resolution: then nothing is freed, the thread continues, and the process
 * should end with _exit. */
bool connector_free(connector *c);

/* Queues an attempt to connect. When the attempt has ended, the thread writes to the eventfd
 * `wake_fd`, unless the attempt was abandoned. `options` is copied, but not its texts, which must
 * outlive the attempt, even if it is abandoned. NULL: out of memory. */
connect_attempt *connector_start(connector *c, const cardbox_options *options, int wake_fd);

/* True if the attempt has ended. Uses no lock. */
bool connector_has_ended(const connect_attempt *a);

/* Frees an attempt that has ended, and returns its connection, which the caller closes with
 * connector_close. NULL: the attempt failed, and *why has the error. */
PGconn *connector_take(connector *c, connect_attempt *a, cardbox_error *why);

/* Abandons an attempt in any state. The attempt is freed and its connection closed, at once or
 * later by the thread. NULL is accepted. */
void connector_abandon(connector *c, connect_attempt *a);

/* Closes a connection that connector_take has returned. NULL is accepted. */
void connector_close(connector *c, PGconn *pg);

#endif
