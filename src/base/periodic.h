/*
 * periodic.h: a thread that repeats a task. Each run of the task returns the time until the next
 * run.
 */
#ifndef BASE_PERIODIC_H
#define BASE_PERIODIC_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Result of a task that is not due again until periodic_wake is called. */
#define PERIODIC_UNTIL_WOKEN INT64_MAX

/* Runs the task once. Returns the milliseconds until the next run, or PERIODIC_UNTIL_WOKEN. */
typedef int64_t (*periodic_task)(void *arg);

typedef struct periodic {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool woken, stops, ended; /* under the lock */
    periodic_task task;
    void *arg;
} periodic;

/* Starts the thread, which runs the task at once. False: no thread could be started. */
bool periodic_start(periodic *t, periodic_task task, void *arg);

/* Makes the task due now if its last run returned PERIODIC_UNTIL_WOKEN. A wait of a number of
 * milliseconds is not shortened. Any thread may call periodic_wake. */
void periodic_wake(periodic *t);

/* Ends the thread. Returns false if the task still runs after `wait_ms`, for example because it
 * waits for a database that hangs. If the result is false, nothing that the task uses may be freed,
 * and the process should end with _exit. */
bool periodic_stop(periodic *t, int64_t wait_ms);

#endif
