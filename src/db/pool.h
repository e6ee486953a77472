/*
 * pool.h: connections that are shared by threads: opened when needed, up to a maximum. The one used
 * last is used next, so that the others can age. Threads that wait go before threads that come
 * later.
 */
#ifndef DB_POOL_H
#define DB_POOL_H

#include "db/conn.h"

typedef struct store_pool store_pool;

/* `options` is completed (options_complete); its text is copied. */
cardbox_status pool_new(store_pool **out, const cardbox_options *options, cardbox_error *err);

/* All connections must be back. In a child after fork nothing is sent on the parent's sockets. */
void pool_free(store_pool *pool);

/* A connection that is idle and, as far as can be seen, alive. CARDBOX_BUSY when none came free in
 * time, CARDBOX_UNAVAILABLE when none can be opened, CARDBOX_INVALID after fork. */
cardbox_status pool_acquire(store_pool *pool, store_conn **out, cardbox_error *err);

/* Gives it back. `broken`: it is closed; so is one that is in a transaction or over its age. */
void pool_release(store_pool *pool, store_conn *conn, bool broken);

/* Whether this is a child of the process that made it: nothing of it may be used. */
bool pool_is_forked(const store_pool *pool);

/*
 * One attempt to run a statement on a connection of the pool. The time to get one ends
 * acquire_timeout_ms after `began_us` (clock_us). `*unknown`: it failed, and may have been done all
 * the same, since nobody says what became of it. `err` must not be NULL.
 */
cardbox_status pool_run(store_pool *pool, int64_t began_us, statement_id id, const params *p,
                        store_rows **rows, bool *unknown, cardbox_error *err);

/* The two halves of it. What pool_send gives goes to pool_receive, which has to come: the status,
 * and in `*conn` the connection, NULL where none could be had. */
cardbox_status pool_send(store_pool *pool, int64_t began_us, store_conn **conn, statement_id id,
                         const params *p, cardbox_error *err);
cardbox_status pool_receive(store_pool *pool, store_conn *conn, cardbox_status sent,
                            store_rows **rows, bool *unknown, cardbox_error *err);

void pool_count_retry(store_pool *pool);
void pool_read_stats(store_pool *pool, cardbox_pool_stats *out);
const cardbox_options *pool_options(const store_pool *pool);

#endif
