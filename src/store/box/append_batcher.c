/*
 * append_batcher.c: batches the appends of several threads, like PostgreSQL's group commit. A
 * thread becomes a leader if there are fewer than leaders_max: it sends its own append and all that
 * wait. Otherwise it is a follower: it sleeps until a leader has sent its append, or until it
 * becomes a leader itself. If a batch fails, each of its appends that is safe to repeat is sent
 * again alone by its thread, so that a bad append fails no other. A follower that waits too long,
 * since the statements of the leaders hang, sends its append alone.
 */
#include "store/box/append_batcher.h"

#include <errno.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include "base/clock.h"
#include "base/errors.h"
#include "cardbox/limits.h"

enum {
    BATCH_MAX = 64,      /* appends in one statement */
    PAUSE_NS = 1000,     /* the kernel's timer makes it about 50 microseconds */
    LEADERS_LEAST = 2,   /* while one commits, another is at work */
    LEADERS_DIVISOR = 4, /* leaders use at most a fourth of the pool's connections */
    QUEUE_DIVISOR = 2    /* followers wait for at most half of acquire_timeout_ms */
};

/* An append that waits or was sent. It is allocated on its thread's stack. */
typedef struct pending {
    const box_append *append;
    int64_t began_us; /* start of the call */
    box_change change;
    cardbox_status status;
    cardbox_error *err;
    sem_t wake;
    atomic_bool woken;            /* orders memory: not every sanitizer knows sem_clockwait */
    const struct pending *leader; /* the thread that sends it; NULL: it waits */
    struct pending *next;
} pending;

struct append_batcher {
    store_pool *pool;
    pthread_mutex_t lock;
    pending *first; /* all unfinished appends, the oldest first */
    pending **last;
    unsigned leaders_max;
    atomic_uint leaders; /* changed under the lock */
    bool leader_is_filling; /* a leader has not filled its batch yet: appends that arrive until then
                               join it */
};

append_batcher *append_batcher_new(store_pool *pool)
{
    append_batcher *b = calloc(1, sizeof(*b));
    if (b == NULL)
        return NULL;
    unsigned part = pool_options(pool)->pool_max / LEADERS_DIVISOR;
    b->pool = pool;
    b->last = &b->first;
    b->leaders_max = part < LEADERS_LEAST ? LEADERS_LEAST : part;
    pthread_mutex_init(&b->lock, NULL);
    return b;
}

void append_batcher_free(append_batcher *b)
{
    if (b == NULL)
        return;
    if (!pool_is_forked(b->pool))
        pthread_mutex_destroy(&b->lock);
    free(b);
}

/* --- choosing leaders and batches: these functions require the lock --- */

/* Returns true if `leader` may send `one`: it waits, and no other leader is sending to the same
 * box, which that statement has locked. */
static bool may_send(const append_batcher *b, const pending *leader, const pending *one)
{
    if (one->leader != NULL)
        return false;
    for (const pending *p = b->first; p != NULL; p = p->next)
        if (p->leader != NULL && p->leader != leader &&
            memcmp(&p->append->box_id, &one->append->box_id, sizeof(uuid16)) == 0 &&
            slice_equal(p->append->tenant, one->append->tenant))
            return false;
    return true;
}

/* Makes `one` a leader if possible. */
static bool elect(append_batcher *b, pending *one)
{
    if (b->leader_is_filling || b->leaders == b->leaders_max || !may_send(b, one, one))
        return false;
    b->leader_is_filling = true;
    b->leaders++;
    one->leader = one;
    return true;
}

/* Makes the oldest append that may be sent the next leader. Returns it: it must be woken. */
static pending *elect_next(append_batcher *b)
{
    pending *p = b->first;
    while (p != NULL && !elect(b, p))
        p = p->next;
    return p;
}

/* Fills the batch of a leader: its own append and later ones, whose deadline for a connection is
 * not earlier. */
static size_t fill_batch(append_batcher *b, pending *leader, pending *batch[BATCH_MAX])
{
    size_t count = 0;
    batch[count++] = leader;
    for (pending *p = leader->next; p != NULL && count < BATCH_MAX; p = p->next) {
        if (!may_send(b, leader, p))
            continue;
        p->leader = leader;
        batch[count++] = p;
    }
    b->leader_is_filling = false;
    return count;
}

static void add_to_list(append_batcher *b, pending *self)
{
    /* On its thread's stack, but out of the list before append_batcher_run returns. */
    // cppcheck-suppress autoVariables
    *b->last = self;
    // cppcheck-suppress autoVariables
    b->last = &self->next;
}

static void remove_from_list(append_batcher *b, pending *done)
{
    pending **at = &b->first;
    while (*at != done)
        at = &(*at)->next;
    *at = done->next;
    if (*at == NULL)
        b->last = at;
}

/* --- sending --- */

/* Returns true if a failed append must not be sent again: its time is over, or it may have been
 * committed. If no connection was free, each append may wait for one alone: its own time may not be
 * over. */
