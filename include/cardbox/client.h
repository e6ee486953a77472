/*
 * client.h: handles. cardbox_open makes a pool of connections, cardbox_begin a transaction on a
 * pool, and cardbox_borrow a handle for a connection of the caller. All three are a `cardbox *`,
 * and every function except cardbox_begin accepts each of them.
 */
#ifndef CARDBOX_CLIENT_H
#define CARDBOX_CLIENT_H

#include <cardbox/status.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A pool, a transaction or a borrowed connection. Opaque. */
typedef struct cardbox cardbox;

/** libpq's connection (PGconn is a typedef of it), so that this header needs no libpq-fe.h. */
struct pg_conn;

/** Options of a connection. Start from CARDBOX_OPTIONS_INIT; 0 or NULL is the default given below.
 */
typedef struct cardbox_options {
    size_t struct_size; /**< set by CARDBOX_OPTIONS_INIT */
    /** libpq connection string or URI; "" or NULL: the PG* environment. Its `options`, or
     * PGOPTIONS, of at most 1000 bytes, apply except for the settings that CardBox sets:
     * statement_timeout, search_path, plan_cache_mode, enable_seqscan, enable_sort,
     * client_min_messages, jit, random_page_cost, default_transaction_isolation,
     * standard_conforming_strings and row_security. */
    const char *conninfo;
    const char *application_name; /**< shown in pg_stat_activity; default "cardbox" */
    unsigned pool_min;            /**< connections kept open when idle; default 0 */
    unsigned pool_max;            /**< most connections at once; default 8 */
    unsigned acquire_timeout_ms; /**< wait for a free connection, then CARDBOX_BUSY; default 5000 */
    unsigned connect_timeout_ms; /**< for each address of a host, in whole seconds, at least
                                   2 s; default 5000 */
    unsigned statement_timeout_ms; /**< for one statement, then CARDBOX_TIMEOUT; default 30000 */
    unsigned retry_timeout_ms;     /**< maximum wait for a lost database; default 10000 */
    unsigned max_lifetime_s;       /**< a connection is replaced after this, +-10 %; default 1800 */
    unsigned idle_timeout_s;  /**< connections above pool_min that were idle for longer are closed
                                 when another is returned; default 300 */
    bool no_retry;            /**< true: report a lost connection at once */
    bool no_named_statements; /**< true: behind PgBouncer in transaction mode */
} cardbox_options;

#define CARDBOX_OPTIONS_INIT                                                                       \
    {                                                                                              \
        sizeof(cardbox_options), NULL, NULL, 0, 0, 0, 0, 0, 0, 0, 0, false, false                  \
    }

/**
 * Opens a pool and checks that the database answers and has the schema that this library needs.
 *
 * @param out      receives the handle; free it with cardbox_close
 * @param options  NULL means CARDBOX_OPTIONS_INIT; read during the call only
 * @param err      may be NULL
 * @return CARDBOX_OK; CARDBOX_INVALID (options or connection string); CARDBOX_UNAVAILABLE (the
 * database can't be reached); CARDBOX_INTERNAL (run `cardbox migrate`); CARDBOX_FORBIDDEN (the role
 * can't read the schema); and the connection's
 *
 * Thread safety: any thread.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_open(cardbox **out,
                                                          const cardbox_options *options,
                                                          cardbox_error *err);

/**
 * Closes a pool and frees it. Transactions of it must have ended.
 *
 * @param db  from cardbox_open; NULL does nothing; a transaction is rolled back as by
 *            cardbox_rollback; after fork memory is freed and no socket is touched
 *
 * Thread safety: no other call may use the handle at the same time or later.
 */
CARDBOX_API void cardbox_close(cardbox *db);

