/*
 * transfers.c: starts, checks and ends transfers. The thread and the loop of a transfer each hold a
 * reference, and the last release frees the transfer. So the loop never waits for the thread or the
 * database.
 */
#include "server/background/transfers.h"
#include <stdio.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include "base/clock.h"
#include "app/log.h"
#include "server/background/background.h"
#include "server/auth/auth.h"
#include "server/response/failure_log.h"
#include "server/response/http_error.h"
#include "base/errors.h"
#include "store/admin/role.h"

enum {
    PIPE_BYTES = 256 * 1024, /* size of the pipe between a thread and a loop */
    STATEMENT_MS = 300000,   /* statement_timeout of a transfer, because large boxes take long */
    /* longest time that a server that stops waits for the threads of transfers */
    STOP_MS = 2000,
    CHECK_MS = 250, /* time between two checks of a client and its token */
    /* Average number of bytes that the client of an export must read in each second in which the
     * server waits for it. An export keeps a snapshot open, which limits VACUUM. */
    RATE_LEAST = 64 * 1024
};

/* --- the pool --- */

bool transfer_pool_end(transfer_pool *p)
{
    int64_t end_ms = clock_ms() + STOP_MS;
    while (atomic_load(&p->threads) > 0) {
        if (clock_ms() >= end_ms)
            return false;
        clock_sleep_ms(2);
    }
    return true;
}

/* Reserves a slot and returns NULL. Returns an error message if no slot is free, or the project has
 * reached --project-transfers-max. The last free slot is kept for projects without a transfer. */
static const char *reserve_slot(transfer_pool *p, slice tenant, size_t *slot)
{
    size_t running = 0, own = 0;
    const char *full = NULL;
    pthread_mutex_lock(&p->lock);
    for (size_t i = TRANSFERS_MOST; i-- > 0;) {
        running += p->tenant[i][0] != '\0';
        own += slice_equal(slice_of(p->tenant[i]), tenant);
        if (p->tenant[i][0] == '\0')
            *slot = i;
    }
    size_t most = (size_t)p->server->set->transfers_max;
    if (running >= most)
        full = "too many exports and imports are running";
    else if (own >= (size_t)p->server->set->project_transfers_max)
        full = "too many exports and imports of this project are running";
    else if (own > 0 && running + 1 == most)
        full = "the last transfer is reserved for other projects (--transfers-max)";
    else
        snprintf(p->tenant[*slot], sizeof(p->tenant[0]), "%.*s", (int)tenant.len, tenant.ptr);
    pthread_mutex_unlock(&p->lock);
    return full;
}

static void release_slot(transfer_pool *p, size_t slot)
{
    pthread_mutex_lock(&p->lock);
    p->tenant[slot][0] = '\0';
    pthread_mutex_unlock(&p->lock);
}

static cardbox_status open_database(const settings *set, cardbox **db, cardbox_error *err)
{
    cardbox_options options = CARDBOX_OPTIONS_INIT;
    options.conninfo = set->dsn;
    options.application_name = "cardboxd transfer";
    options.pool_max = 1;
    options.connect_timeout_ms = (unsigned)set->connect_timeout_ms;
    options.statement_timeout_ms = STATEMENT_MS;
    options.no_named_statements = set->no_named_statements;
    return cardbox_open(db, &options, err);
}

/* --- the thread and the loop --- */

static void transfer_unref(transfer *t)
{
    if (atomic_fetch_sub(&t->refs, 1) > 1)
        return;
    t->kind->clear(t);
    bounded_pipe_free(t->bounded_pipe);
    free(t);
}

/* --- the thread --- */

void transfer_begin_answer(transfer *t)
{
    if (!atomic_exchange(&t->begun, true))
        eventfd_write(t->owner->wake_fd, 1);
}

/* Checks the database after an error that may come from an incompatible database. Sets t->cause if
 * the database is incompatible. If the database could not be opened, there is no second check,
 * because opening includes the check. */
static void check_database(transfer *t)
{
    role_check found = {.has_schema = false};
    cardbox_error check = t->err;
    if (t->db != NULL) {
        if (!error_may_be_incompatible(&t->err))
            return;
        check = (cardbox_error)CARDBOX_ERROR_INIT;
        role_check_get(&found, t->db, &check);
    }
    if (check.status == CARDBOX_OK && found.has_schema && found.has_rights)
        return;
    if (check.status == CARDBOX_FORBIDDEN || (check.status == CARDBOX_OK && found.has_schema))
        t->cause = DATABASE_FORBIDDEN;
    else if (check.status == CARDBOX_OK || error_is_schema(check.sqlstate) ||
             (check.status == CARDBOX_INTERNAL && check.sqlstate[0] == '\0'))
        t->cause = DATABASE_NOT_MIGRATED;
}

