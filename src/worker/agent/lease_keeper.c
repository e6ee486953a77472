/*
 * lease_keeper.c: the thread that renews the leases of all running tasks in one statement. The
 * thread also stops a task whose lease is lost, for example because the task was cancelled, another
 * worker claimed the task, or the lease expired.
 */
#include "base/clock.h"
#include "app/log.h"
#include "worker/agent/worker_pool.h"

enum {
    RENEW_MOST_MS = 2000, /* maximum interval between two renewals of the leases */
    CHECK_MS = 50
};

/* Copies of the leases of all busy slots. They are copied because tasks may end while the statement
 * runs. */
typedef struct leases {
    task_lease at[SETTINGS_CONCURRENCY_MAX];
    slot *slots[SETTINGS_CONCURRENCY_MAX];
    uint64_t task_numbers[SETTINGS_CONCURRENCY_MAX];
    size_t count;
    arena memory;
} leases;

static void copy_leases(leases *l, worker_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    for (size_t i = 0; i < pool->slot_count; i++) {
        slot *s = &pool->slots[i];
        const task_lease *lease = &s->agent.lease;
        if (!s->is_busy)
            continue;
        slice tenant = {arena_copy(&l->memory, lease->tenant), lease->tenant.len};
        slice task = {arena_copy(&l->memory, lease->task_id), lease->task_id.len};
        l->slots[l->count] = s;
        l->task_numbers[l->count] = s->task_number;
        l->at[l->count++] = (task_lease){tenant, task, lease->epoch};
    }
    pthread_mutex_unlock(&pool->lock);
}

static void apply_states(worker_pool *pool, const leases *l, const store_rows *rows,
                         int64_t asked_ms)
{
    pthread_mutex_lock(&pool->lock);
    for (int row = 0; row < rows_count(rows); row++) {
        size_t i = (size_t)rows_int8(rows, row, RENEWED_COL_ORD) - 1;
        int state = rows_int4(rows, row, RENEWED_COL_STATE);
        slice status = rows_text(rows, row, RENEWED_COL_STATUS);
        slot *s = i < l->count ? l->slots[i] : NULL;
        if (s == NULL || !s->is_busy || s->task_number != l->task_numbers[i])
            continue;
        if (state == CARDBOX_LEASE_RENEWED)
            s->renewed_ms = asked_ms;
        if (state == CARDBOX_LEASE_LOST) {
            log_info("lease_lost", "task=%s status=%s", log_quoted(l->at[i].task_id),
                     log_quoted(status));
            atomic_fetch_or(&s->agent.stop, STOP_LOST);
        }
    }
    pthread_mutex_unlock(&pool->lock);
}

/* Stops tasks whose lease was not renewed in time, for example because this worker can't reach the
 * database: another worker may have claimed these tasks. */
static void stop_expired(worker_pool *pool)
{
    int64_t now = clock_ms();

    pthread_mutex_lock(&pool->lock);
    for (size_t i = 0; i < pool->slot_count; i++) {
        slot *s = &pool->slots[i];
        if (s->is_busy && now - s->renewed_ms > pool->set->lease_s * 1000)
            atomic_fetch_or(&s->agent.stop, STOP_LOST);
    }
    pthread_mutex_unlock(&pool->lock);
}

static void renew_leases(worker_pool *pool)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    store_rows *rows = NULL;
    int64_t asked_ms = clock_ms();
    leases l = {.memory = ARENA_INIT};

    copy_leases(&l, pool);
    if (l.count > 0 && !l.memory.failed) {
        if (work_renew(&rows, pool->shared->db, l.at, l.count, pool->set->lease_s * 1000, &err) ==
            CARDBOX_OK)
            apply_states(pool, &l, rows, asked_ms);
        else
            log_warn("renew_failed", "error=%s", cardbox_status_name(err.status));
    }
    rows_free(rows);
    arena_reset(&l.memory);
    stop_expired(pool);
}

void *lease_keeper_run(void *arg)
{
    worker_pool *pool = arg;
    int64_t third_ms = pool->set->lease_s * 1000 / 3;
    int64_t every_ms = third_ms < RENEW_MOST_MS ? third_ms : RENEW_MOST_MS;
    int64_t due_ms = clock_ms() + every_ms;

    while (!pool->is_stopping || pool->busy > 0) {
        if (clock_ms() >= due_ms) {
            renew_leases(pool);
            due_ms = clock_ms() + every_ms;
        }
        clock_sleep_ms(CHECK_MS);
    }
    return NULL;
}