/**
 * Begins a transaction (READ COMMITTED) on one of the pool's connections.
 *
 * Calls with `tx` are part of the transaction. Nothing is stored, or visible to others, before
 * cardbox_commit. Nothing is retried: if the connection is lost, every later call on `tx`
 * returns CARDBOX_UNAVAILABLE, and the caller repeats the transaction from cardbox_begin.
 *
 * @param tx   receives the transaction; end it with cardbox_commit or cardbox_rollback
 * @param db   a pool
 * @param err  may be NULL
 * @return CARDBOX_OK, CARDBOX_INVALID (db is no pool), and the connection's
 *
 * Thread safety: any thread; the transaction belongs to one thread at a time.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_begin(cardbox **tx, cardbox *db,
                                                           cardbox_error *err);

/**
 * Makes calls part of a transaction on a connection of the caller, so that the caller's own rows
 * and its cards commit together.
 *
 * The connection remains the caller's. CardBox sends only its statements: no BEGIN, no COMMIT, no
 * settings, no prepared statements. It must be idle, not in pipeline mode and blocking during each
 * call. Outside a transaction, each statement is committed by itself. The connection's
 * statement_timeout is the only time limit.
 *
 * @param tx    receives the handle; free it with cardbox_rollback, cardbox_commit or cardbox_close,
 *              which do not change the caller's transaction
 * @param conn  a PGconn; must outlive `tx`
 * @param err   may be NULL
 * @return CARDBOX_OK, CARDBOX_INVALID (NULL, a broken or busy connection, another client_encoding
 *         than UTF8), CARDBOX_NOMEM
 *
 * Thread safety: as the PGconn: one thread at a time.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_borrow(cardbox **tx, struct pg_conn *conn,
                                                            cardbox_error *err);

/**
 * Commits and ends a transaction. `tx` is freed whatever the outcome.
 *
 * @param tx   from cardbox_begin; for a borrowed connection nothing is sent
 * @param err  may be NULL
 * @return CARDBOX_OK; CARDBOX_CONFLICT (a statement had failed: nothing was stored);
 * CARDBOX_UNAVAILABLE (the connection was lost); CARDBOX_INVALID (tx is no transaction); and the
 * connection's. After CARDBOX_UNAVAILABLE with err->retryable nothing was stored. Without it, and
 * after CARDBOX_TIMEOUT, the outcome is unknown. Repeating the transaction is safe then, if its
 * writes have ids and append keys
 *
 * Thread safety: the transaction's thread.
 */
CARDBOX_API CARDBOX_MUSTCHECK cardbox_status cardbox_commit(cardbox *tx, cardbox_error *err);

/**
 * Rolls back and ends a transaction. `tx` is freed.
 *
 * @param tx  from cardbox_begin; NULL does nothing; for a borrowed connection nothing is sent
 *
 * Thread safety: the transaction's thread.
 */
CARDBOX_API void cardbox_rollback(cardbox *tx);

/** The counters of a pool. */
typedef struct cardbox_pool_stats {
    unsigned open;    /**< connections that exist */
    unsigned idle;    /**< connections that are free */
    unsigned waiting; /**< threads that wait for one */
    uint64_t opened;  /**< connections made since cardbox_open */
    uint64_t failed;  /**< attempts that failed */
    uint64_t lost;    /**< connections that broke while in use or idle */
    uint64_t retried; /**< calls that were retried after a lost connection */
} cardbox_pool_stats;

/**
 * Reads the pool's counters.
 *
 * @param out  receives them
 * @param db   a pool, or a transaction of it; for a borrowed connection all counters are 0
 *
 * Thread safety: any thread.
 */
CARDBOX_API void cardbox_pool_stats_get(cardbox_pool_stats *out, cardbox *db);

/**
 * Checks that the database answers, with the pool's retries and deadlines.
 *
 * @param db   any handle
 * @param err  may be NULL
 * @return CARDBOX_OK, CARDBOX_INVALID (NULL), and the connection's
 *
 * Thread safety: as the handle.
 */
CARDBOX_API cardbox_status cardbox_ping(cardbox *db, cardbox_error *err);

#ifdef __cplusplus
}
#endif

#endif
