/*
 * worker_pool_internal.h: data shared by the pool's threads. `lock` guards all of it, except what a
 * comment assigns to one thread.
 */
#ifndef WORKER_POOL_INTERNAL_H
#define WORKER_POOL_INTERNAL_H

#include <pthread.h>
#include "base/arena.h"
#include "worker/agent/worker_pool.h"

/* Runs one task at a time. While it is busy, its thread owns `agent` except `stop`. */
typedef struct slot {
    struct worker_pool *pool;
    pthread_t thread;
    bool has_thread;
    bool is_busy;
    uint64_t task_number; /* grows by one with each task of the slot */
    int64_t renewed_ms;   /* time of the last successful renewal of the lease */
    arena memory;         /* holds the task's texts */
    agent agent;
    net *net;
} slot;

struct worker_pool {
    const agent_shared *shared;
    const worker_settings *set;
    const cardbox_options *options;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a slot got a task, or the worker stops */
    bool is_stopping;
    int wake_fd; /* an eventfd that wakes the claimer: a slot is free, or the worker stops */
    bool has_claimer, has_lease_keeper;
    pthread_t claimer, lease_keeper;
    slot *slots;
    size_t slot_count, busy;
    slice tenants[SETTINGS_PROJECTS_MAX];
    bool must_notify[SETTINGS_PROJECTS_MAX]; /* tenants whose workers must be notified */
};

/* The functions of the threads. */
void *claimer_run(void *arg);
void *lease_keeper_run(void *arg);

/* Records that the workers of this tenant must be notified. The caller holds the lock. */
void worker_pool_notify_later(struct worker_pool *pool, slice tenant);

/* Assigns a claimed task to a free slot. The caller holds the lock. Returns false if the worker
 * stops or is out of memory. */
bool worker_pool_assign(struct worker_pool *pool, const claimed_task *task);

#endif
