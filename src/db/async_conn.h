/*
 * async_conn.h: one non-blocking connection in pipeline mode, for an event loop: statements are
 * sent at once, answers come back in order, each as its own implicit transaction (one Sync a
 * statement). Reconnects by itself. Belongs to one thread. Knows nothing of HTTP and owns no loop.
 */
#ifndef DB_ASYNC_CONN_H
#define DB_ASYNC_CONN_H

#include "base/memory.h"
#include "db/connector.h"
#include "db/params.h"
#include "db/rows.h"
#include "db/statement.h"

typedef struct async_conn async_conn;

enum { ASYNC_READ = 1, ASYNC_WRITE = 2 };

/* The time that a statement may take, and wait for a lock (0: any time). */
typedef struct query_limits {
    unsigned statement_ms;
    unsigned lock_ms;
} query_limits;

/* The outcome of a statement: its rows (now the callee's, rows_free) with err NULL, or NULL and the
 * error. May send more on the same connection, or drop it; may not free it. */
typedef void (*query_done)(void *arg, store_rows *rows, const cardbox_error *err);

/* A connection that is opened by `by`, which writes to the eventfd `wake_fd` when an attempt has
 * ended; the first attempt starts in the first async_conn_tick. Of the options it uses conninfo,
 * application_name, connect_timeout_ms, statement_timeout_ms and no_named_statements. All
 * texts and `by` must outlive it. CARDBOX_INVALID for a bad connection string, CARDBOX_NOMEM. */
cardbox_status async_conn_new(async_conn **out, const cardbox_options *options, connector *by,
                              int wake_fd, cardbox_error *err);

/* Fails pending queries with CARDBOX_UNAVAILABLE, then closes. NULL is fine. */
void async_conn_free(async_conn *c);

/* The socket; -1 while not connected. */
int async_conn_fd(const async_conn *c);

/* Changes whenever async_conn_fd may be another socket than before, even of the same number. */
unsigned async_conn_socket_serial(const async_conn *c);

/* What to wait for on it: ASYNC_READ, ASYNC_WRITE. */
unsigned async_conn_events(const async_conn *c);

/* Call when the socket is ready for any of these: reads, writes, calls query_done. */
void async_conn_ready(async_conn *c);

/* Call by async_conn_next_ms at the latest: starts the next attempt to connect, takes over its
 * connection, gives up a connection whose oldest statement is over its deadline. */
void async_conn_tick(async_conn *c, int64_t now_ms);
int64_t async_conn_next_ms(const async_conn *c); /* clock_ms() time; INT64_MAX: nothing is due */

/* The next attempt to connect is due at once: another connection has found the database up. */
void async_conn_retry_now(async_conn *c);

/* Whether it is connected, or an attempt is queued or under way. */
bool async_conn_is_wanted(const async_conn *c);

bool async_conn_is_up(const async_conn *c); /* connected: async_conn_send will do */
size_t async_conn_pending(const async_conn *c);
int64_t async_conn_busy_since_ms(const async_conn *c); /* INT64_MAX: no query is pending */

/* How often bytes of the first pending query's answer were read: each time 8 KiB or more. */
unsigned async_conn_reads(const async_conn *c);

/* Counts the bytes of large answers in `budget` while they arrive, unless their rows are passed one
 * by one. The budget must outlive the connection. */
void async_conn_count(async_conn *c, memory_budget *budget);

/* The bytes that are counted now: of the first pending query's answer, without its beginning. */
size_t async_conn_received(const async_conn *c);

/* Fails the first pending query and closes the connection: there is no other way to receive no more
 * of its answer. */
void async_conn_refuse(async_conn *c, cardbox_status status, const char *reason);

/* Attempts to connect that have failed since it was connected last. */
unsigned async_conn_failed_attempts(const async_conn *c);

/* Why the last connection was lost or could not be made; "" if none was. */
const char *async_conn_reason(const async_conn *c);

/* The SQLSTATE with which PostgreSQL refused the last attempt to connect; "": it did not. */
const char *async_conn_refusal(const async_conn *c);

/* Closes the connection and opens another at once. */
void async_conn_drop(async_conn *c, const char *reason);

/* Sends a statement (prepares it first on its first use on this connection). `p` is taken over and
 * left empty, whatever the outcome; NULL: no parameters. `limits` NULL: the options' timeout;
 * others are sent before it in the same transaction. `done` is called exactly once, later, unless
 * this fails: then the database did not run it. */
cardbox_status async_conn_send(async_conn *c, statement_id id, params *p,
                               const query_limits *limits, query_done done, void *arg,
                               cardbox_error *err);

/* Some of a statement's rows (now the callee's), with the `arg` of its query_done. False: no more
 * rows are needed; the statement ends as with async_conn_refuse, CARDBOX_TOO_LARGE. May not touch
 * the connection. */
typedef bool (*query_rows)(void *arg, store_rows *rows);

/* The rows of the statement that was sent last are passed one by one as they come, and query_done
 * gets none; if the statement fails, they are void. A large answer that is never in memory as a
 * whole costs half of one that is: it uses the same memory again, in the processor's cache. */
void async_conn_each_row(async_conn *c, query_rows some);

#endif
