/*
 * worker_pool.h: the threads of a worker. Each slot has a thread, which runs one task at a time.
 * The claimer claims tasks for free slots, and the lease keeper renews leases.
 */
#ifndef WORKER_POOL_H
#define WORKER_POOL_H

#include <pthread.h>
#include "worker/agent/agent.h"
#include "worker/settings.h"

/* A slot runs one task at a time. While the slot is busy, only its thread changes `agent`, except
 * agent.stop. The pool's lock guards is_busy, task_number and renewed_ms. */
typedef struct slot {
    struct worker_pool *pool;
    pthread_t thread;
    bool is_busy;
    uint64_t task_number; /* number of tasks that were assigned to the slot so far */
    int64_t renewed_ms;   /* when the last renewal of the lease began, or the task was assigned */
    arena memory;         /* contains the texts of the task's lease */
    agent agent;
    net *net;
} slot;

typedef struct worker_pool {
    const agent_shared *shared;
    const worker_settings *set;
    const cardbox_options *options;
    pthread_mutex_t lock;
    pthread_cond_t changed;  /* signalled when a slot gets a task or the worker stops */
    atomic_bool is_stopping; /* true: no more tasks are assigned; set with the lock held */
    atomic_uint busy;        /* number of busy slots; changed with the lock held */
    int wake_fd; /* eventfd that wakes the claimer when a slot becomes free or the worker stops */
    pthread_t claimer, lease_keeper;
    slot slots[SETTINGS_CONCURRENCY_MAX];
    size_t slot_count;
} worker_pool;

/* Starts the threads. The caller sets `pool` to zeros; the other arguments must outlive the pool.
 * Returns false if the system lacks memory, threads or file descriptors. After a failure the
 * program must exit, since some threads may run already. */
bool worker_pool_start(worker_pool *pool, const agent_shared *shared, const worker_settings *set,
                       const cardbox_options *options);

/* Stops claiming tasks. Running tasks continue. */
void worker_pool_drain(worker_pool *pool);

/* Makes the running tasks stop: the threads of their slots abort requests and hand the tasks back.
 * Call worker_pool_drain first. */
void worker_pool_stop_tasks(worker_pool *pool);

/* Waits until all threads have ended, and frees their resources. Call worker_pool_drain first. */
void worker_pool_free(worker_pool *pool);

/* --- for the pool's threads --- */

void *claimer_run(void *arg);
void *lease_keeper_run(void *arg);

/* Assigns a claimed task to a free slot. Returns false if the worker stops, is out of memory, or
 * has no free slot. */
bool worker_pool_assign(worker_pool *pool, const claimed_task *task);

#endif
