/*
 * crew_internal.h: what the crew's threads share. All of it is guarded by `lock`, but for what the
 * comments say belongs to one thread.
 */
#ifndef WORKER_CREW_INTERNAL_H
#define WORKER_CREW_INTERNAL_H

#include <pthread.h>
#include "base/arena.h"
#include "worker/agent/crew.h"

/* One task at a time. While it is busy its thread owns `agent`, but for the stop flag. */
typedef struct seat {
    struct crew *crew;
    pthread_t thread;
    bool has_thread;
    bool is_busy;
    uint64_t turn;      /* grows with each task: tells two tasks of one seat apart */
    int64_t renewed_ms; /* when its lease was last known to be whole */
    arena memory;       /* of the task's texts */
    agent agent;
    net *net;
} seat;

struct crew {
    const agent_shared *shared;
    const worker_settings *set;
    const cardbox_options *options;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* a seat got a task, or all is to stop */
    bool is_stopping;
    int wake_fd; /* an eventfd: a seat is free, or all is to stop */
    bool has_caller, has_keeper;
    pthread_t caller, keeper;
    seat *seats;
    size_t seat_count, busy;
    view tenants[SETTINGS_PROJECTS_MAX];
    bool is_announced[SETTINGS_PROJECTS_MAX]; /* tenants to whose workers work is to be announced */
};

/* The bodies of the threads. */
void *crew_call(void *crew);
void *crew_keep(void *crew);

/* Work of this tenant is to be announced to its workers. The lock is held. */
void crew_announce(struct crew *c, view tenant);

/* Gives a claimed task to a free seat. The caller holds the lock. False: all is to stop, and no
 * thread may be left for it; or out of memory. */
bool crew_seat(struct crew *c, const claimed_task *task);

#endif
