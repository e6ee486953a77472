/*
 * worker_pool.h: the threads of a worker: one for each slot, which runs one task at a time, the
 * claimer, which claims tasks for free slots, and the lease keeper.
 */
#ifndef WORKER_POOL_H
#define WORKER_POOL_H

#include <pthread.h>
#include "worker/agent/agent.h"
#include "worker/settings.h"

/* Runs one task at a time. While it is busy, its thread owns `agent` except `stop`. The pool's lock
 * guards the rest. */
typedef struct slot {
    struct worker_pool *pool;
    pthread_t thread;
    bool is_busy;
    uint64_t task_number; /* grows by one with each task of the slot */
    int64_t renewed_ms;   /* time of the last successful renewal of the lease */
    arena memory;         /* holds the task's texts */
    agent agent;
    net *net;
} slot;

typedef struct worker_pool {
    const agent_shared *shared;
    const worker_settings *set;
    const cardbox_options *options;
    pthread_mutex_t lock;
    pthread_cond_t changed;  /* a slot got a task, or the worker stops */
    atomic_bool is_stopping; /* no task is assigned any more; set under the lock */
    atomic_uint busy;        /* busy slots; changed under the lock */
    int wake_fd; /* an eventfd that wakes the claimer: a slot is free, or the worker stops */
    pthread_t claimer, lease_keeper;
    slot slots[SETTINGS_CONCURRENCY_MAX];
    size_t slot_count;
} worker_pool;

/* Starts the threads. `pool` is all zero; `shared` and `set` must outlive it. False: out of memory
 * or threads. The program must exit then, since some threads may wait for tasks. */
bool worker_pool_start(worker_pool *pool, const agent_shared *shared, const worker_settings *set,
                       const cardbox_options *options);

/* Stops claiming. Running tasks continue. */
void worker_pool_drain(worker_pool *pool);

/* Stops the running tasks at once and hands them back. Call worker_pool_drain first. */
void worker_pool_stop_tasks(worker_pool *pool);

/* Waits for the threads and frees what they used. Call worker_pool_drain first. */
void worker_pool_free(worker_pool *pool);

/* --- for the pool's threads --- */

void *claimer_run(void *arg);
void *lease_keeper_run(void *arg);

/* Assigns a claimed task to a free slot. Returns false if the worker stops or is out of memory. */
bool worker_pool_assign(worker_pool *pool, const claimed_task *task);

#endif
