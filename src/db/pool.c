/*
 * pool.c: the pool's policy. One mutex guards the lists and the counters. The mutex is not held
 * while a connection is opened or closed. If a connection, or the right to open one, becomes free
 * while threads wait, it is promised to a waiting thread. Threads that come later can't take a
 * promised connection.
 */
#include "db/pool.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/errors.h"

/* If a connection was idle for longer than this time, the pool uses it only if it has no input. */
enum { CHECK_AFTER_IDLE_MS = 1000 };

struct store_pool {
    cardbox_options options;
    char *text; /* memory of conninfo and application_name */
    pid_t pid;  /* the process that created the pool */
    pthread_mutex_t lock;
    pthread_cond_t freed;     /* signalled when a connection is promised */
    store_conn *idle;         /* idle connections, the most recently used first */
    cardbox_pool_stats stats; /* stats.open also counts connections that are being opened */
    unsigned promised;        /* promises that no waiting thread has used yet */
};

static char *copy_text(cardbox_options *options)
{
    size_t info = strlen(options->conninfo) + 1, name = strlen(options->application_name) + 1;
    char *text = malloc(info + name);
    if (text == NULL)
        return NULL;
    memcpy(text, options->conninfo, info);
    memcpy(text + info, options->application_name, name);
    options->conninfo = text;
    options->application_name = text + info;
    return text;
}

