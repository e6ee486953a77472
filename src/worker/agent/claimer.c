/*
 * claimer.c: the thread that claims tasks: as many as there are free slots, when the bell rings,
 * when there was more than could be taken, and now and then, should nobody have rung.
 */
#include <unistd.h>
#include "base/clock.h"
#include "app/log.h"
#include "worker/agent/worker_pool_internal.h"

enum {
    GATHER_MS = 10, /* for more slots to come free before a claim for them */
    RETRY_BASE_MS = 200,
    RETRY_CAP_MS = 5000
};

/* State of the claimer alone. */
typedef struct claimer {
    worker_pool *pool;
    work_bell *bell;
    int64_t bell_due_ms; /* when to try to get one again */
    bool may_have_more;  /* the last claim got all that it asked for */
    bool is_first;       /* nothing was claimed yet: take over what an earlier run left */
    unsigned failures;   /* claims that failed, in a row */
} claimer;

static void log_failure(const char *event, const cardbox_error *err)
{
    char reason[LOG_QUOTE_SIZE];

    log_warn(event, "error=%s %s", cardbox_status_name(err->status),
             log_quote(reason, err->message, strlen(err->message)));
}

static size_t free_slots(worker_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    size_t count = pool->is_stopping ? 0 : pool->slot_count - pool->busy;
    pthread_mutex_unlock(&pool->lock);
    return count;
}

static bool is_stopping(worker_pool *pool)
{
    pthread_mutex_lock(&pool->lock);
    bool stopping = pool->is_stopping;
    pthread_mutex_unlock(&pool->lock);
    return stopping;
}

/* --- claims --- */

static void log_task(const char *event, const claimed_task *task)
{
    char id[LOG_QUOTE_SIZE], tenant[LOG_QUOTE_SIZE];

    log_info(event, "task=%s project=%s epoch=%lld attempts=%d failed_calls=%d",
             log_quote(id, task->task_id.ptr, task->task_id.len),
             log_quote(tenant, task->tenant.ptr, task->tenant.len), (long long)task->epoch,
             (int)task->attempts, (int)task->failed_calls);
}

/* A claim that was under way when all was told to stop. */
static void give_back(worker_pool *pool, const claimed_task *task)
{
    ledger_outcome ended;
    task_write write = {.lease = {task->tenant, task->task_id, task->epoch},
                        .ending = CARDBOX_HANDED_BACK,
                        .seen = -1};

    log_task("task_given_back", task);
    work_write(&ended, pool->shared->db, &write, NULL);
}

static void take(worker_pool *pool, const store_rows *rows)
{
    for (int i = 0; i < rows_count(rows); i++) {
        claimed_task task;
        claimed_task_read(&task, rows, i);
        log_task(task.given_up ? "task_given_up" : "task_claimed", &task);
        pthread_mutex_lock(&pool->lock);
        bool is_assigned = !task.given_up && worker_pool_assign(pool, &task);
        if (task.given_up && task.parent_id.len > 0) /* this end may be what its parent waits for */
            worker_pool_announce(pool, task.tenant);
        pthread_mutex_unlock(&pool->lock);
        if (!is_assigned && !task.given_up)
            give_back(pool, &task);
    }
}

static void drain_wakes(worker_pool *pool)
{
    uint64_t count;
    ssize_t len = read(pool->wake_fd, &count, sizeof(count));
    (void)len;
}

static void claim(claimer *k, size_t slots)
{
    worker_pool *pool = k->pool;
    cardbox_error err = CARDBOX_ERROR_INIT;
    store_rows *rows = NULL;
    task_claim wanted = {.tenants = pool->tenants,
                         .tenant_count = pool->set->project_count,
                         .owner = slice_of(pool->set->own_name),
                         .lease_ms = pool->set->lease_s * 1000,
                         .most = (int32_t)slots,
                         .most_attempts = (int32_t)pool->set->max_attempts,
                         .take_over = k->is_first};

    if (work_claim(&rows, pool->shared->db, &wanted, &err) != CARDBOX_OK) {
        log_failure("claim_failed", &err);
        bell_wait(NULL, pool->wake_fd,
                  clock_backoff_ms(k->failures++, RETRY_BASE_MS, RETRY_CAP_MS));
        drain_wakes(pool); /* else it would wake from each of these waits */
        return;
    }
    /* What was taken over says nothing of what else there is. */
    k->may_have_more = k->is_first || (size_t)rows_count(rows) >= slots;
    k->is_first = false;
    k->failures = 0;
    take(pool, rows);
    rows_free(rows);
}

/* --- waiting --- */

/* A pooler in transaction mode can't pass on what a session listens for. */
static void keep_bell(claimer *k)
{
    worker_pool *pool = k->pool;
    cardbox_error err = CARDBOX_ERROR_INIT;

    if (k->bell != NULL || pool->set->no_named_statements || clock_ms() < k->bell_due_ms)
        return;
    if (bell_open(&k->bell, pool->options, pool->tenants, pool->set->project_count, &err) !=
        CARDBOX_OK) {
        log_failure("listen_failed", &err);
        k->bell_due_ms = clock_ms() + RETRY_CAP_MS;
    }
    k->may_have_more = true; /* what rang before nobody heard */
}

static void wait_for_work(claimer *k, bool has_slot)
{
    worker_pool *pool = k->pool;
    int64_t poll_ms = clock_backoff_ms(0, pool->set->poll_ms, pool->set->poll_ms);
    int64_t bell_ms = k->bell_due_ms - clock_ms();

    if (k->bell == NULL && !pool->set->no_named_statements && bell_ms < poll_ms)
        poll_ms = bell_ms > 0 ? bell_ms : 1;

    switch (bell_wait(has_slot ? k->bell : NULL, pool->wake_fd, poll_ms)) {
    case BELL_RANG:
    case BELL_SILENT:
        k->may_have_more = true;
        break;
    case BELL_WOKEN:
        drain_wakes(pool);
        if (k->may_have_more)
            clock_sleep_ms(GATHER_MS);
        break;
    case BELL_LOST:
        log_warn("listen_lost", "hint=\"tasks are looked for every %ld ms\"", pool->set->poll_ms);
        bell_close(k->bell);
        k->bell = NULL;
        k->bell_due_ms = clock_ms() + clock_backoff_ms(0, RETRY_BASE_MS, RETRY_CAP_MS);
        break;
    }
}

/* Tells other workers, and our own bell, of what our tasks made runnable. */
static void ring(worker_pool *pool)
{
    slice tenants[SETTINGS_PROJECTS_MAX];
    size_t count = 0;

    pthread_mutex_lock(&pool->lock);
    for (size_t i = 0; i < pool->set->project_count; i++) {
        if (pool->is_announced[i])
            tenants[count++] = pool->tenants[i];
        pool->is_announced[i] = false;
    }
    pthread_mutex_unlock(&pool->lock);
    if (count > 0)
        work_notify(pool->shared->db, tenants, count, NULL);
}

void *claimer_run(void *arg)
{
    claimer k = {.pool = arg, .may_have_more = true, .is_first = true};

    while (!is_stopping(k.pool)) {
        keep_bell(&k);
        ring(k.pool);
        size_t slots = free_slots(k.pool);
        if (slots > 0 && k.may_have_more)
            claim(&k, slots);
        else
            wait_for_work(&k, slots > 0);
    }
    bell_close(k.bell);
    return NULL;
}
