/*
 * pool.h: connections that threads share. They are opened when needed, up to a maximum. The most
 * recently used one is used next, so that the others can age. Threads that wait are served before
 * threads that come later.
 */
#ifndef DB_POOL_H
#define DB_POOL_H

#include "db/conn.h"

typedef struct store_pool store_pool;

/* Calls options_complete on `options` and copies its texts. */
cardbox_status pool_new(store_pool **out, const cardbox_options *options, cardbox_error *err);

/* Frees the pool, whose connections must all be returned. In a child after fork nothing is sent on
 * the parent's sockets. */
void pool_free(store_pool *pool);

/* Returns an idle connection on which no failure was detected. CARDBOX_BUSY: none became free in
 * time. CARDBOX_UNAVAILABLE: none can be opened. CARDBOX_INVALID: after fork. */
cardbox_status pool_acquire(store_pool *pool, store_conn **out, cardbox_error *err);

/* Returns a connection to the pool. It is closed if it is `broken`, in a transaction or over its
 * age. */
void pool_release(store_pool *pool, store_conn *conn, bool broken);

/* True if this is a child of the process that made the pool. Nothing of it may be used then. */
bool pool_is_forked(const store_pool *pool);

/* Makes one attempt to run a statement on a connection of the pool. The wait for a connection ends
 * acquire_timeout_ms after `began_us` (clock_us). `*unknown`: it failed, but the server may have
 * executed it. `err` must not be NULL. */
cardbox_status pool_run(store_pool *pool, int64_t began_us, statement_id id, const params *p,
                        store_rows **rows, bool *unknown, cardbox_error *err);

void pool_count_retry(store_pool *pool);
void pool_read_stats(store_pool *pool, cardbox_pool_stats *out);
const cardbox_options *pool_options(const store_pool *pool);

#endif
