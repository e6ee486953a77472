/*
 * worker_pool.h: the threads of a worker: slots that run one task each, a claimer that takes tasks
 * for free slots, and a auth_watcher of their leases. Knows nothing of what running a task is.
 */
#ifndef WORKER_POOL_H
#define WORKER_POOL_H

#include "worker/agent/agent.h"
#include "worker/settings.h"

typedef struct worker_pool worker_pool;

/* Starts working. NULL: no memory or no threads. `shared` and `set` must outlive it. */
worker_pool *worker_pool_start(const agent_shared *shared, const worker_settings *set,
                               const cardbox_options *options);

/* Claims nothing more; tasks that are under way go on. */
void worker_pool_drain(worker_pool *pool);

/* Whether no task is under way. */
bool worker_pool_is_idle(worker_pool *pool);

/* Tasks that are under way stop at once and are handed back. After worker_pool_drain. */
void worker_pool_hurry(worker_pool *pool);

/* Waits for the threads, after worker_pool_drain, and frees it. NULL is fine. */
void worker_pool_free(worker_pool *pool);

#endif