static bool is_final(const pending *p, cardbox_status status, const cardbox_error *err,
                     bool may_have_run)
{
    return status == CARDBOX_TIMEOUT || (status == CARDBOX_BUSY && err->sqlstate[0] != '\0') ||
           (may_have_run && p->append->key.ptr == NULL);
}

/* Stores the error if it is final. Otherwise the append is sent again alone. */
static void set_final_error(pending *p, cardbox_status status, const cardbox_error *err,
                            bool may_have_run)
{
    if (!is_final(p, status, err, may_have_run))
        return;
    p->status = status;
    *p->err = *err;
    p->err->retryable = err->retryable && (!may_have_run || p->append->key.ptr != NULL);
    if (may_have_run)
        error_add_unknown(p->err);
}

static void send_batch(append_batcher *b, pending *const *batch, size_t count)
{
    box_append appends[BATCH_MAX] = {{.expected_version = 0}};
    store_rows *rows = NULL;
    cardbox_error err = CARDBOX_ERROR_INIT;
    bool may_have_run = false;
    params p = PARAMS_INIT;
    for (size_t i = 0; i < count; i++)
        appends[i] = *batch[i]->append;
    boxes_append_params(&p, appends, count, false);
    cardbox_status status = pool_run(b->pool, batch[0]->began_us, STATEMENT_boxes_append, &p, &rows,
                                     &may_have_run, &err);
    params_free(&p);
    for (size_t i = 0; status != CARDBOX_OK && i < count; i++)
        set_final_error(batch[i], status, &err, may_have_run);
    for (int row = 0; status == CARDBOX_OK && row < rows_count(rows); row++) {
        box_change change;
        size_t i = boxes_append_read(&change, rows, row, count);
        if (i < count)
            batch[i]->change = change;
    }
    rows_free(rows);
}

/* After this `one` must not be used: its thread may have returned, and it is on that thread's
 * stack. */
static void wake(pending *one)
{
    if (one == NULL)
        return;
    atomic_store(&one->woken, true);
    sem_post(&one->wake);
}

/* Fills and sends the leader's batch, and wakes the next leader and the followers. If another
 * leader is at work, the threads whose appends it has just sent are about to append again: after a
 * pause, which is short beside a commit, the batch has them too. */
static void send_as_leader(append_batcher *b, pending *self)
{
    pending *batch[BATCH_MAX];
    if (b->leaders > 1)
        nanosleep(&(struct timespec){.tv_nsec = PAUSE_NS}, NULL);
    pthread_mutex_lock(&b->lock);
    size_t count = fill_batch(b, self, batch);
    pending *next = elect_next(b);
    pthread_mutex_unlock(&b->lock);
    wake(next);
    send_batch(b, batch, count);
    pthread_mutex_lock(&b->lock);
    for (size_t i = 0; i < count; i++)
        remove_from_list(b, batch[i]);
    b->leaders--;
    next = elect_next(b);
    pthread_mutex_unlock(&b->lock);
    for (size_t i = 1; i < count; i++)
        wake(batch[i]);
    wake(next); /* last, so that the next appends of the woken threads can join its batch */
}

/* Removes `self` from the list, unless it is in a leader's batch. */
static bool stop_waiting(append_batcher *b, pending *self)
{
    pthread_mutex_lock(&b->lock);
    bool stopped = self->leader == NULL;
    if (stopped)
        remove_from_list(b, self);
    pthread_mutex_unlock(&b->lock);
    return stopped;
}

/* Waits until a leader has sent `self`, or until `self` is a leader. Returns false if it has waited
 * too long. Once it is in a batch, the deadline of the statement ends the wait. */
static bool wait_as_follower(append_batcher *b, pending *self)
{
    int64_t most_ms = pool_options(b->pool)->acquire_timeout_ms / QUEUE_DIVISOR;
    struct timespec until = clock_timespec(self->began_us + most_ms * 1000);
    while (sem_clockwait(&self->wake, CLOCK_MONOTONIC, &until) != 0) {
        if (errno == EINTR)
            continue;
        if (stop_waiting(b, self))
            return false;
        while (sem_wait(&self->wake) != 0 && errno == EINTR) {
        }
        break;
    }
    return atomic_load(&self->woken);
}

cardbox_status append_batcher_run(append_batcher *b, const box_append *append, int64_t began_us,
                                  box_change *change, cardbox_error *err)
{
    pending self = {.append = append, .began_us = began_us, .status = CARDBOX_OK, .err = err};
    *change = self.change;
    if (pool_is_forked(b->pool))
        return CARDBOX_OK; /* does not use the parent's lock: the caller's own statement will fail
                            */
    sem_init(&self.wake, 0, 0);
    pthread_mutex_lock(&b->lock);
    add_to_list(b, &self);
    bool leads = elect(b, &self);
    pthread_mutex_unlock(&b->lock);
    if (!leads)
        leads = wait_as_follower(b, &self) && self.leader == &self;
    if (leads)
        send_as_leader(b, &self);
    sem_destroy(&self.wake);
    *change = self.change;
    return self.status;
}
