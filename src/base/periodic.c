/*
 * periodic.c: waits on a condition variable between two runs of the task, so that periodic_stop can
 * end the wait at once.
 */
#include "base/periodic.h"
#include <errno.h>
#include "base/clock.h"

/* Returns false if the thread must end. */
static bool await_next(periodic *t, int64_t ms)
{
    bool is_timed = ms != PERIODIC_UNTIL_WOKEN;
    struct timespec until = clock_timespec(is_timed ? clock_us() + ms * 1000 : 0);
    int result = 0;
    pthread_mutex_lock(&t->lock);
    while (!t->stops && result != ETIMEDOUT && (is_timed || !t->woken))
        result = is_timed ? pthread_cond_timedwait(&t->changed, &t->lock, &until)
                          : pthread_cond_wait(&t->changed, &t->lock);
    t->woken = false;
    bool stops = t->stops;
    pthread_mutex_unlock(&t->lock);
    return !stops;
}

static void *run_periodic(void *arg)
{
    periodic *t = arg;
    while (await_next(t, t->task(t->arg)))
        continue;
    pthread_mutex_lock(&t->lock);
    t->ended = true;
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
    return NULL;
}

bool periodic_start(periodic *t, periodic_task task, void *arg)
{
    pthread_condattr_t attributes;
    *t = (periodic){.task = task, .arg = arg};
    pthread_mutex_init(&t->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&t->changed, &attributes);
    pthread_condattr_destroy(&attributes);
    return pthread_create(&t->thread, NULL, run_periodic, t) == 0;
}

void periodic_wake(periodic *t)
{
    pthread_mutex_lock(&t->lock);
    t->woken = true;
    pthread_cond_broadcast(&t->changed);
    pthread_mutex_unlock(&t->lock);
}

bool periodic_stop(periodic *t, int64_t wait_ms)
{
    struct timespec until = clock_timespec(clock_us() + wait_ms * 1000);
    int result = 0;
    pthread_mutex_lock(&t->lock);
    t->stops = true;
    pthread_cond_broadcast(&t->changed);
    while (!t->ended && result != ETIMEDOUT)
        result = pthread_cond_timedwait(&t->changed, &t->lock, &until);
    bool ended = t->ended;
    pthread_mutex_unlock(&t->lock);
    if (!ended)
        return false;
    pthread_join(t->thread, NULL);
    pthread_cond_destroy(&t->changed);
    pthread_mutex_destroy(&t->lock);
    return true;
}