cardbox_status pool_new(store_pool **out, const cardbox_options *options, cardbox_error *err)
{
    pthread_condattr_t monotonic;
    store_pool *pool = calloc(1, sizeof(*pool));
    if (pool == NULL)
        return error_nomem(err);
    pool->options = *options;
    pool->text = copy_text(&pool->options);
    if (pool->text == NULL) {
        free(pool);
        return error_nomem(err);
    }
    pool->pid = getpid();
    pthread_mutex_init(&pool->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&pool->freed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    *out = pool;
    return CARDBOX_OK;
}

bool pool_is_forked(const store_pool *pool)
{
    return pool->pid != getpid();
}

static void free_list(store_conn *conn)
{
    while (conn != NULL) {
        store_conn *next = conn->next;
        conn_close(conn);
        conn = next;
    }
}

void pool_free(store_pool *pool)
{
    if (pool == NULL)
        return;
    free_list(pool->idle);
    if (!pool_is_forked(pool)) {
        pthread_mutex_destroy(&pool->lock);
        pthread_cond_destroy(&pool->freed);
    }
    free(pool->text);
    free(pool);
}

/* Promises a connection, or the right to open one, to a waiting thread that has no promise, if
 * there is one. The caller holds the lock. */
static void promise_to_waiter(store_pool *pool)
{
    if (pool->stats.waiting <= pool->promised)
        return;
    pool->promised++;
    pthread_cond_signal(&pool->freed);
}

static cardbox_status open_in_place(store_pool *pool, store_conn **out, cardbox_error *err)
{
    /* Lifetimes are 90 to 110 % of max_lifetime_s, so that connections do not all end at once. */
    int64_t life_ms = (int64_t)pool->options.max_lifetime_s * 1000, varied_ms = life_ms * 2 / 5;
    cardbox_status status = conn_open(out, &pool->options, err);
    if (status == CARDBOX_OK)
        (*out)->retire_ms =
            clock_ms() + life_ms * 7 / 10 + clock_backoff_ms(0, varied_ms, varied_ms);
    pthread_mutex_lock(&pool->lock);
    if (status == CARDBOX_OK) {
        pool->stats.opened++;
    } else {
        pool->stats.failed++;
        pool->stats.open--;
        promise_to_waiter(pool);
    }
    pthread_mutex_unlock(&pool->lock);
    return status;
}

/* False: no connection was promised in time. The caller holds the lock. */
static bool await_promise(store_pool *pool, int64_t began_us)
{
    struct timespec until =
        clock_timespec(began_us + pool->options.acquire_timeout_ms * INT64_C(1000));
    int waited = 0;
    pool->stats.waiting++;
    while (pool->promised == 0 && waited != ETIMEDOUT)
        waited = pthread_cond_timedwait(&pool->freed, &pool->lock, &until);
    pool->stats.waiting--;
    bool promised = pool->promised > 0;
    pool->promised -= promised;
    return promised;
}

/* Returns the most recently used idle connection that is usable; NULL: there is none. Unusable
 * connections that were used more recently are moved to `unfit`. The caller holds the lock. */
static store_conn *take_idle(store_pool *pool, store_conn **unfit)
{
    int64_t now = clock_ms();
    while (pool->idle != NULL) {
        store_conn *conn = pool->idle;
        bool rested = now - conn->idle_since_ms > CHECK_AFTER_IDLE_MS;
        bool old = now > conn->retire_ms;
        pool->idle = conn->next;
        pool->stats.idle--;
        if (!old && (!rested || conn_has_no_input(conn)))
            return conn;
        pool->stats.lost += old ? 0 : 1;
        pool->stats.open--;
        conn->next = *unfit;
        *unfit = conn;
    }
    return NULL;
}

/* Moves connections that were idle for longer than idle_timeout_s to `unfit`, but keeps pool_min
 * idle connections. The caller holds the lock. */
static void trim_idle(store_pool *pool, store_conn **unfit)
{
    int64_t limit = clock_ms() - (int64_t)pool->options.idle_timeout_s * 1000;
    for (store_conn **at = &pool->idle; *at != NULL;) {
        store_conn *conn = *at;
        if (conn->idle_since_ms > limit || pool->stats.idle <= pool->options.pool_min) {
            at = &conn->next;
            continue;
        }
        *at = conn->next;
        pool->stats.idle--;
        pool->stats.open--;
        conn->next = *unfit;
        *unfit = conn;
    }
}

static cardbox_status acquire(store_pool *pool, int64_t began_us, store_conn **out,
                              cardbox_error *err)
{
    store_conn *unfit = NULL, *conn = NULL;
    if (pool_is_forked(pool))
        return error_forked(err);
    pthread_mutex_lock(&pool->lock);
    /* How many connections are idle or may be opened, including those that are promised. */
    unsigned available = pool->stats.idle + pool->options.pool_max - pool->stats.open;
    bool is_free = available > pool->promised || await_promise(pool, began_us);
    if (is_free) {
        conn = take_idle(pool, &unfit);
        pool->stats.open += conn == NULL;
    }
    pthread_mutex_unlock(&pool->lock);
    free_list(unfit);
    if (!is_free) {
        error_set(err, CARDBOX_BUSY, "all %u connections were in use for %u ms: raise pool_max",
                  pool->options.pool_max, pool->options.acquire_timeout_ms);
        if (err != NULL)
            err->retryable = true;
        return CARDBOX_BUSY;
    }
    *out = conn;
    return conn != NULL ? CARDBOX_OK : open_in_place(pool, out, err);
}

cardbox_status pool_acquire(store_pool *pool, store_conn **out, cardbox_error *err)
{
    return acquire(pool, clock_us(), out, err);
}

void pool_release(store_pool *pool, store_conn *conn, bool broken)
{
    store_conn *unfit = NULL;
    if (pool_is_forked(pool)) {
        conn_close(conn);
        return;
    }
    int64_t now = clock_ms();
    bool lost = broken || !conn_alive(conn);
    bool close = lost || conn_in_transaction(conn) || now > conn->retire_ms;
    pthread_mutex_lock(&pool->lock);
    if (close) {
        pool->stats.lost += lost ? 1 : 0;
        pool->stats.open--;
        conn->next = NULL;
        unfit = conn;
    } else {
        conn->idle_since_ms = now;
        conn->next = pool->idle;
        pool->idle = conn;
        pool->stats.idle++;
        trim_idle(pool, &unfit);
    }
    promise_to_waiter(pool);
    pthread_mutex_unlock(&pool->lock);
    free_list(unfit);
}

/* --- a statement --- */

cardbox_status pool_run(store_pool *pool, int64_t began_us, statement_id id, const params *p,
                        store_rows **rows, bool *unknown, cardbox_error *err)
{
    store_conn *conn = NULL;
    *unknown = false;
    cardbox_status status = acquire(pool, began_us, &conn, err);
    if (status != CARDBOX_OK)
        return status;
    status = conn_run(conn, id, p, rows, err);
    bool lost = status == CARDBOX_UNAVAILABLE && !error_is_rolled_back(err);
    *unknown = status != CARDBOX_OK && !error_is_refusal(err);
    pool_release(pool, conn, lost || status == CARDBOX_TIMEOUT);
    return status;
}

/* --- statistics --- */

void pool_count_retry(store_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    pool->stats.retried++;
    pthread_mutex_unlock(&pool->lock);
}

void pool_read_stats(store_pool *pool, cardbox_pool_stats *out)
{
    if (pool_is_forked(pool))
        return; /* a thread of the parent may have held the lock when the process forked */
    pthread_mutex_lock(&pool->lock);
    *out = pool->stats;
    pthread_mutex_unlock(&pool->lock);
}

const cardbox_options *pool_options(const store_pool *pool)
{
    return &pool->options;
}
