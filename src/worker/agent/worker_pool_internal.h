/*
 * worker_pool_internal.h: what the threads of the pool share. All of it is guarded by `lock`, but
 * for what the comments say belongs to one thread.
 */
#ifndef WORKER_POOL_INTERNAL_H
#define WORKER_POOL_INTERNAL_H

#include <pthread.h>
#include "base/arena.h"
#include "worker/agent/worker_pool.h"

/* One task at a time. While it is busy its thread owns `agent`, but for the stop flag. */
typedef struct slot {
    struct worker_pool *pool;
    pthread_t thread;
    bool has_thread;
    bool is_busy;
    uint64_t turn;      /* grows with each task: tells two tasks of one slot apart */
    int64_t renewed_ms; /* when its lease was last known to be whole */
    arena memory;       /* of the task's texts */
    agent agent;
    net *net;
} slot;

struct worker_pool {
    const agent_shared *shared;
    const worker_settings *set;
    const cardbox_options *options;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a slot got a task, or all is to stop */
    bool is_stopping;
    int wake_fd; /* an eventfd: a slot is free, or all is to stop */
    bool has_claimer, has_keeper;
    pthread_t claimer, auth_watcher;
    slot *slots;
    size_t slot_count, busy;
    slice tenants[SETTINGS_PROJECTS_MAX];
    bool is_announced[SETTINGS_PROJECTS_MAX]; /* tenants to whose workers work is to be announced */
};

/* The bodies of the threads. */
void *claimer_run(void *arg);
void *lease_keeper_run(void *arg);

/* Work of this tenant is to be announced to its workers. The lock is held. */
void worker_pool_announce(struct worker_pool *pool, slice tenant);

/* Gives a claimed task to a free slot. The caller holds the lock. False: all is to stop, and no
 * thread may be left for it; or out of memory. */
bool worker_pool_assign(struct worker_pool *pool, const claimed_task *task);

#endif
