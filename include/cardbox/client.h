/*
 * client.h: handles of type `cardbox *`. There are three kinds: cardbox_open makes a pool of
 * connections, cardbox_begin makes a transaction on a pool, and cardbox_borrow makes a handle for a
 * connection of the caller. Functions with a parameter `db` accept handles of every kind, but
 * cardbox_begin accepts only a pool.
 */
#ifndef CARDBOX_CLIENT_H
#define CARDBOX_CLIENT_H

#include <cardbox/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A pool, a transaction or a borrowed connection. Opaque. */
typedef struct cardbox cardbox;

/** The struct of libpq's PGconn, declared here so that this header does not include libpq-fe.h. */
struct pg_conn;

/** Options of a pool. Start from CARDBOX_OPTIONS_INIT. An option that is 0 or NULL has its
 * default. */
typedef struct cardbox_options {
    size_t struct_size; /**< set by CARDBOX_OPTIONS_INIT */
    /** libpq connection string or URI; "" or NULL: the PG* environment variables. The `options` of
     * the string, or PGOPTIONS if the string has no `options`, may have at most 1000 bytes. In
     * these `options`, CardBox may override the settings statement_timeout, search_path,
     * plan_cache_mode, enable_seqscan, enable_sort, client_min_messages, jit, random_page_cost,
     * default_transaction_isolation, standard_conforming_strings and row_security. */
    const char *conninfo;
    const char *application_name; /**< the name in pg_stat_activity, unless `conninfo` or PGAPPNAME
                                       has another; default "cardbox" */
    /** cardbox_open opens this number of connections, at least one. If idle connections are closed,
     * this number of idle connections stays open; default 0 */
    unsigned pool_min;
    unsigned pool_max;             /**< maximum number of connections; default 8 */
    unsigned acquire_timeout_ms;   /**< maximum wait for a free connection, after which CARDBOX_BUSY
                                      is returned; default 5000 */
    unsigned connect_timeout_ms;   /**< time limit for connecting to each address of a host, rounded
                                      up to whole seconds, at least 2 s; default 5000 */
    unsigned statement_timeout_ms; /**< time limit of each statement; default 30000 */
    unsigned retry_timeout_ms; /**< time after which a failed call is not retried any more; default
                                    10000 */
    unsigned max_lifetime_s;   /**< age, +-10 %, at which a connection is closed instead of being
                                    used again; default 1800 */
    unsigned idle_timeout_s;   /**< idle time after which connections beyond pool_min are closed,
                                    when a call returns its connection; default 300 */
    bool no_retry;             /**< true: failed calls are not retried, except appends to boxes that
                                    were batched */
    bool no_named_statements;  /**< true: statements are not prepared, for use with PgBouncer in
                                    transaction mode */
} cardbox_options;

#define CARDBOX_OPTIONS_INIT                                                                       \
    {                                                                                              \
        sizeof(cardbox_options), NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, false, false                  \
    }

/**
 * Opens a pool, and checks that the database can be reached and has the schema that this library
 * needs.
 *
 * @param out      receives the handle; free it with cardbox_close
 * @param options  NULL means CARDBOX_OPTIONS_INIT; need not stay valid after the call
 * @param err      may be NULL
 * @return CARDBOX_OK; CARDBOX_INVALID (options or connection string); CARDBOX_UNAVAILABLE (the
 * database can't be reached); CARDBOX_INTERNAL (the schema is too old); CARDBOX_FORBIDDEN (the role
 * can't read the schema); and the connection's. If the schema is too old, run `cardbox migrate`
 *
 * Thread safety: any thread.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_open(cardbox **out,
                                                          const cardbox_options *options,
                                                          cardbox_error *err);

/**
 * Closes a pool and frees it. Transactions, writers and scans on the pool must have ended.
 *
 * @param db  a pool; NULL does nothing; another handle is ended as by cardbox_rollback. In a child
 * process after fork, only memory is freed, and nothing is sent on the connections
 *
 * Thread safety: no thread may use the handle at the same time or later.
 */
CARDBOX_API void cardbox_close(cardbox *db);

