/*
 * async_conn.h: one non-blocking connection in pipeline mode, for an event loop. Statements are
 * sent at once and answered in order. Each statement has its own Sync message and is its own
 * implicit transaction. If the connection is lost, async_conn_tick starts an attempt to connect. A
 * connection belongs to one thread. Knows nothing of HTTP and owns no loop.
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

/* The status of a connection. Only functions of async_conn.h change it. */
typedef struct async_status {
    size_t pending;        /* number of pending queries */
    int64_t busy_since_ms; /* time at which the first pending query became the first */
    unsigned reads;        /* how often the socket was read for the first query's response */
    size_t received; /* bytes of the first query's response that are counted in the memory budget */
    unsigned failed_attempts; /* attempts to connect that failed since the last connection */
    unsigned socket_serial; /* changes when the socket may have changed, even if the new socket has
                               the same number */
    char reason[CARDBOX_MESSAGE_SIZE]; /* why the connection was lost or could not be opened; "" if
                                          it is open */
    char refusal[6]; /* SQLSTATE with which PostgreSQL refused the last attempt to connect, or "" */
} async_status;

/* Limits for the time of a statement, and for its wait for a lock (lock_ms 0: no limit). */
typedef struct query_limits {
    unsigned statement_ms;
    unsigned lock_ms;
} query_limits;

/* A function that receives the outcome of a statement: its rows with `err` NULL, or the error with
 * `rows` NULL. The function owns the rows (rows_free). The function may send statements on the same
 * connection, or drop the connection, but not free it. */
typedef void (*query_done)(void *arg, store_rows *rows, const cardbox_error *err);

/* Creates a connection that the connector `by` opens. The first async_conn_tick starts an attempt.
 * After each attempt the connector writes to the eventfd `wake_fd`. Large responses are counted in
 * `budget` (NULL: not counted) while they arrive, but not after async_conn_each_row. The texts of
 * the options, `by` and `budget` must outlive the connection. Errors: CARDBOX_INVALID for a
 * connection string that conninfo_check rejects, CARDBOX_NOMEM. */
cardbox_status async_conn_new(async_conn **out, const cardbox_options *options, connector *by,
                              int wake_fd, memory_budget *budget, cardbox_error *err);

/* Closes and frees a connection. Pending queries fail with CARDBOX_UNAVAILABLE. NULL is accepted.
 */
void async_conn_free(async_conn *c);

/* Returns the status. The pointer stays valid until async_conn_free. */
const async_status *async_conn_status(const async_conn *c);

/* Returns the socket; -1 while there is no connection. */
int async_conn_fd(const async_conn *c);

/* Returns the events for which the socket must be polled: ASYNC_READ, or ASYNC_READ | ASYNC_WRITE.
 */
unsigned async_conn_events(const async_conn *c);

/* Reads and writes, and calls query_done functions. To be called when the socket is ready for an
 * event that async_conn_events has returned. */
void async_conn_ready(async_conn *c);

/* Does what is due: starts an attempt to connect, handles an attempt that has ended, or drops a
 * connection. A connection is dropped if it is broken, or its first query has passed its deadline.
 * To be called at the time that async_conn_next_ms returns, or before. */
void async_conn_tick(async_conn *c, int64_t now_ms);
int64_t async_conn_next_ms(const async_conn *c); /* clock_ms() time; INT64_MAX: nothing is due */

/* Ends the pause before the next attempt to connect, since another connection could be opened. */
void async_conn_retry_now(async_conn *c);

/* True unless the connection waits for the time of its next attempt to connect. */
bool async_conn_is_wanted(const async_conn *c);

bool async_conn_is_up(const async_conn *c); /* true: async_conn_send can be used */

/* Fails the first pending query, and closes the connection, because libpq can't skip the rest of
 * the response. The query's error is retryable if its response may fit into the memory budget
 * later. All other pending queries fail with CARDBOX_UNAVAILABLE. */
void async_conn_abort_answer(async_conn *c, cardbox_status status, const char *reason);

/* Closes an open connection; the next async_conn_tick starts an attempt to connect. If an attempt
 * is queued or running, abandons it; the next attempt starts after a pause. */
void async_conn_drop(async_conn *c, const char *reason);

/* Sends a statement. Without no_named_statements, the first use of a statement on this connection
 * prepares it. `p` is always emptied; NULL: no parameters. `limits` NULL: the statement timeout of
 * the options, and no lock timeout. If the session has other limits, a statement before this one
 * sets them in the same transaction. If the result is CARDBOX_OK, `done` is called exactly once,
 * later. Otherwise `done` is not called, and the statement has no effect. */
cardbox_status async_conn_send(async_conn *c, statement_id id, params *p,
                               const query_limits *limits, query_done done, void *arg,
                               cardbox_error *err);

/* A function that receives one row of a statement, and the `arg` of the statement's query_done. The
 * function owns the row (rows_free), and must not use the connection. It returns false if no more
 * rows are needed; the statement then ends as with async_conn_abort_answer and CARDBOX_TOO_LARGE.
 */
typedef bool (*query_on_rows)(void *arg, store_rows *rows);

/* Passes each row of the statement that was sent last to `some` as it arrives. So the whole
 * response need not be in memory. query_done then gets a result without these rows. If the
 * statement fails, the caller must not use the rows that have arrived. */
void async_conn_each_row(async_conn *c, query_on_rows some);

#endif
