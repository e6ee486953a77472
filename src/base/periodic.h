/*
 * periodic.h: a thread that repeats a task, which returns the time until it is due again. Knows
 * nothing of the task.
 */
#ifndef BASE_PERIODIC_H
#define BASE_PERIODIC_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

/* Due again when periodic_wake is called. */
#define PERIODIC_UNTIL_WOKEN INT64_MAX

/* Runs the task once. Returns milliseconds, or PERIODIC_UNTIL_WOKEN. */
typedef int64_t (*periodic_task)(void *arg);

typedef struct periodic {
    pthread_t thread;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool woken, stops, ended; /* under the lock */
    periodic_task task;
    void *arg;
} periodic;

/* The task runs at once. False: no thread. */
bool periodic_start(periodic *t, periodic_task task, void *arg);

/* Makes a task due that waits to be woken, now or after its time. Any thread. */
void periodic_wake(periodic *t);

/* Ends the thread. False: its task still runs after `wait_ms`, such as one that waits for a
 * database that hangs. Then nothing that it uses may be freed, and the process should end by _exit.
 */
bool periodic_stop(periodic *t, int64_t wait_ms);

#endif
