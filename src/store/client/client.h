/*
 * client.h: what a handle is inside, and how every public function runs its statement: with retries
 * on a pool, as it is in a transaction.
 */
#ifndef STORE_CLIENT_H
#define STORE_CLIENT_H

#include "db/pool.h"

typedef enum client_kind { CLIENT_POOL, CLIENT_TRANSACTION, CLIENT_BORROWED } client_kind;

struct cardbox {
    client_kind kind;
    store_pool *pool;                      /* NULL for a borrowed connection */
    store_conn *conn;                      /* NULL for a pool */
    struct append_batcher *append_batcher; /* of a pool only */
};

/* Whether running a statement twice does the same as running it once. */
typedef enum client_safety {
    RUN_ONCE,
    RUN_AGAIN_HERE, /* so it does, but the caller's next call would have other ids, made for it */
    RUN_AGAIN
} client_safety;

/*
 * Runs one statement and frees its parameters; `p` may be NULL. On a pool a lost connection is
 * waited for and the statement sent again, if that is safe: always for what can't have reached the
 * server or what the server refused, else not for RUN_ONCE. `rows` may be NULL.
 */
cardbox_status client_run(cardbox *db, statement_id id, params *p, client_safety safety,
                          store_rows **rows, cardbox_error *err);

/* The same for a call that began at `began_us` (clock_us): its waiting for a connection and its
 * retries count from there. */
cardbox_status client_run_since(cardbox *db, int64_t began_us, statement_id id, params *p,
                                client_safety safety, store_rows **rows, cardbox_error *err);

/* A statement under way. */
typedef struct client_flight {
    cardbox *db;
    statement_id id;
    const params *p;
    client_safety safety;
    int64_t began_us; /* from which retries count; 0: from the first failure */
    store_conn *conn; /* NULL: there is none to receive from */
    cardbox_status status;
    cardbox_error err; /* of the attempt so far */
} client_flight;

/*
 * The two halves of client_run, for who has something else to do while the database works. `p` is
 * the caller's to free, after client_receive, which has to come, and says too if sending failed. In
 * between nothing else may be asked of `db`: a transaction has no second connection, and a pool
 * need not have one.
 */
void client_send(client_flight *out, cardbox *db, statement_id id, const params *p,
                 client_safety safety);
cardbox_status client_receive(client_flight *flight, store_rows **rows, cardbox_error *err);

/* Like cardbox_begin, with another way to begin. */
cardbox_status client_begin(cardbox **tx, cardbox *db, statement_id begin, cardbox_error *err);

#endif
