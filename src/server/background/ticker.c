/*
 * ticker.c: a condition to wait on between turns, so that stopping does not wait for the next one.
 */
#include "server/background/ticker.h"
#include <errno.h>
#include "base/clock.h"

/* False: it is to stop. */
static bool wait_ms(ticker *t, int64_t ms)
{
    struct timespec until = clock_timespec(clock_us() + ms * 1000);
    int result = 0;
    pthread_mutex_lock(&t->lock);
    while (!t->stop && result != ETIMEDOUT)
        result = pthread_cond_timedwait(&t->wake, &t->lock, &until);
    bool stop = t->stop;
    pthread_mutex_unlock(&t->lock);
    return !stop;
}

static void *run(void *arg)
{
    ticker *t = arg;
    while (wait_ms(t, t->turn(t->arg)))
        continue;
    return NULL;
}

bool ticker_start(ticker *t, ticker_turn turn, void *arg)
{
    pthread_condattr_t attributes;
    *t = (ticker){.turn = turn, .arg = arg};
    pthread_mutex_init(&t->lock, NULL);
    pthread_condattr_init(&attributes);
    pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    pthread_cond_init(&t->wake, &attributes);
    pthread_condattr_destroy(&attributes);
    return pthread_create(&t->thread, NULL, run, t) == 0;
}

void ticker_stop(ticker *t)
{
    pthread_mutex_lock(&t->lock);
    t->stop = true;
    pthread_cond_signal(&t->wake);
    pthread_mutex_unlock(&t->lock);
    pthread_join(t->thread, NULL);
    pthread_cond_destroy(&t->wake);
    pthread_mutex_destroy(&t->lock);
}
