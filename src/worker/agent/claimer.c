/*
 * claimer.c: the thread that claims tasks while slots are free. The thread claims tasks, for
 * example, when it starts, after a notification, after a claim that returned as many tasks as
 * requested, and after each poll interval.
 */
#include <sys/eventfd.h>
#include "base/clock.h"
#include "app/log.h"
#include "worker/agent/worker_pool.h"

enum {
    /* When a slot becomes free, the next claim waits for this time: more slots may become free. */
    WAIT_FOR_SLOTS_MS = 10,
    RETRY_BASE_MS = 200,
    RETRY_CAP_MS = 5000
};

/* State of the claimer, which only its thread uses. */
typedef struct claimer {
    worker_pool *pool;
    work_listener *listener;
    int64_t listener_retry_ms; /* earliest time of the next attempt to open the listener */
    bool may_have_more;
    /* true: no claim of this process has succeeded yet, so the next claim also claims tasks
     * whose lease has the name of this worker */
    bool is_first;
    unsigned failures; /* consecutive failed claims */
} claimer;

static void log_failure(const char *event, const cardbox_error *err)
{
    log_warn(event, "error=%s %s", cardbox_status_name(err->status),
             log_quoted(slice_of(err->message)));
}

/* --- claims --- */

static void log_task(const char *event, const claimed_task *task)
{
    log_info(event, "task=%s project=%s epoch=%lld attempts=%d failed_calls=%d",
             log_quoted(task->task_id), log_quoted(task->tenant), (long long)task->epoch,
             (int)task->attempts, (int)task->failed_calls);
}

/* Hands back a claimed task that got no slot, because the worker began to stop or is out of memory.
 */
static void hand_task_back(worker_pool *pool, const claimed_task *task)
{
    ledger_outcome ended;
    task_write write = {.lease = {task->tenant, task->task_id, task->epoch},
                        .ending = CARDBOX_HANDED_BACK,
                        .seen = -1};

    log_task("task_given_back", task);
    work_write(&ended, pool->shared->db, &write, NULL);
}

/* Returns whether a task was given up. Then there may be more such tasks, since each claim returns
 * at most one. */
static bool assign_tasks(worker_pool *pool, const store_rows *rows)
{
    bool gave_up = false;
    for (int i = 0; i < rows_count(rows); i++) {
        claimed_task task;
        claimed_task_read(&task, rows, i);
        log_task(task.given_up ? "task_given_up" : "task_claimed", &task);
        if (!task.given_up && !worker_pool_assign(pool, &task))
            hand_task_back(pool, &task);
        if (task.given_up && task.parent_id.len > 0)
            work_wake(pool->shared->db, task.tenant);
        gave_up = gave_up || task.given_up;
    }
    return gave_up;
}

static void claim_tasks(claimer *k, size_t slots)
{
    worker_pool *pool = k->pool;
    cardbox_error err = CARDBOX_ERROR_INIT;
    store_rows *rows = NULL;
    eventfd_t wakeups;
    task_claim wanted = {.tenants = pool->set->projects,
                         .tenant_count = pool->set->project_count,
                         .owner = slice_of(pool->set->name),
                         .lease_ms = pool->set->lease_s * 1000,
                         .most = (int32_t)slots,
                         .most_attempts = (int32_t)pool->set->max_attempts,
                         .take_over = k->is_first};

    if (work_claim(&rows, pool->shared->db, &wanted, &err) != CARDBOX_OK) {
        log_failure("claim_failed", &err);
        work_listener_wait(NULL, pool->wake_fd,
                           clock_backoff_ms(k->failures++, RETRY_BASE_MS, RETRY_CAP_MS));
        eventfd_read(pool->wake_fd, &wakeups);
        return;
    }
    k->may_have_more = k->is_first || (size_t)rows_count(rows) >= slots;
    k->is_first = false;
    k->failures = 0;
    k->may_have_more |= assign_tasks(pool, rows);
    rows_free(rows);
}

/* --- waiting --- */

/* With --no-prepared-statements there is no listener, because a connection pooler in transaction
 * mode can't deliver notifications. */
static void open_listener(claimer *k)
{
    worker_pool *pool = k->pool;
    cardbox_error err = CARDBOX_ERROR_INIT;

    if (k->listener != NULL || pool->set->no_named_statements || clock_ms() < k->listener_retry_ms)
        return;
    if (work_listener_open(&k->listener, pool->options, pool->set->projects,
                           pool->set->project_count, &err) != CARDBOX_OK) {
        log_failure("listen_failed", &err);
        k->listener_retry_ms = clock_ms() + RETRY_CAP_MS;
    }
    k->may_have_more = true; /* notifications may have been missed before the listener was open */
}

static void wait_for_work(claimer *k, bool has_slot)
{
    worker_pool *pool = k->pool;
    int64_t poll_ms = clock_backoff_ms(0, pool->set->poll_ms, pool->set->poll_ms);
    int64_t retry_ms = k->listener_retry_ms - clock_ms();
    eventfd_t wakeups;

    if (k->listener == NULL && !pool->set->no_named_statements && retry_ms < poll_ms)
        poll_ms = retry_ms > 0 ? retry_ms : 1;

    switch (work_listener_wait(has_slot ? k->listener : NULL, pool->wake_fd, poll_ms)) {
    case LISTENER_NOTIFIED:
    case LISTENER_TIMEOUT:
        k->may_have_more = true;
        break;
    case LISTENER_WOKEN:
        eventfd_read(pool->wake_fd, &wakeups);
        if (k->may_have_more)
            clock_sleep_ms(WAIT_FOR_SLOTS_MS);
        break;
    case LISTENER_LOST:
        log_warn("listen_lost", "hint=\"tasks are found by polling every %ld ms\"",
                 pool->set->poll_ms);
        work_listener_close(k->listener);
        k->listener = NULL;
        k->listener_retry_ms = clock_ms() + clock_backoff_ms(0, RETRY_BASE_MS, RETRY_CAP_MS);
        break;
    }
}

void *claimer_run(void *arg)
{
    worker_pool *pool = arg;
    claimer k = {.pool = pool, .may_have_more = true, .is_first = true};

    while (!pool->is_stopping) {
        open_listener(&k);
        size_t slots = pool->slot_count - pool->busy;
        if (slots > 0 && k.may_have_more)
            claim_tasks(&k, slots);
        else
            wait_for_work(&k, slots > 0);
    }
    work_listener_close(k.listener);
    return NULL;
}
