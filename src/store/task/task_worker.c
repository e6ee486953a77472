/*
 * task_worker.c: the public functions of <cardbox/task.h> for workers: claim, renew, write, stream
 * a message, and wait for work. The database ensures that only one worker at a time can write to a
 * task.
 */
#include "cardbox/task.h"

#include <stdlib.h>
#include "base/clock.h"
#include "store/client/call.h"
#include "store/client/result.h"
#include "store/ledger/ledger_input.h"
#include "store/task/work.h"

enum { LEASE_MS_DEFAULT = 15000, ATTEMPTS_DEFAULT = 5 };

/* --- claiming --- */

static bool fill_claim(void *entry, arena *memory, const store_rows *rows, int row)
{
    claimed_task task;
    (void)memory;
    claimed_task_read(&task, rows, row);
    *(cardbox_claim *)entry = (cardbox_claim){
        .lease = {task.tenant.ptr, task.task_id.ptr, task.epoch},
        .parent_task_id = task.parent_id.ptr,
        .attempts = task.attempts,
        .failed_calls = task.failed_calls,
        .given_up = task.given_up,
    };
    return true;
}

static cardbox_status read_tenants(slice **out, arena *memory, const char *const *tenants,
                                   size_t count, cardbox_error *err)
{
    *out = NULL;
    if (tenants == NULL)
        return CARDBOX_OK;
    if (count == 0)
        return error_set(err, CARDBOX_INVALID, "name at least one tenant, or NULL for all");
    slice *made = arena_zeros(memory, count, sizeof(*made));
    if (made == NULL)
        return error_nomem(err);
    for (size_t i = 0; i < count; i++) {
        cardbox_status status = check_id("tenant", tenants[i], CARDBOX_TENANT_MAX, err);
        if (status != CARDBOX_OK)
            return status;
        made[i] = slice_of(tenants[i]);
    }
    *out = made;
    return CARDBOX_OK;
}

static cardbox_status check_claim(cardbox_claims **out, cardbox *db,
                                  const cardbox_claim_options *options, cardbox_error *err)
{
    if (out == NULL || db == NULL)
        return error_set(err, CARDBOX_INVALID, "out and db must not be NULL");
    *out = NULL;
    if (options == NULL || options->struct_size < sizeof(*options))
        return error_set(err, CARDBOX_INVALID,
                         "options were not made by CARDBOX_CLAIM_OPTIONS_INIT");
    if (options->limit < 1 || options->limit > CARDBOX_PAGE_MAX)
        return error_set(err, CARDBOX_INVALID, "limit must be 1 to %d, not %u", CARDBOX_PAGE_MAX,
                         options->limit);
    if (options->max_attempts > INT32_MAX)
        return error_set(err, CARDBOX_INVALID, "max_attempts is too large");
    return check_id("owner", options->owner, CARDBOX_WORKER_NAME_MAX, err);
}

cardbox_status cardbox_tasks_claim(cardbox_claims **out, cardbox *db,
                                   const cardbox_claim_options *options, cardbox_error *err)
{
    arena memory = ARENA_INIT;
    store_rows *rows = NULL;
    slice *tenants = NULL;
    cardbox_status status = check_claim(out, db, options, err);
    if (status != CARDBOX_OK)
        return status;
    status = read_tenants(&tenants, &memory, options->tenants, options->tenant_count, err);
    const task_claim claim = {
        .tenants = tenants,
        .tenant_count = options->tenants == NULL ? 0 : options->tenant_count,
        .owner = slice_of(options->owner),
        .lease_ms = options->lease_ms == 0 ? LEASE_MS_DEFAULT : options->lease_ms,
        .most = (int32_t)options->limit,
        .most_attempts =
            options->max_attempts == 0 ? ATTEMPTS_DEFAULT : (int32_t)options->max_attempts,
        .take_over = options->take_over,
    };
    if (status == CARDBOX_OK)
        status = work_claim(&rows, db, &claim, err);
    arena_reset(&memory);
    if (status != CARDBOX_OK)
        return status;
    *out = result_new(rows, SIZE_MAX, sizeof(cardbox_claim), fill_claim, err);
    return *out == NULL ? CARDBOX_NOMEM : CARDBOX_OK;
}

size_t cardbox_claims_count(const cardbox_claims *claims)
{
    return result_count(claims);
}

const cardbox_claim *cardbox_claims_at(const cardbox_claims *claims, size_t index)
{
    return result_at(claims, index);
}

void cardbox_claims_free(cardbox_claims *claims)
{
    result_free(claims);
}

/* --- holding --- */

static cardbox_status read_lease(task_lease *out, const cardbox_lease *lease, cardbox_error *err)
{
    if (lease == NULL)
        return error_set(err, CARDBOX_INVALID, "lease must not be NULL");
    *out = (task_lease){slice_of(lease->tenant), slice_of(lease->task_id), lease->epoch};
    cardbox_status status = check_id("tenant", lease->tenant, CARDBOX_TENANT_MAX, err);
    return status == CARDBOX_OK ? check_id("task_id", lease->task_id, CARDBOX_CARD_ID_MAX, err)
                                : status;
}