static void report_failure(transfer *t, cardbox_status status)
{
    if (status == CARDBOX_OK)
        return;
    check_database(t);
    if (t->begun && t->err.sqlstate[0] != '\0')
        failure_log(LOG_LEVEL_ERROR, "statement_failed", &t->err, SLICE(""));
}

/* The slot is released before the client has the whole answer, so that the client may start its
 * next transfer at once. */
static void *run_transfer(void *arg)
{
    transfer *t = arg;
    transfer_pool *p = t->pool;
    cardbox_status status = open_database(p->server->set, &t->db, &t->err);
    t->connected = status == CARDBOX_OK;
    if (status == CARDBOX_OK)
        status = t->kind->run(t);
    report_failure(t, status);
    if (status != CARDBOX_OK)
        background_db_report(p->server, SLOTS_BACKGROUND, &t->err);
    cardbox_close(t->db);
    release_slot(p, t->slot);
    t->status = status;
    atomic_store(&t->over, true);
    eventfd_write(t->owner->wake_fd, 1);
    transfer_unref(t);
    atomic_fetch_sub(&p->threads, 1);
    return NULL;
}

/* --- the loop --- */

/* Called when the request of a transfer ends. Shuts the pipe, which ends the thread if it still
 * runs. */
static void drop_transfer(void *plan)
{
    transfer *t = plan;
    LIST_REMOVE(t, of_loop);
    t->request = NULL;
    bounded_pipe_shut(t->bounded_pipe);
    transfer_unref(t);
}

static transfer *new_in_slot(request *r, const transfer_type *kind, size_t slot)
{
    transfer *t = calloc(1, kind->size);
    if (t == NULL)
        return NULL;
    t->kind = kind;
    t->pool = r->server->transfers;
    t->slot = slot;
    t->owner = r->transfers;
    t->request = r;
    t->err = (cardbox_error)CARDBOX_ERROR_INIT;
    t->checked_ms = clock_ms();
    t->wait_left_ms = r->server->set->idle_timeout_s * INT64_C(1000);
    t->refs = 1;
    memcpy(t->tenant, t->pool->tenant[slot], sizeof(t->tenant));
    t->bounded_pipe = bounded_pipe_new(PIPE_BYTES, t->owner->wake_fd);
    if (t->bounded_pipe != NULL)
        return t;
    free(t);
    return NULL;
}

transfer *transfer_new(request *r, const transfer_type *kind)
{
    if (database_is_away(&r->server->database.primary)) {
        http_error_send_away(r, NULL);
        return NULL;
    }
    size_t slot = 0;
    const char *full = reserve_slot(r->server->transfers, request_tenant(r), &slot);
    if (full != NULL) {
        http_error_send(r, HTTP_ERROR_TRANSFERS_FULL, NULL, "%s", full);
        return NULL;
    }
    transfer *t = new_in_slot(r, kind, slot);
    if (t == NULL) {
        release_slot(r->server->transfers, slot);
        http_error_send_no_memory(r);
        return NULL;
    }
    LIST_INSERT_HEAD(&t->owner->all, t, of_loop);
    r->plan = t;
    r->drop_plan = drop_transfer;
    return t;
}

bool transfer_start(transfer *t)
{
    pthread_t thread;
    t->refs = 2;
    atomic_fetch_add(&t->pool->threads, 1);
    if (pthread_create(&thread, NULL, run_transfer, t) == 0) {
        pthread_detach(thread);
        return true;
    }
    atomic_fetch_sub(&t->pool->threads, 1);
    t->refs = 1;
    release_slot(t->pool, t->slot);
    return http_error_send_no_memory(t->request);
}

void transfer_resume(transfer *t)
{
    if (!t->waits)
        return;
    t->waits = false;
    t->request->host->resume(t->request);
}

/* True for an error that the store, and not PostgreSQL, has detected. The client gets the message
 * of such an error. */
static bool is_for_client(const cardbox_error *err)
{
    return err->sqlstate[0] == '\0' &&
           (err->status == CARDBOX_NOT_FOUND || err->status == CARDBOX_INVALID ||
            err->status == CARDBOX_CONFLICT || err->status == CARDBOX_TOO_LARGE ||
            err->status == CARDBOX_INTERNAL /* inconsistent rows */);
}

