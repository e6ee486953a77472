/*
 * connector.c: the queue of attempts to connect, and the thread that makes them. If an attempt is
 * abandoned while libpq blocks, the thread later closes its connection and frees the attempt.
 */
#include "db/connector.h"

#include <stdlib.h>
#include <sys/eventfd.h>
#include <sys/queue.h>
#include "base/clock.h"
#include "base/errors.h"
#include "base/periodic.h"

enum {
    STOP_MS = 200, /* longest time that connector_free waits for the thread */
    HOST_MS = 5000 /* for this time after a connection to a host, or until an attempt fails, only
                      this host is tried, so that attempts do not wait for other hosts */
};

struct connect_attempt {
    TAILQ_ENTRY(connect_attempt) in_queue; /* under the lock */
    cardbox_options options;
    int wake_fd;
    bool begun;     /* under the lock */
    bool abandoned; /* under the lock */
    atomic_bool ended;
    PGconn *pg; /* `pg` and `why` are valid when the attempt has ended */
    cardbox_error why;
};

struct connector {
    atomic_int *open;
    periodic thread;
    pthread_mutex_t lock;
    TAILQ_HEAD(, connect_attempt) queue;
    /* only the thread uses `host` and `host_until_ms` */
    connect_host host;
    int64_t host_until_ms;
};

/* --- the thread --- */

static connect_attempt *next_attempt(connector *c)
{
    pthread_mutex_lock(&c->lock);
    connect_attempt *a = TAILQ_FIRST(&c->queue);
    if (a != NULL) {
        a->begun = true;
        TAILQ_REMOVE(&c->queue, a, in_queue);
    }
    pthread_mutex_unlock(&c->lock);
    return a;
}

static PGconn *open_connection(connector *c, const connect_attempt *a)
{
    connect_params how;
    bool known = clock_ms() < c->host_until_ms;
    if (!connect_params_fill(&how, &a->options))
        return NULL;
    if (known)
        connect_params_host(&how, &c->host);
    PGconn *pg = connect_open(&how);
    if (PQstatus(pg) != CONNECTION_OK)
        c->host_until_ms = 0;
    else if (!known && connect_host_of(&c->host, pg))
        c->host_until_ms = clock_ms() + HOST_MS;
    return pg;
}

static void store_outcome(connector *c, connect_attempt *a, PGconn *pg)
{
    if (PQstatus(pg) == CONNECTION_OK) {
        atomic_fetch_add(c->open, 1);
        a->pg = pg;
        return;
    }
    connect_failure(&a->why, pg);
    if (pg == NULL)
        error_nomem(&a->why);
    PQfinish(pg);
}

static void attempt_free(connector *c, connect_attempt *a)
{
    connector_close(c, a->pg);
    free(a);
}

static void hand_over(connector *c, connect_attempt *a)
{
    pthread_mutex_lock(&c->lock);
    bool abandoned = a->abandoned;
    if (!abandoned) {
        atomic_store(&a->ended, true);
        eventfd_write(a->wake_fd, 1);
    }
    pthread_mutex_unlock(&c->lock);
    if (abandoned)
        attempt_free(c, a);
}

static int64_t make_attempts(void *arg)
{
    connector *c = arg;
    connect_attempt *a;
    while ((a = next_attempt(c)) != NULL) {
        store_outcome(c, a, open_connection(c, a));
        hand_over(c, a);
    }
    return PERIODIC_UNTIL_WOKEN;
}

/* --- its users --- */

connector *connector_new(atomic_int *open)
{
    connector *c = calloc(1, sizeof(*c));
    if (c == NULL)
        return NULL;
    c->open = open;
    TAILQ_INIT(&c->queue);
    pthread_mutex_init(&c->lock, NULL);
    if (periodic_start(&c->thread, make_attempts, c))
        return c;
    pthread_mutex_destroy(&c->lock);
    free(c);
    return NULL;
}

bool connector_free(connector *c)
{
    if (c == NULL)
        return true;
    if (!periodic_stop(&c->thread, STOP_MS))
        return false;
    pthread_mutex_destroy(&c->lock);
    free(c);
    return true;
}

connect_attempt *connector_start(connector *c, const cardbox_options *options, int wake_fd)
{
    connect_attempt *a = calloc(1, sizeof(*a));
    if (a == NULL)
        return NULL;
    a->options = *options;
    a->wake_fd = wake_fd;
    pthread_mutex_lock(&c->lock);
    TAILQ_INSERT_TAIL(&c->queue, a, in_queue);
    pthread_mutex_unlock(&c->lock);
    periodic_wake(&c->thread);
    return a;
}

bool connector_has_ended(const connect_attempt *a)
{
    return atomic_load(&a->ended);
}

PGconn *connector_take(connector *c, connect_attempt *a, cardbox_error *why)
{
    pthread_mutex_lock(&c->lock); /* waits until hand_over has written to wake_fd */
    PGconn *pg = a->pg;
    pthread_mutex_unlock(&c->lock);
    *why = a->why;
    free(a);
    return pg;
}

void connector_abandon(connector *c, connect_attempt *a)
{
    if (a == NULL)
        return;
    pthread_mutex_lock(&c->lock);
    bool is_running = a->begun && !atomic_load(&a->ended);
    a->abandoned = true;
    if (!a->begun)
        TAILQ_REMOVE(&c->queue, a, in_queue);
    pthread_mutex_unlock(&c->lock);
    if (!is_running)
        attempt_free(c, a);
}

void connector_close(connector *c, PGconn *pg)
{
    if (pg == NULL)
        return;
    PQfinish(pg);
    atomic_fetch_sub(c->open, 1);
}