cardbox_status cardbox_task_begin_turn(cardbox_turn *out, cardbox *db, const cardbox_lease *lease,
                                       cardbox_error *err)
{
    task_lease made;
    if (out == NULL || db == NULL)
        return error_set(err, CARDBOX_INVALID, "out and db must not be NULL");
    cardbox_status status = read_lease(&made, lease, err);
    return status == CARDBOX_OK ? work_turn(out, db, &made, err) : status;
}

static void read_states(cardbox_lease_state *states, size_t count, const store_rows *rows)
{
    for (size_t i = 0; i < count; i++)
        states[i] = CARDBOX_LEASE_LOST;
    for (int row = 0; row < rows_count(rows); row++) {
        size_t index = (size_t)rows_int8(rows, row, RENEWED_COL_ORD) - 1;
        cardbox_lease_state state = (cardbox_lease_state)rows_int4(rows, row, RENEWED_COL_STATE);
        bool cancelled = slice_equal(rows_text(rows, row, RENEWED_COL_STATUS), SLICE("cancelled"));
        if (index < count)
            states[index] =
                state == CARDBOX_LEASE_LOST && cancelled ? CARDBOX_LEASE_CANCELLED : state;
    }
}

cardbox_status cardbox_tasks_renew(cardbox_lease_state *states, cardbox *db,
                                   const cardbox_lease *leases, size_t count, unsigned lease_ms,
                                   cardbox_error *err)
{
    arena memory = ARENA_INIT;
    store_rows *rows = NULL;
    if (db == NULL || (count > 0 && (states == NULL || leases == NULL)))
        return error_set(err, CARDBOX_INVALID, "states, db and leases must not be NULL");
    if (count > CARDBOX_PAGE_MAX)
        return error_set(err, CARDBOX_TOO_LARGE, "%zu leases in one call, the limit is %d", count,
                         CARDBOX_PAGE_MAX);
    if (count == 0)
        return CARDBOX_OK;
    task_lease *made = arena_zeros(&memory, count, sizeof(*made));
    cardbox_status status = made == NULL ? error_nomem(err) : CARDBOX_OK;
    for (size_t i = 0; status == CARDBOX_OK && i < count; i++)
        status = read_lease(&made[i], &leases[i], err);
    if (status == CARDBOX_OK)
        status =
            work_renew(&rows, db, made, count, lease_ms == 0 ? LEASE_MS_DEFAULT : lease_ms, err);
    if (status == CARDBOX_OK)
        read_states(states, count, rows);
    rows_free(rows);
    arena_reset(&memory);
    return status;
}

/* --- writing --- */

static cardbox_status read_write(task_write *out, arena *memory, const cardbox_lease *lease,
                                 const cardbox_task_write *write, cardbox_error *err)
{
    if (write == NULL || write->struct_size < sizeof(*write))
        return error_set(err, CARDBOX_INVALID, "write was not made by CARDBOX_TASK_WRITE_INIT");
    if ((unsigned)write->ending > CARDBOX_HANDED_BACK)
        return error_set(err, CARDBOX_INVALID, "ending is %d: pass a cardbox_ending",
                         (int)write->ending);
    *out = (task_write){
        .message_count = write->message_count,
        .call_count = write->call_count,
        .ending = write->ending,
        .status = slice_of(write->completion_status),
        .seen = write->seen,
        .awaits = write->awaits_subtasks,
        .until_ms = write->sleep_until,
    };
    /* A completion status that contains the reason of a failure may be too long, so the status is
     * cut. */
    out->status.len = slice_cut(out->status, CARDBOX_TASK_STATUS_MAX);
    cardbox_status status = read_lease(&out->lease, lease, err);
    if (status == CARDBOX_OK)
        status = ledger_read_messages(&out->messages, memory, out->lease.task_id, write->messages,
                                      write->message_count, err);
    if (status == CARDBOX_OK)
        status = ledger_read_calls(&out->calls, memory, out->lease.task_id, write->calls,
                                   write->call_count, err);
    return status;
}

static cardbox_ending ending_of(ledger_outcome outcome, cardbox_ending asked)
{
    if (outcome == LEDGER_ASLEEP)
        return asked == CARDBOX_HANDED_BACK ? asked : CARDBOX_SLEEPS;
    return outcome == LEDGER_UPDATED ? CARDBOX_FINISHED : CARDBOX_GOES_ON;
}

