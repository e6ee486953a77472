/*
 * async_conn.c: the states of one pipelined connection: waiting, connecting, open, broken. Only
 * async_move changes the state.
 */
#include "db/async_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include "base/clock.h"
#include "base/errors.h"

enum {
    COUNTED_READS = 8, /* a response is counted in the memory budget only after this many reads */
    BACKOFF_FIRST_MS = 20,
    BACKOFF_MOST_MS = 300, /* longest pause between two attempts to connect */
    /* added to statement_timeout for the client's deadline, so that usually PostgreSQL ends the
       statement first */
    STATEMENT_GRACE_MS = 1000
};

void async_move(async_conn *c, async_state state, int64_t due_ms)
{
    c->state = state;
    c->due_ms = due_ms;
    c->status.socket_serial++;
}

cardbox_status async_conn_new(async_conn **out, const cardbox_options *options, connector *by,
                              int wake_fd, memory_budget *budget, cardbox_error *err)
{
    cardbox_options complete;
    options_complete(&complete, options);
    cardbox_status status = conninfo_check(complete.conninfo, err);
    if (status != CARDBOX_OK)
        return status;
    async_conn *c = calloc(1, sizeof(*c));
    if (c == NULL)
        return error_nomem(err);
    c->options = complete;
    c->connector = by;
    c->wake_fd = wake_fd;
    c->budget = budget;
    async_move(c, ASYNC_WAITING, 0);
    *out = c;
    return CARDBOX_OK;
}

/* --- the loss of a connection --- */

static void fail_queries(query *q, const char *reason)
{
    while (q != NULL) {
        query *next = q->next;
        if (!q->failed) {
            error_set(&q->error, CARDBOX_UNAVAILABLE, "%s", reason);
            q->error.retryable = true;
        }
        query_end(q, &q->error);
        q = next;
    }
}

/* Closes the connection and fails its queries. The state is reset before the query_done functions
 * are called, because these may read the state. */
static void close_connection(async_conn *c, int64_t due_ms)
{
    query *lost = c->first;
    connector_abandon(c->connector, c->attempt);
    connector_close(c->connector, c->pg);
    c->attempt = NULL;
    c->pg = NULL;
    c->first = c->last = NULL;
    c->status.pending = 0;
    c->unsent = false;
    c->must_reconnect = false;
    async_begin_answer(c);
    memset(c->prepared, 0, sizeof(c->prepared));
    async_move(c, ASYNC_WAITING, due_ms);
    fail_queries(lost, c->status.reason);
}

void async_set_reason(async_conn *c, const char *reason)
{
    snprintf(c->status.reason, sizeof(c->status.reason), "%.*s",
             (int)slice_cut((slice){reason, strcspn(reason, "\r\n")}, sizeof(c->status.reason) - 1),
             reason);
}

/* Closes a connection or abandons an attempt to connect. The next attempt is due at once after the
 * loss of an open connection, and after a pause otherwise. */
void async_conn_drop(async_conn *c, const char *reason)
{
    if (c->state == ASYNC_WAITING)
        return;
    bool was_open = c->state == ASYNC_OPEN || c->state == ASYNC_BROKEN;
    int64_t wait_ms = 0;
    async_set_reason(c, reason);
    if (!was_open)
        wait_ms = clock_backoff_ms(c->status.failed_attempts++, BACKOFF_FIRST_MS, BACKOFF_MOST_MS);
    close_connection(c, clock_ms() + wait_ms);
}

static void drop_lost(async_conn *c, const char *otherwise)
{
    const char *message = PQerrorMessage(c->pg);
    async_conn_drop(c, message[0] == '\0' ? otherwise : message);
}

void async_conn_free(async_conn *c)
{
    if (c == NULL)
        return;
    async_set_reason(c, "the connection was closed");
    close_connection(c, INT64_MAX);
    free(c);
}

/* --- connecting --- */

static void start_attempt(async_conn *c)
{
    c->status.refusal[0] = '\0';
    async_move(c, ASYNC_CONNECTING, INT64_MAX);
    c->attempt = connector_start(c->connector, &c->options, c->wake_fd);
    if (c->attempt == NULL)
        async_conn_drop(c, "out of memory");
}

static void take_connection(async_conn *c)
{
    cardbox_error why;
    c->pg = connector_take(c->connector, c->attempt, &why);
    c->attempt = NULL;
    if (c->pg == NULL) {
        memcpy(c->status.refusal, why.sqlstate, sizeof(why.sqlstate));
        async_conn_drop(c, why.message);
    } else if (PQsetnonblocking(c->pg, 1) != 0 || !PQenterPipelineMode(c->pg)) {
        drop_lost(c, "cannot enter pipeline mode");
    } else {
        c->status.failed_attempts = 0;
        c->status.reason[0] = '\0';
        async_move(c, ASYNC_OPEN, INT64_MAX);
    }
}