void transfer_answer_failed(transfer *t)
{
    request *r = t->request;
    if (t->aborted && atomic_load(&r->server->stop) != STOP_NOT)
        http_error_send(r, HTTP_ERROR_STOPPING, NULL, "the server is stopping");
    else if (t->revoked)
        http_error_send(r, HTTP_ERROR_UNAUTHENTICATED, "send the rest with a valid token",
                        "the token was revoked or expired during the transfer");
    else if (t->aborted)
        http_error_send(r, HTTP_ERROR_CLIENT_LEFT, NULL, "the client seems to have left");
    else if (t->cause != DATABASE_UNKNOWN)
        http_error_send_incompatible(r, t->cause);
    else if (is_for_client(&t->err))
        http_error_send_status(r, http_error_of_status(t->err.status), &t->err);
    else
        http_error_send_store(r, &t->err);
}

void transfer_answer_stopped(transfer *t, const char *how_far)
{
    http_error what = http_error_of_status(t->err.status);
    if (!t->connected || (what != HTTP_ERROR_DATABASE_AWAY && what != HTTP_ERROR_TIMEOUT &&
                          what != HTTP_ERROR_NO_MEMORY))
        transfer_answer_failed(t);
    else
        http_error_send(t->request, what,
                        "send the whole body again: lines that are stored already do not change",
                        "%s: %s", how_far, http_error_why_not_run(&t->err));
}

/* Aborts a transfer. If its answer has begun, disconnects the client. */
static void abort_transfer(transfer *t)
{
    request *r = t->request;
    t->aborted = true;
    bounded_pipe_shut(t->bounded_pipe);
    if (t->waits)
        transfer_resume(t);
    else if (r->state == REQUEST_SENDING)
        r->host->cut(r);
}

int64_t transfer_wait_left(int64_t left_ms, int64_t waited_ms, uint64_t moved, int64_t most_ms)
{
    left_ms += (int64_t)(moved * 1000 / RATE_LEAST) - waited_ms;
    return left_ms < most_ms ? left_ms : most_ms;
}

/* Returns whether the client of an export has read too slowly for too long. */
static bool is_too_slow(transfer *t, int64_t now_ms)
{
    const request *r = t->request;
    bool waits_for_client = r->answer.stream != NULL && r->state == REQUEST_SENDING && !t->waits;
    t->wait_left_ms = transfer_wait_left(
        t->wait_left_ms, waits_for_client ? now_ms - t->checked_ms : 0,
        t->moved - t->moved_at_check, r->server->set->idle_timeout_s * INT64_C(1000));
    t->moved_at_check = t->moved;
    t->checked_ms = now_ms;
    return t->wait_left_ms < 0;
}

/* Aborts a transfer whose token is not valid any more, and an export whose client has left or reads
 * too slowly. An import with a complete body continues after its client has left. */
static void check_client(transfer *t, int64_t now_ms)
{
    request *r = t->request;
    bool suspended = t->waits || r->state == REQUEST_SUSPENDED;
    if (suspended && r->sink == NULL && r->host->left(r)) {
        log_debug("transfer_ended", "reason=\"the client left\"");
        abort_transfer(t);
        return;
    }
    if (!auth_is_still_valid(r)) {
        log_info("transfer_ended", "reason=\"its token is not valid any more\" token=%lld",
                 (long long)r->token_id);
        t->revoked = true;
        abort_transfer(t);
        if (r->state == REQUEST_ARRIVING)
            r->host->cut(r);
        return;
    }
    if (is_too_slow(t, now_ms)) {
        log_info("transfer_ended", "reason=\"the client reads too slowly\" bytes=%llu",
                 (unsigned long long)t->moved);
        abort_transfer(t);
    }
}

void transfers_tick(transfers *all, int64_t now_ms)
{
    bool is_check_due = now_ms >= all->due_ms;
    if (is_check_due)
        all->due_ms = now_ms + CHECK_MS;
    for (transfer *t = LIST_FIRST(&all->all), *next = NULL; t != NULL; t = next) {
        next = LIST_NEXT(t, of_loop);
        if (is_check_due && !t->aborted)
            check_client(t, now_ms);
        t->kind->update(t);
    }
}

int64_t transfers_next_ms(const transfers *all)
{
    return LIST_EMPTY(&all->all) ? INT64_MAX : all->due_ms;
}

void transfers_abort(transfers *all)
{
    transfer *t;
    LIST_FOREACH(t, &all->all, of_loop)
    {
        if (!t->aborted)
            abort_transfer(t);
        t->kind->update(t);
    }
}