/**
 * Begins a transaction (READ COMMITTED) on one of the pool's connections.
 *
 * Calls with the handle `tx` are part of the transaction. Writes with `tx` are not stored and not
 * visible to other transactions before cardbox_commit. Calls with `tx` are not retried. If the
 * connection is lost, later statements of the transaction fail with CARDBOX_UNAVAILABLE, and the
 * caller has to repeat the transaction from cardbox_begin.
 *
 * @param tx   receives the transaction; end it with cardbox_commit or cardbox_rollback
 * @param db   a pool
 * @param err  may be NULL
 * @return CARDBOX_OK, CARDBOX_INVALID (db is no pool), and the connection's
 *
 * Thread safety: any thread; only one thread at a time may use the transaction.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_begin(cardbox **tx, cardbox *db,
                                                           cardbox_error *err);

/**
 * Makes a handle for a connection of the caller. Calls with the handle are part of the caller's
 * transaction, so cards and the caller's own rows are committed together.
 *
 * The caller still owns the connection. On the caller's connection, CardBox sends only the
 * statements of calls with the handle: no BEGIN, no COMMIT, no settings, no prepared statements.
 * When a call begins, the connection must be idle, blocking and not in pipeline mode. If the caller
 * has not begun a transaction, each statement is committed by itself. CardBox sets no time limit
 * for these calls; the limits of the connection apply, such as statement_timeout.
 *
 * @param tx  receives the handle; free it with cardbox_rollback, cardbox_commit or cardbox_close,
 * which send nothing for a handle of cardbox_borrow
 * @param conn  an open PGconn of the caller, who must not close it before `tx` is freed
 * @param err   may be NULL
 * @return CARDBOX_OK, CARDBOX_INVALID (NULL, a broken or busy connection, another client_encoding
 *         than UTF8), CARDBOX_NOMEM
 *
 * Thread safety: only one thread at a time may use the connection or its handle.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_borrow(cardbox **tx, struct pg_conn *conn,
                                                            cardbox_error *err);

/**
 * Commits and ends a transaction. `tx` is freed even if the commit fails.
 *
 * @param tx   from cardbox_begin; a handle of cardbox_borrow is only freed
 * @param err  may be NULL
 * @return CARDBOX_OK; CARDBOX_CONFLICT (a statement of the transaction had failed, so nothing was
 * stored); CARDBOX_UNAVAILABLE (the connection was lost); CARDBOX_INVALID (tx is no transaction);
 * and the connection's. After CARDBOX_UNAVAILABLE with err->retryable, nothing was stored. After
 * CARDBOX_UNAVAILABLE without err->retryable, and after CARDBOX_TIMEOUT, the transaction may have
 * been committed. Repeating a transaction that may have been committed is safe if its writes have
 * ids and append keys
 *
 * Thread safety: only the thread that uses the transaction may call this.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_commit(cardbox *tx, cardbox_error *err);

/**
 * Rolls back a transaction and frees `tx`.
 *
 * @param tx  from cardbox_begin; NULL does nothing; a handle of cardbox_borrow is only freed
 *
 * Thread safety: only the thread that uses the transaction may call this.
 */
CARDBOX_API void cardbox_rollback(cardbox *tx);

/** The counters of a pool. */
typedef struct cardbox_pool_stats {
    unsigned open;    /**< connections that are open or being opened */
    unsigned idle;    /**< connections that are free */
    unsigned waiting; /**< threads that wait for a connection */
    uint64_t opened;  /**< connections opened since cardbox_open */
    uint64_t failed;  /**< failed attempts to open a connection */
    uint64_t lost;    /**< connections that were closed because they broke or a statement timed
                           out */
    uint64_t retried; /**< how often a failed statement was sent again */
} cardbox_pool_stats;

/**
 * Reads the counters of a pool.
 *
 * @param out  receives the counters
 * @param db   a pool or a transaction on it; for a handle of cardbox_borrow all counters are 0
 *
 * Thread safety: any thread.
 */
CARDBOX_API void cardbox_pool_stats_get(cardbox_pool_stats *out, cardbox *db);

/**
 * Checks with a statement that the database can be reached. With a pool, cardbox_ping is retried
 * after a lost connection.
 *
 * @param db   any handle
 * @param err  may be NULL
 * @return CARDBOX_OK, CARDBOX_INVALID (NULL), and the connection's
 *
 * Thread safety: that of the handle `db`.
 */
CARDBOX_API cardbox_status cardbox_ping(cardbox *db, cardbox_error *err);

#ifdef __cplusplus
}
#endif

#endif
