/*
 * pipe.h: one non-blocking connection in pipeline mode, for an event loop: statements go out as
 * they come, answers come back in order, each as its own implicit transaction (one Sync a
 * statement). Reconnects by itself. Belongs to one thread. Knows nothing of HTTP and owns no loop.
 */
#ifndef DB_PIPE_H
#define DB_PIPE_H

#include "cardbox/client.h"
#include "db/params.h"
#include "db/rows.h"
#include "db/statement.h"

typedef struct store_pipe store_pipe;

enum { PIPE_READ = 1, PIPE_WRITE = 2 };

/* The time that a statement may take, and wait for a lock (0: any time). */
typedef struct pipe_limits {
    unsigned statement_ms;
    unsigned lock_ms;
} pipe_limits;

/* What became of a statement: rows (now the callee's, rows_free) with err NULL; or NULL and why.
 * May send more on the same pipe, or drop its connection; may not free it. */
typedef void (*pipe_done)(void *arg, store_rows *rows, const cardbox_error *err);

/* What the pipes of one thread have learnt of the hosts in their connection string: with which one
 * an attempt begins. All zeros: nothing. */
typedef struct pipe_hosts {
    unsigned first;
    int64_t until_ms; /* then they are taken in order again, which may be meant */
} pipe_hosts;

/* A pipe that makes its first attempt to connect in its first pipe_tick. Of the options it takes
 * conninfo, application_name, connect_timeout_ms, statement_timeout_ms and no_named_statements.
 * `settings`: more for its sessions, as "-c name=value" each, at most CONNECT_MORE_MAX bytes; not
 * sent where statements have no names. All texts and `hosts` must outlive the pipe. CARDBOX_INVALID
 * for a bad connection string, CARDBOX_NOMEM. */
cardbox_status pipe_new(store_pipe **out, const cardbox_options *options, const char *settings,
                        pipe_hosts *hosts, cardbox_error *err);

/* Fails what is in flight with CARDBOX_UNAVAILABLE, then closes. */
void pipe_free(store_pipe *pipe);

/* The socket; -1 while there is none. */
int pipe_fd(const store_pipe *pipe);

/* Changes whenever pipe_fd may be another socket than before, even of the same number. */
unsigned pipe_socket_serial(const store_pipe *pipe);

/* What to wait for on it: PIPE_READ, PIPE_WRITE. */
unsigned pipe_events(const store_pipe *pipe);

/* Call when the socket is ready for any of these: connects on, reads, writes, calls pipe_done. */
void pipe_ready(store_pipe *pipe);

/* Call by pipe_next_ms at the latest: starts the next attempt to connect, gives up on a connection
 * that does not come or whose oldest statement is over its deadline. */
void pipe_tick(store_pipe *pipe, int64_t now_ms);
int64_t pipe_next_ms(const store_pipe *pipe); /* clock_ms() time; INT64_MAX: nothing is due */

/* The next attempt to connect is due at once: another connection has found the database up. */
void pipe_hurry(store_pipe *pipe);

bool pipe_up(const store_pipe *pipe); /* connected: pipe_send will do */
size_t pipe_in_flight(const store_pipe *pipe);
int64_t pipe_busy_since_ms(const store_pipe *pipe); /* INT64_MAX: nothing is in flight */

/* When a message of a MB or more came or went last, while nothing is in flight; INT64_MAX: none
 * has, or something is. libpq has made room for all of it, and keeps that for as long as the
 * connection lives. */
int64_t pipe_swollen_ms(const store_pipe *pipe);

/* How often something has come of what is in flight first: about as many times 8 KiB, or more. */
unsigned pipe_reads(const store_pipe *pipe);

/* Ends what is in flight first, as one that has failed so, and the connection: there is no other
 * way to take no more of it. */
void pipe_refuse(store_pipe *pipe, cardbox_status status, const char *reason);

/* Attempts to connect that have failed since it was connected last. */
unsigned pipe_failed_attempts(const store_pipe *pipe);

/* Why the last connection was lost or could not be made; "" if none was. */
const char *pipe_reason(const store_pipe *pipe);

/* The SQLSTATE with which PostgreSQL refused the last attempt to connect; "": it did not. */
const char *pipe_refusal(const store_pipe *pipe);

/* Closes the connection; it is made anew at once. For what this pipe can't see by itself. */
void pipe_drop(store_pipe *pipe, const char *reason);

/* Sends a statement (prepares it first on its first use on this connection). `p` is taken over and
 * left empty, whatever the outcome; NULL: no parameters. `limits` NULL: the options' timeout;
 * others go before it in the same transaction. `done` is called exactly once, later, unless this
 * fails: then the database did not run it. */
cardbox_status pipe_send(store_pipe *pipe, statement_id id, params *p, const pipe_limits *limits,
                         pipe_done done, void *arg, cardbox_error *err);

/* Some of a statement's rows (now the callee's), with the `arg` of its pipe_done. False: no more of
 * them are wanted; the statement ends as with pipe_refuse, CARDBOX_TOO_LARGE. May not touch the
 * pipe. */
typedef bool (*pipe_rows)(void *arg, store_rows *rows);

/* The rows of the statement that was sent last are given one by one as they come, and pipe_done is
 * given none; after a failure they count for nothing. That a large answer is never there as a whole
 * costs half as much as that it is: its memory is always the same, and in the processor's cache. */
void pipe_each_row(store_pipe *pipe, pipe_rows some);

#endif
