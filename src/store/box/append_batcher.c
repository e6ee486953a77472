/*
 * append_batcher.c: batches the appends of several threads, like PostgreSQL's group commit. A
 * thread becomes a leader if fewer than leaders_max threads are leaders, none of them is still
 * filling its batch, and none sends to the same box. A leader sends its own append and up to 63
 * that wait. Any other thread is a follower: it sleeps until a leader has sent the follower's
 * append, or until the follower becomes a leader. A follower whose append is in no batch after half
 * of acquire_timeout_ms sends the append alone. If a batch fails, the thread of each append that
 * may be repeated sends the append again alone, so that a bad append does not make the others fail.
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
    BATCH_MAX = 64,      /* maximum number of appends in one statement */
    PAUSE_NS = 1000,     /* on Linux the pause lasts about 50 microseconds */
    LEADERS_LEAST = 2,   /* with two leaders, one can send while the other waits for its commit */
    LEADERS_DIVISOR = 4, /* maximum number of leaders: pool_max / 4, or 2 if that is more */
    QUEUE_DIVISOR = 2    /* a follower waits for a batch for at most half of acquire_timeout_ms */
};

/* An append that waits, or that a leader is sending. It is allocated on the stack of the thread
 * that makes the append. */
typedef struct pending {
    const box_append *append;
    int64_t began_us; /* clock_us() when the call began */
    box_change change;
    cardbox_status status;
    cardbox_error *err;
    sem_t wake;
    atomic_bool woken; /* atomic for the sake of sanitizers, which do not know sem_clockwait */
    const struct pending *leader; /* the append whose thread sends this one; NULL: this one waits */
    struct pending *next;
} pending;

struct append_batcher {
    store_pool *pool;
    pthread_mutex_t lock;
    pending *first; /* appends that wait or are being sent, in the order of their arrival */
    pending **last;
    unsigned leaders_max;
    atomic_uint leaders;
    bool leader_is_filling; /* true: a leader has not filled its batch yet, so new appends can join
                               it */
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

/* --- choosing leaders and batches: callers hold the lock --- */

/* Returns true if `leader` may send `one`: `one` waits, and no other leader is sending an append to
 * the same box, whose lock that leader's statement holds or will acquire. */
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

static bool elect(append_batcher *b, pending *one)
{
    if (b->leader_is_filling || b->leaders == b->leaders_max || !may_send(b, one, one))
        return false;
    b->leader_is_filling = true;
    b->leaders++;
    one->leader = one;
    return true;
}

/* Makes the first append that may be sent the next leader. Returns the new leader, whose thread the
 * caller wakes, or NULL. */
static pending *elect_next(append_batcher *b)
{
    pending *p = b->first;
    while (p != NULL && !elect(b, p))
        p = p->next;
    return p;
}

/* Fills the batch of a leader with its own append and appends that are later in the list. */
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
    /* `self` is on its thread's stack; it is removed from the list before append_batcher_run
     * returns. */
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

/* Returns true if a failed append must not be sent again: its statement was ended by a timeout, or
 * it has no key and may have been committed. If no connection became free (CARDBOX_BUSY without an
 * SQLSTATE), the append may be sent again: its own deadline may be later than the leader's. */
static bool is_final(const pending *p, cardbox_status status, const cardbox_error *err,
                     bool may_have_run)
{
    return status == CARDBOX_TIMEOUT || (status == CARDBOX_BUSY && err->sqlstate[0] != '\0') ||
           (may_have_run && p->append->key.ptr == NULL);
}

/* Stores the error in the append if the error is final. Otherwise the append's thread sends it
 * again alone. */
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

/* NULL is accepted. After the call `one` must not be used: it is on the stack of its thread, which
 * may have returned. */
static void wake(pending *one)
{
    if (one == NULL)
        return;
    atomic_store(&one->woken, true);
    sem_post(&one->wake);
}

/* Wakes the next leader before the batch is sent, and the batch's followers and a further leader
 * afterwards. If another leader is at work, `self` pauses first: threads whose appends were just
 * sent often append again at once, and a pause is shorter than a commit. */
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
    wake(next); /* the next leader is woken last, so that its batch can contain the followers' next
                   appends */
}

/* Removes `self` from the list and returns true, or returns false if `self` is in a batch or is a
 * leader. */
static bool stop_waiting(append_batcher *b, pending *self)
{
    pthread_mutex_lock(&b->lock);
    bool stopped = self->leader == NULL;
    if (stopped)
        remove_from_list(b, self);
    pthread_mutex_unlock(&b->lock);
    return stopped;
}

/* Waits until a leader has sent `self`, or until `self` is a leader. Returns false if `self` was in
 * no batch after half of acquire_timeout_ms. Once `self` is in a batch, the wait ends when the
 * leader has sent the batch. */
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
        return CARDBOX_OK; /* the caller sends the append alone, which fails */
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
