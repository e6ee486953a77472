/*
 * ticker.h: a thread that does something again and again, and says each time when next. Knows
 * nothing of what.
 */
#ifndef SERVER_TICKER_H
#define SERVER_TICKER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Does it once; gives milliseconds until the next time. */
typedef int64_t (*ticker_turn)(void *arg);

typedef struct ticker {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t wake;
    bool stop; /* under the lock */
    ticker_turn turn;
    void *arg;
} ticker;

/* The first turn is at once. False: no thread. */
bool ticker_start(ticker *t, ticker_turn turn, void *arg);

/* Waits for a turn that is under way. */
void ticker_stop(ticker *t);

#endif
