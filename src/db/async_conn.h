/*
 * async_conn.h: one non-blocking connection in pipeline mode, for an event loop. Statements are
 * sent at once and answered in order. Each statement has its own Sync message and is its own
 * implicit transaction. A lost connection is opened again. A connection belongs to one thread.
 * Knows nothing of HTTP and owns no loop.
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

/* The status of a connection, which owns and changes it. */
typedef struct async_status {
    size_t pending;           /* number of pending queries */
    int64_t busy_since_ms;    /* time at which the first pending query became the first */
    unsigned reads;           /* number of reads from the socket for the first query's response */
    size_t received;          /* bytes of the first query's response that are counted in the memory
                               * budget */
    unsigned failed_attempts; /* attempts to connect that failed since the last connection */
    unsigned socket_serial;   /* changes whenever async_conn_fd may return another socket, also if
                               * the new socket has the same number */
    char reason[CARDBOX_MESSAGE_SIZE]; /* why the last connection was lost or could not be made */
    char refusal[6]; /* SQLSTATE with which PostgreSQL refused the last attempt to connect, or "" */
} async_status;

/* Limits for the time of a statement and for its wait for a lock (0: no limit). */
typedef struct query_limits {
    unsigned statement_ms;
    unsigned lock_ms;
} query_limits;

/* Called with the outcome of a statement: its rows and err NULL, or NULL and the error. The
 * callee owns the rows (rows_free). The callee may send statements on the same connection, or drop
 * the connection, but not free it. */
typedef void (*query_done)(void *arg, store_rows *rows, const cardbox_error *err);

/* Creates a connection that the connector `by` opens. The first attempt to connect starts in the
 * first async_conn_tick. After each attempt the connector writes to the eventfd `wake_fd`. The
 * bytes of large answers are counted in `budget` (NULL: not counted) while they arrive, unless
 * their rows are passed one by one. The texts of the options, `by` and `budget` must outlive the
 * connection. Returns CARDBOX_INVALID if the connection string is malformed, or CARDBOX_NOMEM. */
cardbox_status async_conn_new(async_conn **out, const cardbox_options *options, connector *by,
                              int wake_fd, memory_budget *budget, cardbox_error *err);

/* Closes and frees a connection. Pending queries fail with CARDBOX_UNAVAILABLE. NULL is accepted.
 */
void async_conn_free(async_conn *c);

/* Returns the status. The pointer stays valid until async_conn_free. */
const async_status *async_conn_status(const async_conn *c);

/* Returns the socket; -1 while there is no connection. */
int async_conn_fd(const async_conn *c);

/* Returns the events for which the socket must be polled: ASYNC_READ, perhaps with ASYNC_WRITE. */
unsigned async_conn_events(const async_conn *c);

/* Reads and writes, and calls query_done functions. To be called when the socket is ready for one
 * of the events of async_conn_events. */
void async_conn_ready(async_conn *c);

/* Starts the next attempt to connect, adopts the connection of an attempt that succeeded, or closes
 * a connection whose oldest statement has passed its deadline. Call async_conn_tick no later than
 * at the time that async_conn_next_ms returns. */
void async_conn_tick(async_conn *c, int64_t now_ms);
int64_t async_conn_next_ms(const async_conn *c); /* clock_ms() time; INT64_MAX: nothing is due */

/* Makes the next attempt to connect due at once, since another connection could be opened. */
void async_conn_retry_now(async_conn *c);

/* True if the connection is open, or an attempt to connect is queued or running. */
bool async_conn_is_wanted(const async_conn *c);

bool async_conn_is_up(const async_conn *c); /* true: async_conn_send can be used */

/* Fails the first pending query, and closes the connection, because the rest of the query's
 * response can't be skipped otherwise. The query's error is retryable if its response may fit into
 * the memory budget later. Other pending queries fail too, with CARDBOX_UNAVAILABLE. */
void async_conn_abort_answer(async_conn *c, cardbox_status status, const char *reason);

/* Closes an open connection; the next async_conn_tick starts the next attempt to connect. If an
 * attempt is running, abandons it; the next attempt starts after a pause. */
void async_conn_drop(async_conn *c, const char *reason);

/* Sends a statement. The first use of a statement on this connection prepares it. `p` is always
 * emptied; NULL: no parameters. `limits` NULL: the statement timeout of the options. Other limits
 * are set by a statement that is sent before, in the same transaction. If this function succeeds,
 * `done` is called exactly once, later. Otherwise `done` is not called, and the statement is not
 * run. */
cardbox_status async_conn_send(async_conn *c, statement_id id, params *p,
                               const query_limits *limits, query_done done, void *arg,
                               cardbox_error *err);

/* Called with one row of a statement, which the callee owns, and the `arg` of the statement's
 * query_done. Returns false if no more rows are needed. The statement then ends as with
 * async_conn_abort_answer and CARDBOX_TOO_LARGE. The callee must not use the connection. */
typedef bool (*query_on_rows)(void *arg, store_rows *rows);

/* Passes the rows of the statement that was sent last one by one as they arrive. query_done then
 * gets a result without these rows. If the statement fails, the rows are invalid. Receiving a large
 * response row by row costs half as much as receiving it as a whole, because each row uses the same
 * memory. */
void async_conn_each_row(async_conn *c, query_on_rows some);

#endif