cardbox_status cardbox_task_update(cardbox_ending *ended, cardbox *db, const cardbox_lease *lease,
                                   const cardbox_task_write *write, cardbox_error *err)
{
    arena memory = ARENA_INIT;
    task_write made;
    ledger_outcome outcome = 0;
    if (db == NULL)
        return error_set(err, CARDBOX_INVALID, "db must not be NULL");
    cardbox_status status = read_write(&made, &memory, lease, write, err);
    if (status == CARDBOX_OK)
        status = work_write(&outcome, db, &made, err);
    if (status == CARDBOX_OK) {
        cardbox_ending ending = ending_of(outcome, write->ending);
        if (ended != NULL)
            *ended = ending;
        /* A worker can now run this task, if it was handed back, or its parent task, which may have
         * slept until this task was finished. */
        if (ending == CARDBOX_FINISHED || ending == CARDBOX_HANDED_BACK)
            work_wake(db, made.lease.tenant);
    }
    arena_reset(&memory);
    return status;
}

cardbox_status cardbox_task_publish_chunk(cardbox *db, const cardbox_lease *lease,
                                          const char *message_id, int64_t n, const char *text,
                                          size_t length, cardbox_error *err)
{
    buf token = BUF_INIT(6 * (size_t)CARDBOX_CONTENT_MAX);
    task_lease made;
    if (db == NULL || (text == NULL && length > 0))
        return error_set(err, CARDBOX_INVALID, "db and text must not be NULL");
    cardbox_status status = read_lease(&made, lease, err);
    if (status == CARDBOX_OK)
        status = check_id("message_id", message_id, CARDBOX_CARD_ID_MAX, err);
    if (status == CARDBOX_OK && n < 1)
        status = error_set(err, CARDBOX_INVALID, "n must be 1 or more, not %lld", (long long)n);
    if (status != CARDBOX_OK)
        return status;
    buf_json_string(&token, (slice){text, length});
    slice chunk = buf_as_slice(&token);
    status =
        buf_ok(&token) ? ledger_check_text("text", chunk, err) : error_buf(err, &token, "text");
    if (status == CARDBOX_OK)
        status = work_chunk(db, &made, slice_of(message_id), n, chunk, err);
    buf_free(&token);
    return status;
}

/* --- waiting --- */

struct cardbox_waiter {
    cardbox_options options;
    arena memory; /* has the copies of the options' texts and of the tenants */
    const slice *tenants;
    size_t tenant_count;
    work_listener *listener; /* NULL: the connection is lost */
};

static cardbox_status listen_again(cardbox_waiter *waiter, cardbox_error *err)
{
    return work_listener_open(&waiter->listener, &waiter->options, waiter->tenants,
                              waiter->tenant_count, err);
}

/* Copies the options and tenants, so that the caller need not keep them. */
static cardbox_status keep_options(cardbox_waiter *waiter, const cardbox_options *options,
                                   const char *const *tenants, size_t count, cardbox_error *err)
{
    cardbox_options *own = &waiter->options;
    slice *names = NULL;
    cardbox_status status = CHECK_MADE(options, "CARDBOX_OPTIONS_INIT", err);
    if (status != CARDBOX_OK)
        return status;
    options_complete(own, options);
    status = conninfo_check(own->conninfo, err);
    if (status == CARDBOX_OK)
        status = read_tenants(&names, &waiter->memory, tenants, count, err);
    if (status != CARDBOX_OK)
        return status;
    waiter->tenants = names;
    waiter->tenant_count = names == NULL ? 0 : count;
    for (size_t i = 0; i < waiter->tenant_count; i++)
        names[i].ptr = arena_copy(&waiter->memory, names[i]);
    own->conninfo = arena_copy(&waiter->memory, slice_of(own->conninfo));
    own->application_name = arena_copy(&waiter->memory, slice_of(own->application_name));
    return waiter->memory.failed ? error_nomem(err) : CARDBOX_OK;
}

cardbox_status cardbox_waiter_open(cardbox_waiter **out, const cardbox_options *options,
                                   const char *const *tenants, size_t count, cardbox_error *err)
{
    if (out == NULL)
        return error_set(err, CARDBOX_INVALID, "out must not be NULL");
    *out = NULL;
    cardbox_waiter *made = calloc(1, sizeof(*made));
    if (made == NULL)
        return error_nomem(err);
    cardbox_status status = keep_options(made, options, tenants, count, err);
    if (status == CARDBOX_OK)
        status = listen_again(made, err);
    if (status != CARDBOX_OK) {
        cardbox_waiter_close(made);
        return status;
    }
    *out = made;
    return CARDBOX_OK;
}

bool cardbox_waiter_wait(cardbox_waiter *waiter, unsigned timeout_ms)
{
    int64_t end_ms = clock_ms() + timeout_ms;
    if (waiter == NULL)
        return false;
    if (waiter->listener == NULL && listen_again(waiter, NULL) == CARDBOX_OK)
        return true;
    work_listener_event event = work_listener_wait(waiter->listener, -1, end_ms - clock_ms());
    if (event == LISTENER_LOST) {
        work_listener_close(waiter->listener);
        waiter->listener = NULL;
    }
    return event != LISTENER_TIMEOUT;
}

void cardbox_waiter_close(cardbox_waiter *waiter)
{
    if (waiter == NULL)
        return;
    work_listener_close(waiter->listener);
    arena_reset(&waiter->memory);
    free(waiter);
}
