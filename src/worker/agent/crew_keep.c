/*
 * crew_keep.c: the thread that renews the leases of all running tasks, in one statement, and stops
 * those whose lease is lost: to a cancel, to another worker, or because nobody could renew it.
 */
#include "base/clock.h"
#include "app/log.h"
#include "worker/agent/crew_internal.h"

enum {
    RENEW_MOST_MS = 2000, /* also how soon a cancel is seen by a task that writes nothing */
    LOOK_MS = 50
};

/* The leases of a moment, copied: their tasks may end meanwhile. */
typedef struct leases {
    task_lease *at;
    size_t *seats;
    uint64_t *turns;
    size_t count;
    arena memory;
} leases;

static bool note(leases *l, const seat *s, size_t number)
{
    const task_lease *lease = &s->agent.lease;
    view tenant = {arena_copy(&l->memory, lease->tenant), lease->tenant.len};
    view task = {arena_copy(&l->memory, lease->task_id), lease->task_id.len};

    l->at[l->count] = (task_lease){tenant, task, lease->epoch};
    l->seats[l->count] = number;
    l->turns[l->count++] = s->turn;
    return !l->memory.failed;
}

static bool collect(leases *l, crew *c)
{
    bool good;

    *l = (leases){.memory = ARENA_INIT};
    l->at = arena_zeros(&l->memory, c->seat_count, sizeof(*l->at));
    l->seats = arena_zeros(&l->memory, c->seat_count, sizeof(*l->seats));
    l->turns = arena_zeros(&l->memory, c->seat_count, sizeof(*l->turns));
    good = !l->memory.failed;
    pthread_mutex_lock(&c->lock);
    for (size_t i = 0; good && i < c->seat_count; i++)
        if (c->seats[i].is_busy)
            good = note(l, &c->seats[i], i);
    pthread_mutex_unlock(&c->lock);
    return good;
}

static void log_lost(const leases *l, size_t i, view status)
{
    char task[LOG_QUOTE_SIZE], said[LOG_QUOTE_SIZE];

    log_info("lease_lost", "task=%s status=%s",
             log_quote(task, l->at[i].task_id.ptr, l->at[i].task_id.len),
             log_quote(said, status.ptr, status.len));
}

static void take_states(crew *c, const leases *l, const store_rows *rows, int64_t asked_ms)
{
    pthread_mutex_lock(&c->lock);
    for (int row = 0; row < rows_count(rows); row++) {
        size_t i = (size_t)rows_int8(rows, row, RENEWED_COL_ORD) - 1;
        seat *s = i < l->count ? &c->seats[l->seats[i]] : NULL;
        if (s == NULL || !s->is_busy || s->turn != l->turns[i])
            continue;
        int state = rows_int4(rows, row, RENEWED_COL_STATE);
        if (state == CARDBOX_LEASE_RENEWED)
            s->renewed_ms = asked_ms;
        if (state == CARDBOX_LEASE_LOST) {
            log_lost(l, i, rows_text(rows, row, RENEWED_COL_STATUS));
            agent_halt(&s->agent, HALT_LOST);
        }
    }
    pthread_mutex_unlock(&c->lock);
}

/* Past its lease a task may be somebody else's, whether or not the database can be asked. */
static void stop_expired(crew *c)
{
    int64_t now = clock_ms();

    pthread_mutex_lock(&c->lock);
    for (size_t i = 0; i < c->seat_count; i++) {
        seat *s = &c->seats[i];
        if (s->is_busy && now - s->renewed_ms > c->set->lease_s * 1000)
            agent_halt(&s->agent, HALT_LOST);
    }
    pthread_mutex_unlock(&c->lock);
}

static void renew(crew *c)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    store_rows *rows = NULL;
    int64_t asked_ms = clock_ms();
    leases l;

    if (collect(&l, c) && l.count > 0) {
        if (work_renew(&rows, c->shared->db, l.at, l.count, c->set->lease_s * 1000, &err) ==
            CARDBOX_OK)
            take_states(c, &l, rows, asked_ms);
        else
            log_warn("renew_failed", "error=%s", cardbox_status_name(err.status));
    }
    rows_free(rows);
    arena_reset(&l.memory);
    stop_expired(c);
}

static bool has_ended(crew *c)
{
    pthread_mutex_lock(&c->lock);
    bool ended = c->is_stopping && c->busy == 0;
    pthread_mutex_unlock(&c->lock);
    return ended;
}

void *crew_keep(void *arg)
{
    crew *c = arg;
    int64_t third_ms = c->set->lease_s * 1000 / 3;
    int64_t every_ms = third_ms < RENEW_MOST_MS ? third_ms : RENEW_MOST_MS;
    int64_t due_ms = clock_ms() + every_ms;

    while (!has_ended(c)) {
        if (clock_ms() >= due_ms) {
            renew(c);
            due_ms = clock_ms() + every_ms;
        }
        clock_sleep_ms(LOOK_MS);
    }
    return NULL;
}
