/*
 * worker_pool.h: the threads of a worker: one for each slot, which runs one task at a time, the
 * claimer, which claims tasks for free slots, and the lease keeper.
 */
#ifndef WORKER_POOL_H
#define WORKER_POOL_H

#include "worker/agent/agent.h"
#include "worker/settings.h"

typedef struct worker_pool worker_pool;

/* Starts the threads. NULL: out of memory or threads. `shared` and `set` must outlive the pool. */
worker_pool *worker_pool_start(const agent_shared *shared, const worker_settings *set,
                               const cardbox_options *options);

/* Stops claiming. Running tasks continue. */
void worker_pool_drain(worker_pool *pool);

/* Returns whether no task is running. */
bool worker_pool_is_idle(worker_pool *pool);

/* Stops the running tasks at once and hands them back. Call worker_pool_drain first. */
void worker_pool_stop_tasks(worker_pool *pool);

/* Waits for the threads and frees the pool. Call worker_pool_drain first. NULL is allowed. */
void worker_pool_free(worker_pool *pool);

#endif
