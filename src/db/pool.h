/*
 * pool.h: connections that threads share. Connections are opened when needed, up to a maximum. The
 * most recently used connection is used next, so that unneeded connections stay idle and are
 * closed. Threads that wait for a connection are served before threads that come later.
 */
#ifndef DB_POOL_H
#define DB_POOL_H

#include "db/conn.h"

typedef struct store_pool store_pool;

/* Creates a pool. `options` must come from options_complete; the texts are copied. */
cardbox_status pool_new(store_pool **out, const cardbox_options *options, cardbox_error *err);

/* Frees the pool and closes its connections. All connections must have been released. In a child
 * after fork nothing is sent on the parent's sockets. */
void pool_free(store_pool *pool);

/* Stores an idle or a new connection in *out. CARDBOX_BUSY: no connection became free in time.
 * CARDBOX_INVALID: the process is a child after fork. Other errors: a connection could not be
 * opened. */
cardbox_status pool_acquire(store_pool *pool, store_conn **out, cardbox_error *err);

/* Puts a connection back into the pool. The connection is closed instead if it is `broken` or lost,
 * in a transaction, or past its lifetime, or if the process is a child after fork. */
void pool_release(store_pool *pool, store_conn *conn, bool broken);

/* True if this process is a child of the process that created the pool. Such a child may only free
 * the pool. */
bool pool_is_forked(const store_pool *pool);

/* Makes one attempt to run a statement on a connection of the pool. The wait for a connection ends
 * acquire_timeout_ms after `began_us` (clock_us). *unknown becomes true if the statement failed,
 * but the server may have executed it. `err` must not be NULL. */
cardbox_status pool_run(store_pool *pool, int64_t began_us, statement_id id, const params *p,
                        store_rows **rows, bool *unknown, cardbox_error *err);

void pool_count_retry(store_pool *pool);
void pool_read_stats(store_pool *pool, cardbox_pool_stats *out);
const cardbox_options *pool_options(const store_pool *pool);

#endif
