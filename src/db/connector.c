/*
 * connector.c: the queue of attempts, and the thread that makes them. An attempt that is abandoned
 * while libpq blocks is closed and freed by the thread.
 */
#include "db/connector.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/errors.h"

enum {
    STOP_MS = 200, /* connector_free waits no longer than this for an attempt */
    HOST_MS = 5000 /* so long the host that accepted a connection is asked alone: without this each
                    * attempt would wait for the timeout of a silent host before it */
};

struct connect_attempt {
    connect_attempt *next; /* in the queue, under the lock */
    cardbox_options options;
    int wake_fd;
    bool begun;     /* under the lock */
    bool abandoned; /* under the lock */
    atomic_bool ended;
    PGconn *pg; /* once it has ended, and the next */
    cardbox_error why;
};

struct connector {
    atomic_int *open;
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    connect_attempt *first, *last; /* the queue */
    bool stops, ended;
    /* the thread's own: */
    connect_host host;
    int64_t host_until_ms;
};

/* --- the thread --- */

/* Waits for an attempt. NULL: the connector stops. */
static connect_attempt *next_attempt(connector *c)
{
    connect_attempt *a = NULL;
    pthread_mutex_lock(&c->lock);
    while (c->first == NULL && !c->stops)
        pthread_cond_wait(&c->changed, &c->lock);
    if (!c->stops) {
        a = c->first;
        a->begun = true;
        c->first = a->next;
        if (c->first == NULL)
            c->last = NULL;
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

/* Fills in what the attempt has come to. */
static void fill_in(connector *c, connect_attempt *a, PGconn *pg)
{
    if (PQstatus(pg) == CONNECTION_OK) {
        atomic_fetch_add(c->open, 1);
        a->pg = pg;
        return;
    }
    connect_why(&a->why, pg);
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
    uint64_t one = 1;
    pthread_mutex_lock(&c->lock);
    bool abandoned = a->abandoned;
    if (!abandoned) {
        atomic_store(&a->ended, true);
        /* The counter of an eventfd can't be full here; a lost write only delays the loop. */
        ssize_t written = write(a->wake_fd, &one, sizeof(one));
        (void)written;
    }
    pthread_mutex_unlock(&c->lock);
    if (abandoned)
        attempt_free(c, a);
}

static void *run_connector(void *arg)
{
    connector *c = arg;
    connect_attempt *a;
    while ((a = next_attempt(c)) != NULL) {
        fill_in(c, a, open_connection(c, a));
        hand_over(c, a);
    }
    pthread_mutex_lock(&c->lock);
    c->ended = true;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    return NULL;
}

/* --- its users --- */

connector *connector_new(atomic_int *open)
{
    pthread_condattr_t monotonic;
    connector *c = calloc(1, sizeof(*c));
    if (c == NULL)
        return NULL;
    c->open = open;
    pthread_mutex_init(&c->lock, NULL);
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&c->changed, &monotonic);
    pthread_condattr_destroy(&monotonic);
    if (pthread_create(&c->thread, NULL, run_connector, c) == 0)
        return c;
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
    free(c);
    return NULL;
}

bool connector_free(connector *c)
{
    int waited = 0;
    if (c == NULL)
        return true;
    struct timespec until = clock_timespec(clock_us() + STOP_MS * 1000);
    pthread_mutex_lock(&c->lock);
    c->stops = true;
    pthread_cond_broadcast(&c->changed);
    while (!c->ended && waited != ETIMEDOUT)
        waited = pthread_cond_timedwait(&c->changed, &c->lock, &until);
    bool ended = c->ended;
    pthread_mutex_unlock(&c->lock);
    if (!ended)
        return false;
    pthread_join(c->thread, NULL);
    pthread_cond_destroy(&c->changed);
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
    if (c->last == NULL)
        c->first = a;
    else
        c->last->next = a;
    c->last = a;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    return a;
}

bool connector_has_ended(const connect_attempt *a)
{
    return atomic_load(&a->ended);
}

PGconn *connector_take(connector *c, connect_attempt *a, cardbox_error *why)
{
    pthread_mutex_lock(&c->lock); /* until hand_over has written to wake_fd */
    PGconn *pg = a->pg;
    pthread_mutex_unlock(&c->lock);
    *why = a->why;
    free(a);
    return pg;
}

static void unqueue(connector *c, connect_attempt *a)
{
    connect_attempt **at = &c->first, *before = NULL;
    while (*at != a) {
        before = *at;
        at = &before->next;
    }
    *at = a->next;
    if (c->last == a)
        c->last = before;
}

void connector_abandon(connector *c, connect_attempt *a)
{
    if (a == NULL)
        return;
    pthread_mutex_lock(&c->lock);
    bool is_running = a->begun && !atomic_load(&a->ended);
    a->abandoned = true;
    if (!a->begun)
        unqueue(c, a);
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
