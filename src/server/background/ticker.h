/*
 * ticker.h: a thread that repeats a task, which returns the time until it is due again. Knows
 * nothing of the task.
 */
#ifndef SERVER_TICKER_H
#define SERVER_TICKER_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Due again when ticker_wake is called. */
#define TICKER_UNTIL_WOKEN INT64_MAX

/* Runs the task once. Returns milliseconds, or TICKER_UNTIL_WOKEN. */
typedef int64_t (*ticker_task)(void *arg);

typedef struct ticker {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool woken, stops, ended; /* under the lock */
    ticker_task task;
    void *arg;
} ticker;

/* The task runs at once. False: no thread. */
bool ticker_start(ticker *t, ticker_task task, void *arg);

/* Makes a task due that waits to be woken, now or after its time. Any thread. */
void ticker_wake(ticker *t);

/* Ends the thread. False: its task still runs after a second, as one that waits for a database that
 * hangs. Then nothing that it uses may be freed, and the process should end by _exit. */
bool ticker_stop(ticker *t);

#endif
