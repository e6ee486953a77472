/*
 * conn.h: one blocking connection that runs statements of the table, preparing each on its first
 * use. Belongs to one thread at a time. Knows nothing of pools and retries.
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
    pid_t pid;            /* the process that opened it */
    bool borrowed;        /* it belongs to the caller: it is never closed, and has no deadline */
    bool named;           /* statements may be prepared */
    unsigned deadline_ms; /* for one statement; 0: none */
    int64_t idle_since_ms;
    int64_t retire_ms;       /* not used again after this */
    struct store_conn *next; /* in the pool's idle list */
    statement_id running;    /* the statement that was sent last */
    bool prepared[STATEMENT_COUNT];
} store_conn;

cardbox_status conn_open(store_conn **out, const cardbox_options *options, cardbox_error *err);

/* Closes the connection. NULL is accepted. A borrowed PGconn stays open. In a child after fork the
 * memory is freed, and the parent's socket is not touched. */
void conn_close(store_conn *conn);

/* True if this is a child of the process that opened it. Nothing may be sent on it then. */
bool conn_is_forked(const store_conn *conn);

/* Runs one statement. `p` may be NULL, and `rows` too if none are needed. If the server has
 * forgotten a prepared statement, the status is CARDBOX_UNAVAILABLE, as for a lost connection:
 * another connection helps. */
cardbox_status conn_run(store_conn *conn, statement_id id, const params *p, store_rows **rows,
                        cardbox_error *err);

/* True if a lent connection is idle, so that a statement can be sent now. */
bool conn_is_idle(const PGconn *pg);

bool conn_alive(const store_conn *conn);
bool conn_in_transaction(const store_conn *conn);

/* True if nothing has arrived on an idle connection, so that it is still usable. */
bool conn_has_no_input(store_conn *conn);

#endif