/* --- using the connection --- */

void async_begin_answer(async_conn *c)
{
    c->status.reads = 0;
    if (c->budget != NULL)
        memory_hold(c->budget, &c->status.received, 0);
}

static size_t bytes_waiting(const async_conn *c)
{
    int bytes = 0;
    return ioctl(PQsocket(c->pg), FIONREAD, &bytes) == 0 && bytes > 0 ? (size_t)bytes : 0;
}

/* Lets libpq read from the socket. libpq does not report how many bytes it reads, so the bytes that
 * wait at the socket are counted before and after. */
static bool consume_input(async_conn *c)
{
    c->status.reads += c->first != NULL;
    bool counted = c->status.reads > COUNTED_READS && c->budget != NULL && c->first != NULL &&
                   c->first->on_rows == NULL;
    size_t before = counted ? bytes_waiting(c) : 0;
    if (!PQconsumeInput(c->pg))
        return false;
    size_t after = counted ? bytes_waiting(c) : 0;
    if (after < before)
        memory_hold(c->budget, &c->status.received, c->status.received + before - after);
    return true;
}

static void read_and_write(async_conn *c)
{
    if (!consume_input(c)) {
        async_take_results(c); /* reads PostgreSQL's last error, such as "terminating connection" */
        drop_lost(c, "the connection to the database was lost");
        return;
    }
    async_take_results(c);
    if (c->state != ASYNC_OPEN)
        return;
    if (PQstatus(c->pg) != CONNECTION_OK || !async_flush(c)) {
        drop_lost(c, "the connection to the database was lost");
        return;
    }
    PGTransactionStatusType open = PQtransactionStatus(c->pg);
    if (c->first == NULL && open != PQTRANS_IDLE && open != PQTRANS_ACTIVE)
        async_conn_drop(c, "a statement left its transaction open");
}

void async_conn_ready(async_conn *c)
{
    if (c->state == ASYNC_OPEN)
        read_and_write(c);
}

/* --- time --- */

/* Drops a connection whose first query has passed its deadline: the server or the network hangs. */
static void drop_silent(async_conn *c)
{
    query *q = c->first;
    if (!q->failed)
        error_set(&q->error, CARDBOX_TIMEOUT, "the database did not answer within %u ms",
                  q->limits.statement_ms + STATEMENT_GRACE_MS);
    q->failed = true;
    async_conn_drop(c, "the database did not answer in time");
}

void async_conn_abort_answer(async_conn *c, cardbox_status status, const char *reason)
{
    query *q = c->first;
    if (q != NULL && !q->failed) {
        error_set(&q->error, status, "%s", reason);
        q->error.retryable =
            c->budget != NULL && memory_may_fit_later(c->budget, c->status.received,
                                                      memory_used(c->budget) - c->status.received);
        q->failed = true;
    }
    async_conn_drop(c, reason);
}

void async_conn_tick(async_conn *c, int64_t now_ms)
{
    char reason[CARDBOX_MESSAGE_SIZE];
    if (now_ms < async_conn_next_ms(c))
        return;
    switch (c->state) {
    case ASYNC_WAITING:
        start_attempt(c);
        break;
    case ASYNC_CONNECTING:
        take_connection(c);
        break;
    case ASYNC_OPEN:
        drop_silent(c);
        break;
    case ASYNC_BROKEN:
        memcpy(reason, c->status.reason, sizeof(reason));
        async_conn_drop(c, reason);
        break;
    }
}

int64_t async_conn_next_ms(const async_conn *c)
{
    if (c->state == ASYNC_CONNECTING && connector_has_ended(c->attempt))
        return 0;
    if (c->state != ASYNC_OPEN)
        return c->due_ms;
    return c->first == NULL
               ? INT64_MAX
               : c->status.busy_since_ms + c->first->limits.statement_ms + STATEMENT_GRACE_MS;
}

void async_conn_retry_now(async_conn *c)
{
    if (c->state == ASYNC_WAITING)
        c->due_ms = 0;
}

/* --- the state, for the loop --- */

int async_conn_fd(const async_conn *c)
{
    return c->pg == NULL ? -1 : PQsocket(c->pg);
}

unsigned async_conn_events(const async_conn *c)
{
    return c->unsent ? ASYNC_READ | ASYNC_WRITE : ASYNC_READ;
}

bool async_conn_is_wanted(const async_conn *c)
{
    return c->state != ASYNC_WAITING;
}

bool async_conn_is_up(const async_conn *c)
{
    return c->state == ASYNC_OPEN;
}

const async_status *async_conn_status(const async_conn *c)
{
    return &c->status;
}
