/*
 * async_conn.h: one non-blocking connection in pipeline mode, for an event loop. Statements are
 * sent at once and answered in order. Each has its own Sync and is its own implicit transaction.
 * Reconnects by itself. Belongs to one thread. Knows nothing of HTTP and owns no loop.
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

/* Owned and changed by the connection. */
typedef struct async_status {
    size_t pending;           /* number of pending queries */
    int64_t busy_since_ms;    /* if queries are pending: when the first one became the first */
    unsigned reads;           /* for the first query's response, of 8 KiB or more each */
    size_t received;          /* bytes of that response that are counted in the memory budget */
    unsigned failed_attempts; /* to connect, since it was connected last */
    unsigned socket_serial;   /* changes whenever async_conn_fd may return another socket than
                               * before, even one of the same number */
    char reason[CARDBOX_MESSAGE_SIZE]; /* why the last connection was lost or could not be made */
    char refusal[6]; /* SQLSTATE with which PostgreSQL refused the last attempt; "": it did not */
} async_status;

/* Limits for the time of a statement and for its wait for a lock (0: no limit). */
typedef struct query_limits {
    unsigned statement_ms;
    unsigned lock_ms;
} query_limits;

/* Called with the outcome of a statement: its rows and err NULL, or NULL and the error. The
 * callee owns the rows (rows_free). It may send more on the same connection, or drop it, but not
 * free it. */
typedef void (*query_done)(void *arg, store_rows *rows, const cardbox_error *err);

/* Creates a connection that `by` opens, which writes to the eventfd `wake_fd` after each attempt.
 * The first attempt starts in the first async_conn_tick. Uses conninfo, application_name, both
 * timeouts and no_named_statements; their texts, `by` and `budget` must outlive the connection. The
 * bytes of large answers are counted in `budget` (NULL: not) while they arrive, unless their rows
 * are passed one by one. Returns CARDBOX_INVALID for a bad connection string, and CARDBOX_NOMEM. */
cardbox_status async_conn_new(async_conn **out, const cardbox_options *options, connector *by,
                              int wake_fd, memory_budget *budget, cardbox_error *err);

/* Fails pending queries with CARDBOX_UNAVAILABLE, then closes. NULL is fine. */
void async_conn_free(async_conn *c);

/* The status. The pointer stays the same while the connection exists. */
const async_status *async_conn_status(const async_conn *c);

/* The socket; -1 while not connected. */
int async_conn_fd(const async_conn *c);

/* The events to poll the socket for: ASYNC_READ, ASYNC_WRITE. */
unsigned async_conn_events(const async_conn *c);

/* Call when the socket is ready for any of these: reads, writes, calls query_done. */
void async_conn_ready(async_conn *c);

/* Call by async_conn_next_ms at the latest. Starts the next attempt to connect, adopts the
 * connection of an attempt that succeeded, and closes a connection whose oldest statement is over
 * its deadline. */
void async_conn_tick(async_conn *c, int64_t now_ms);
int64_t async_conn_next_ms(const async_conn *c); /* clock_ms() time; INT64_MAX: nothing is due */

/* The next attempt to connect is due at once: another connection has found the database up. */
void async_conn_retry_now(async_conn *c);

/* True if it is connected, or an attempt is queued or running. */
bool async_conn_is_wanted(const async_conn *c);

bool async_conn_is_up(const async_conn *c); /* connected: async_conn_send will do */

/* Fails the first pending query and closes the connection, which is the only means to stop
 * receiving its response. Other pending queries fail too, with CARDBOX_UNAVAILABLE. The first
 * one's error is retryable if its response may fit into the memory budget later. */
void async_conn_abort_answer(async_conn *c, cardbox_status status, const char *reason);

/* Closes the connection, and starts the next attempt to connect in the next async_conn_tick. While
 * connecting: ends the attempt, and starts the next one after a pause. */
void async_conn_drop(async_conn *c, const char *reason);

/* Sends a statement. Its first use on this connection prepares it. `p` is always emptied; NULL: no
 * parameters. `limits` NULL: the options' timeout; others are sent before it in the same
 * transaction. `done` is called exactly once, later. If this function fails, `done` is not called
 * and the database did not run the statement. */
cardbox_status async_conn_send(async_conn *c, statement_id id, params *p,
                               const query_limits *limits, query_done done, void *arg,
                               cardbox_error *err);

/* Called with some of a statement's rows, which the callee owns, and the `arg` of its query_done.
 * False: no more rows are needed. The statement then ends as with async_conn_abort_answer,
 * CARDBOX_TOO_LARGE. The callee must not use the connection. */
typedef bool (*query_on_rows)(void *arg, store_rows *rows);

/* Passes the rows of the statement that was sent last one by one as they arrive; query_done gets
 * none. If the statement fails, the rows are invalid. A large response costs half as much if it is
 * never in memory as a whole, because the same memory is used again. */
void async_conn_each_row(async_conn *c, query_on_rows some);

#endif
