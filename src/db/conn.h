/*
 * conn.h: one connection on which the caller waits for each statement. The statements are those of
 * statement.h. A connection belongs to one thread at a time. This file has no pools and no retries.
 */
#ifndef DB_CONN_H
#define DB_CONN_H

#include <sys/types.h>
#include "db/connect.h"
#include "db/params.h"
#include "db/rows.h"
#include "db/statement.h"

typedef struct store_conn {
    PGconn *pg;
    pid_t pid;     /* the process that opened or borrowed the connection */
    bool borrowed; /* pg belongs to the caller of cardbox_borrow: conn_close does not close it */
    bool named;    /* each statement is prepared before its first run */
    unsigned deadline_ms; /* time limit of each response and each partial send; 0: none */
    int64_t idle_since_ms;
    int64_t retire_ms;       /* clock_ms() time after which the pool closes the connection */
    struct store_conn *next; /* next in a list, such as the pool's idle list */
    statement_id running;    /* the statement that was sent last */
    bool prepared[STATEMENT_COUNT];
} store_conn;

cardbox_status conn_open(store_conn **out, const cardbox_options *options, cardbox_error *err);

/* Closes and frees the connection. NULL is accepted. A borrowed PGconn stays open. In a child after
 * fork, nothing is sent on the parent's socket. */
void conn_close(store_conn *conn);

/* True if this process is a child of the process that opened the connection. Such a child must not
 * send anything on the connection. */
bool conn_is_forked(const store_conn *conn);

/* Runs one statement. `p` and `rows` may be NULL. If a prepared statement is missing on the server,
 * the status is CARDBOX_UNAVAILABLE, as for a lost connection: the statement can be run on another
 * connection. */
cardbox_status conn_run(store_conn *conn, statement_id id, const params *p, store_rows **rows,
                        cardbox_error *err);

/* True if no statement is running on the connection, and the connection is blocking and not in
 * pipeline mode. */
bool conn_is_idle(const PGconn *pg);

bool conn_alive(const store_conn *conn);
bool conn_in_transaction(const store_conn *conn);

/* True if the connection is alive and its socket has no input. The end of a connection that the
 * server has closed counts as input. */
bool conn_has_no_input(store_conn *conn);

#endif
