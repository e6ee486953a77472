/*
 * crew.c: the seats, and starting and stopping all threads.
 */
#include "worker/agent/crew.h"
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include "base/clock.h"
#include "app/log.h"
#include "worker/agent/crew_internal.h"

/* Wakes the caller. */
static void wake(crew *c)
{
    uint64_t one = 1;
    ssize_t written = write(c->wake_fd, &one, sizeof(one));
    (void)written; /* it can only fail where so many are there already */
}

/* --- seats --- */

bool crew_seat(crew *c, const claimed_task *task)
{
    for (size_t i = 0; i < c->seat_count && !c->is_stopping; i++) {
        seat *s = &c->seats[i];
        if (s->is_busy)
            continue;
        arena_reset(&s->memory);
        view tenant = {arena_copy(&s->memory, task->tenant), task->tenant.len};
        view task_id = {arena_copy(&s->memory, task->task_id), task->task_id.len};
        view parent = {arena_copy(&s->memory, task->parent_id), task->parent_id.len};
        if (s->memory.failed)
            return false;
        s->agent = (agent){.shared = c->shared,
                           .net = s->net,
                           .lease = {tenant, task_id, task->epoch},
                           .parent_id = parent};
        s->renewed_ms = clock_ms();
        s->turn++;
        s->is_busy = true;
        c->busy++;
        pthread_cond_broadcast(&c->changed);
        return true;
    }
    return false;
}

static const char *end_name(agent_end end)
{
    static const char *const NAMES[] = {
        [AGENT_FINISHED] = "finished",    [AGENT_ASLEEP] = "asleep",
        [AGENT_RETURNED] = "handed_back", [AGENT_LOST] = "lost",
        [AGENT_CANCELLED] = "cancelled",  [AGENT_FAILED] = "failed",
    };

    return NAMES[end];
}

static void log_end(const agent *a, agent_end end, int64_t ms)
{
    char task[LOG_QUOTE_SIZE], said[LOG_QUOTE_SIZE];

    log_info("task_left",
             "task=%s end=%s status=%s model_calls=%ld tool_calls=%ld prompt_tokens=%lld "
             "completion_tokens=%lld ms=%lld",
             log_quote(task, a->lease.task_id.ptr, a->lease.task_id.len), end_name(end),
             log_quote(said, a->status, end == AGENT_FINISHED ? strlen(a->status) : 0),
             a->model_calls, a->tool_calls, (long long)a->prompt_tokens,
             (long long)a->completion_tokens, (long long)ms);
}

void crew_announce(crew *c, view tenant)
{
    for (size_t i = 0; i < c->set->project_count; i++)
        c->is_announced[i] |= view_equal(c->tenants[i], tenant);
}

/* What its end may have made runnable: its parent, or itself. */
static void leave(seat *s, agent_end end)
{
    crew *c = s->crew;

    pthread_mutex_lock(&c->lock);
    if (end == AGENT_RETURNED || (end == AGENT_FINISHED && s->agent.parent_id.len > 0))
        crew_announce(c, s->agent.lease.tenant);
    s->is_busy = false;
    c->busy--;
    pthread_mutex_unlock(&c->lock);
    wake(c);
}

/* False: there will be none. */
static bool await_task(seat *s)
{
    crew *c = s->crew;

    pthread_mutex_lock(&c->lock);
    while (!s->is_busy && !c->is_stopping)
        pthread_cond_wait(&c->changed, &c->lock);
    bool has_task = s->is_busy;
    pthread_mutex_unlock(&c->lock);
    return has_task;
}

static void *run_seat(void *arg)
{
    seat *s = arg;

    while (await_task(s)) {
        int64_t began_ms = clock_ms();
        agent_end end = agent_run(&s->agent);
        log_end(&s->agent, end, clock_ms() - began_ms);
        leave(s, end);
    }
    return NULL;
}

/* --- all of them --- */

static bool start_seats(crew *c)
{
    c->seats = calloc((size_t)c->set->concurrency, sizeof(seat));
    if (c->seats == NULL)
        return false;
    c->seat_count = (size_t)c->set->concurrency;
    for (size_t i = 0; i < c->seat_count; i++) {
        seat *s = &c->seats[i];
        s->crew = c;
        s->memory = ARENA_INIT;
        s->net = net_new();
        s->has_thread = s->net != NULL && pthread_create(&s->thread, NULL, run_seat, s) == 0;
        if (!s->has_thread)
            return false;
    }
    return true;
}

crew *crew_start(const agent_shared *shared, const worker_settings *set,
                 const cardbox_options *options)
{
    crew *c = calloc(1, sizeof(*c));

    if (c == NULL)
        return NULL;
    c->shared = shared;
    c->set = set;
    c->options = options;
    for (size_t i = 0; i < set->project_count; i++)
        c->tenants[i] = view_of(set->projects[i]);
    pthread_mutex_init(&c->lock, NULL);
    pthread_cond_init(&c->changed, NULL);
    c->wake_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    if (c->wake_fd >= 0 && start_seats(c)) {
        c->has_keeper = pthread_create(&c->keeper, NULL, crew_keep, c) == 0;
        c->has_caller = c->has_keeper && pthread_create(&c->caller, NULL, crew_call, c) == 0;
    }
    if (!c->has_caller) {
        crew_drain(c);
        crew_free(c);
        return NULL;
    }
    return c;
}

void crew_drain(crew *c)
{
    pthread_mutex_lock(&c->lock);
    c->is_stopping = true;
    pthread_cond_broadcast(&c->changed);
    pthread_mutex_unlock(&c->lock);
    wake(c);
}

bool crew_is_idle(crew *c)
{
    pthread_mutex_lock(&c->lock);
    bool is_idle = c->busy == 0;
    pthread_mutex_unlock(&c->lock);
    return is_idle;
}

void crew_hurry(crew *c)
{
    pthread_mutex_lock(&c->lock);
    for (size_t i = 0; i < c->seat_count; i++)
        if (c->seats[i].is_busy)
            agent_halt(&c->seats[i].agent, HALT_RETURN);
    pthread_mutex_unlock(&c->lock);
}

/* The caller ends first: it must not seat a task where no thread is left. What was handed back is
 * announced at the very end. */
void crew_free(crew *c)
{
    if (c == NULL)
        return;
    if (c->has_caller)
        pthread_join(c->caller, NULL);
    for (size_t i = 0; i < c->seat_count; i++)
        if (c->seats[i].has_thread)
            pthread_join(c->seats[i].thread, NULL);
    if (c->has_keeper)
        pthread_join(c->keeper, NULL);
    for (size_t i = 0; i < c->set->project_count; i++)
        if (c->is_announced[i])
            work_notify(c->shared->db, &c->tenants[i], 1, NULL);
    for (size_t i = 0; i < c->seat_count; i++) {
        net_free(c->seats[i].net);
        arena_reset(&c->seats[i].memory);
    }
    if (c->wake_fd >= 0)
        close(c->wake_fd);
    pthread_cond_destroy(&c->changed);
    pthread_mutex_destroy(&c->lock);
    free(c->seats);
    free(c);
}
