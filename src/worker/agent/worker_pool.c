/*
 * worker_pool.c: runs tasks in slots, and starts and stops all threads of the worker.
 */
#include "worker/agent/worker_pool.h"
#include <sys/eventfd.h>
#include <unistd.h>
#include "base/clock.h"
#include "app/log.h"

/* --- slots --- */

static bool fill_slot(slot *s, const claimed_task *task)
{
    worker_pool *pool = s->pool;

    arena_reset(&s->memory);
    slice tenant = {arena_copy(&s->memory, task->tenant), task->tenant.len};
    slice task_id = {arena_copy(&s->memory, task->task_id), task->task_id.len};
    slice parent = {arena_copy(&s->memory, task->parent_id), task->parent_id.len};
    if (s->memory.failed)
        return false;
    s->agent = (agent){.shared = pool->shared,
                       .net = s->net,
                       .lease = {tenant, task_id, task->epoch},
                       .parent_id = parent};
    s->renewed_ms = clock_ms();
    s->task_number++;
    s->is_busy = true;
    pool->busy++;
    pthread_cond_broadcast(&pool->changed);
    return true;
}

bool worker_pool_assign(worker_pool *pool, const claimed_task *task)
{
    bool is_assigned = false;
    size_t i = 0;

    pthread_mutex_lock(&pool->lock);
    while (i < pool->slot_count && pool->slots[i].is_busy)
        i++;
    /* After is_stopping is set, the threads of idle slots end, so no task is assigned. */
    if (i < pool->slot_count && !pool->is_stopping)
        is_assigned = fill_slot(&pool->slots[i], task);
    pthread_mutex_unlock(&pool->lock);
    return is_assigned;
}

static void log_end(const agent *a, agent_end end, int64_t ms)
{
    static const char *const NAMES[] = {
        [AGENT_FINISHED] = "finished",       [AGENT_WAITING] = "asleep",
        [AGENT_HANDED_BACK] = "handed_back", [AGENT_LOST] = "lost",
        [AGENT_CANCELLED] = "cancelled",     [AGENT_FAILED] = "failed",
    };

    log_info("task_left",
             "task=%s end=%s status=%s model_calls=%ld tool_calls=%ld prompt_tokens=%lld "
             "completion_tokens=%lld ms=%lld",
             log_quoted(a->lease.task_id), NAMES[end],
             log_quoted(slice_of(end == AGENT_FINISHED ? a->status : "")), a->model_calls,
             a->tool_calls, (long long)a->prompt_tokens, (long long)a->completion_tokens,
             (long long)ms);
}

static bool await_task(slot *s)
{
    worker_pool *pool = s->pool;

    pthread_mutex_lock(&pool->lock);
    while (!s->is_busy && !pool->is_stopping)
        pthread_cond_wait(&pool->changed, &pool->lock);
    bool has_task = s->is_busy;
    pthread_mutex_unlock(&pool->lock);
    return has_task;
}

static void *run_slot(void *arg)
{
    slot *s = arg;
    worker_pool *pool = s->pool;

    while (await_task(s)) {
        int64_t began_ms = clock_ms();
        agent_end end = agent_run(&s->agent);
        log_end(&s->agent, end, clock_ms() - began_ms);
        if (end == AGENT_HANDED_BACK || (end == AGENT_FINISHED && s->agent.parent_id.len > 0))
            work_wake(pool->shared->db, s->agent.lease.tenant);
        pthread_mutex_lock(&pool->lock);
        s->is_busy = false;
        pool->busy--;
        pthread_mutex_unlock(&pool->lock);
        eventfd_write(pool->wake_fd, 1);
    }
    return NULL;
}

/* --- all of them --- */

bool worker_pool_start(worker_pool *pool, const agent_shared *shared, const worker_settings *set,
                       const cardbox_options *options)
{
    pool->shared = shared;
    pool->set = set;
    pool->options = options;
    pthread_mutex_init(&pool->lock, NULL);
    pthread_cond_init(&pool->changed, NULL);
    pool->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (pool->wake_fd < 0)
        return false;
    pool->slot_count = (size_t)set->concurrency;
    for (size_t i = 0; i < pool->slot_count; i++) {
        slot *s = &pool->slots[i];
        s->pool = pool;
        s->memory = ARENA_INIT;
        s->net = net_new();
        if (s->net == NULL || pthread_create(&s->thread, NULL, run_slot, s) != 0)
            return false;
    }
    return pthread_create(&pool->lease_keeper, NULL, lease_keeper_run, pool) == 0 &&
           pthread_create(&pool->claimer, NULL, claimer_run, pool) == 0;
}

void worker_pool_drain(worker_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    pool->is_stopping = true;
    pthread_cond_broadcast(&pool->changed);
    pthread_mutex_unlock(&pool->lock);
    eventfd_write(pool->wake_fd, 1);
}

void worker_pool_stop_tasks(worker_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    for (size_t i = 0; i < pool->slot_count; i++)
        if (pool->slots[i].is_busy)
            atomic_fetch_or(&pool->slots[i].agent.stop, STOP_HAND_BACK);
    pthread_mutex_unlock(&pool->lock);
}

void worker_pool_free(worker_pool *pool)
{
    pthread_join(pool->claimer, NULL);
    for (size_t i = 0; i < pool->slot_count; i++)
        pthread_join(pool->slots[i].thread, NULL);
    pthread_join(pool->lease_keeper, NULL);
    for (size_t i = 0; i < pool->slot_count; i++) {
        net_free(pool->slots[i].net);
        arena_reset(&pool->slots[i].memory);
    }
    close(pool->wake_fd);
    pthread_cond_destroy(&pool->changed);
    pthread_mutex_destroy(&pool->lock);
}
