/*
 * client.h: the struct behind a handle, and the functions that run the statements of public
 * functions. On a pool a failed statement may be sent again; in a transaction or on a borrowed
 * connection these functions send it once.
 */
#ifndef STORE_CLIENT_H
#define STORE_CLIENT_H

#include "db/pool.h"

typedef enum client_kind { CLIENT_POOL, CLIENT_TRANSACTION, CLIENT_BORROWED } client_kind;

struct cardbox {
    client_kind kind;
    store_pool *pool;                      /* the pool; NULL for a borrowed connection */
    store_conn *conn;                      /* the connection; NULL for a pool */
    struct append_batcher *append_batcher; /* NULL unless the handle is of a pool */
};

/* A statement may be sent again, although the server may have executed it, if running it twice has
 * the effect of running it once. */
typedef enum client_safety {
    RUN_ONCE,
    RUN_AGAIN_HERE, /* running the same statement twice is safe, but if the caller repeats its call,
                       that call makes new ids */
    RUN_AGAIN
} client_safety;

/* Runs one statement and frees its parameters; `p` and `rows` may be NULL. On a pool, the statement
 * is sent again until a time limit if a conflict such as a deadlock rolled it back, or if the
 * database was not available. With RUN_ONCE it is not sent again if the server may have executed
 * it. */
cardbox_status client_run(cardbox *db, statement_id id, params *p, client_safety safety,
                          store_rows **rows, cardbox_error *err);

/* Like client_run, for a call that began at `began_us` (clock_us). The time limits for retries and
 * for the first connection count from that time. */
cardbox_status client_run_since(cardbox *db, int64_t began_us, statement_id id, params *p,
                                client_safety safety, store_rows **rows, cardbox_error *err);

/* Like cardbox_begin, but begins the transaction with the statement `begin`. */
cardbox_status client_begin(cardbox **tx, cardbox *db, statement_id begin, cardbox_error *err);

#endif
