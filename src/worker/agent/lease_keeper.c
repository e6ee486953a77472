/*
 * lease_keeper.c: the thread that renews the leases of all running tasks in one statement. It stops
 * tasks whose lease is lost: cancelled, taken over by another worker, or expired.
 */
#include "base/clock.h"
#include "app/log.h"
#include "worker/agent/worker_pool_internal.h"

enum {
    RENEW_MOST_MS = 2000, /* a cancel is noticed within this time even if the task writes nothing */
    CHECK_MS = 50
};

/* Copies of the leases, since their tasks may end during the statement. */
typedef struct leases {
    task_lease *at;
    size_t *slots;
    uint64_t *task_numbers;
    size_t count;
    arena memory;
} leases;

static bool copy_lease(leases *l, const slot *s, size_t number)
{
    const task_lease *lease = &s->agent.lease;
    slice tenant = {arena_copy(&l->memory, lease->tenant), lease->tenant.len};
    slice task = {arena_copy(&l->memory, lease->task_id), lease->task_id.len};

    l->at[l->count] = (task_lease){tenant, task, lease->epoch};
    l->slots[l->count] = number;
    l->task_numbers[l->count++] = s->task_number;
    return !l->memory.failed;
}

static bool copy_leases(leases *l, worker_pool *pool)
{
    bool good;

    *l = (leases){.memory = ARENA_INIT};
    l->at = arena_zeros(&l->memory, pool->slot_count, sizeof(*l->at));
    l->slots = arena_zeros(&l->memory, pool->slot_count, sizeof(*l->slots));
    l->task_numbers = arena_zeros(&l->memory, pool->slot_count, sizeof(*l->task_numbers));
    good = !l->memory.failed;
    pthread_mutex_lock(&pool->lock);
    for (size_t i = 0; good && i < pool->slot_count; i++)
        if (pool->slots[i].is_busy)
            good = copy_lease(l, &pool->slots[i], i);
    pthread_mutex_unlock(&pool->lock);
    return good;
}

static void log_lost(const leases *l, size_t i, slice status)
{
    char task[LOG_QUOTE_SIZE], quoted[LOG_QUOTE_SIZE];

    log_info("lease_lost", "task=%s status=%s",
             log_quote(task, l->at[i].task_id.ptr, l->at[i].task_id.len),
             log_quote(quoted, status.ptr, status.len));
}

static void apply_states(worker_pool *pool, const leases *l, const store_rows *rows,
                         int64_t asked_ms)
{
    pthread_mutex_lock(&pool->lock);
    for (int row = 0; row < rows_count(rows); row++) {
        size_t i = (size_t)rows_int8(rows, row, RENEWED_COL_ORD) - 1;
        slot *s = i < l->count ? &pool->slots[l->slots[i]] : NULL;
        if (s == NULL || !s->is_busy || s->task_number != l->task_numbers[i])
            continue;
        int state = rows_int4(rows, row, RENEWED_COL_STATE);
        if (state == CARDBOX_LEASE_RENEWED)
            s->renewed_ms = asked_ms;
        if (state == CARDBOX_LEASE_LOST) {
            log_lost(l, i, rows_text(rows, row, RENEWED_COL_STATUS));
            agent_stop(&s->agent, STOP_LOST);
        }
    }
    pthread_mutex_unlock(&pool->lock);
}

/* Stops tasks whose lease has expired: another worker may have claimed them, even if the
 * database can't be reached from here. */
static void stop_expired(worker_pool *pool)
{
    int64_t now = clock_ms();

    pthread_mutex_lock(&pool->lock);
    for (size_t i = 0; i < pool->slot_count; i++) {
        slot *s = &pool->slots[i];
        if (s->is_busy && now - s->renewed_ms > pool->set->lease_s * 1000)
            agent_stop(&s->agent, STOP_LOST);
    }
    pthread_mutex_unlock(&pool->lock);
}

static void renew_leases(worker_pool *pool)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    store_rows *rows = NULL;
    int64_t asked_ms = clock_ms();
    leases l;

    if (copy_leases(&l, pool) && l.count > 0) {
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

static bool has_ended(worker_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    bool ended = pool->is_stopping && pool->busy == 0;
    pthread_mutex_unlock(&pool->lock);
    return ended;
}

void *lease_keeper_run(void *arg)
{
    worker_pool *pool = arg;
    int64_t third_ms = pool->set->lease_s * 1000 / 3;
    int64_t every_ms = third_ms < RENEW_MOST_MS ? third_ms : RENEW_MOST_MS;
    int64_t due_ms = clock_ms() + every_ms;

    while (!has_ended(pool)) {
        if (clock_ms() >= due_ms) {
            renew_leases(pool);
            due_ms = clock_ms() + every_ms;
        }
        clock_sleep_ms(CHECK_MS);
    }
    return NULL;
}
