/*
 * pipe.c: the life of one pipelined connection: lookup, connecting, use, loss, and again. Every
 * state is entered through pipe_move, every loss has a reason.
 */
#include "db/pipe_internal.h"

#include <stdio.h>
#include <stdlib.h>
#include "base/clock.h"
#include "base/errors.h"

enum {
    BACKOFF_FIRST_MS = 20,
    BACKOFF_MOST_MS = 300,    /* an outage's end is seen this soon */
    HOSTS_MEMORY_MS = 60000,  /* how long a host that said nothing is not the first */
    RESOLVE_POLL_MS = 5,      /* a lookup is looked at so often */
    STATEMENT_GRACE_MS = 1000 /* for the server's own statement_timeout to come first */
};

void pipe_move(store_pipe *pipe, pipe_state state, int64_t due_ms)
{
    pipe->state = state;
    pipe->due_ms = due_ms;
    pipe->serial++;
}

cardbox_status pipe_new(store_pipe **out, const cardbox_options *options, const char *settings,
                        pipe_hosts *hosts, cardbox_error *err)
{
    cardbox_options complete;
    options_complete(&complete, options);
    cardbox_status status = conninfo_check(complete.conninfo, err);
    if (status != CARDBOX_OK)
        return status;
    store_pipe *pipe = calloc(1, sizeof(*pipe));
    if (pipe == NULL)
        return error_nomem(err);
    pipe->options = complete;
    pipe->settings = settings;
    pipe->hosts = hosts;
    pipe_move(pipe, PIPE_WAITING, 0);
    *out = pipe;
    return CARDBOX_OK;
}

/* --- losing a connection --- */

static void fail_flights(flight *f, const char *reason)
{
    while (f != NULL) {
        flight *next = f->next;
        if (!f->failed) {
            error_set(&f->error, CARDBOX_UNAVAILABLE, "%s", reason);
            f->error.retryable = true;
        }
        flight_end(f, &f->error);
        f = next;
    }
}

/* The pipe is as new before anybody is told: who is told may ask for its state. */
static void close_connection(store_pipe *pipe, int64_t due_ms)
{
    flight *lost = pipe->first;
    PQfinish(pipe->conn);
    resolve_free(pipe->lookup);
    pipe->conn = NULL;
    pipe->lookup = NULL;
    pipe->first = pipe->last = NULL;
    pipe->in_flight = 0;
    pipe->unsent = false;
    pipe->large_ms = 0;
    memset(pipe->prepared, 0, sizeof(pipe->prepared));
    pipe_move(pipe, PIPE_WAITING, due_ms);
    fail_flights(lost, pipe->reason);
}

void pipe_set_reason(store_pipe *pipe, const char *reason)
{
    snprintf(pipe->reason, sizeof(pipe->reason), "%.*s",
             (int)view_cut((view){reason, strcspn(reason, "\r\n")}, sizeof(pipe->reason) - 1),
             reason);
}

/* The first attempt follows at once, the later ones at growing distances. */
void pipe_drop(store_pipe *pipe, const char *reason)
{
    if (pipe->state == PIPE_WAITING)
        return;
    bool was_open = pipe->state == PIPE_OPEN || pipe->state == PIPE_BROKEN;
    int64_t wait_ms = 0;
    pipe_set_reason(pipe, reason);
    if (!was_open)
        wait_ms = clock_backoff_ms(pipe->attempts++, BACKOFF_FIRST_MS, BACKOFF_MOST_MS);
    close_connection(pipe, clock_ms() + wait_ms);
}

/* Of an attempt to connect: libpq's own words, or ours where it has none. */
static void drop_refused(store_pipe *pipe, const char *otherwise)
{
    cardbox_error why;
    connect_why(&why, pipe->conn);
    memcpy(pipe->refusal, why.sqlstate, sizeof(why.sqlstate));
    pipe_drop(pipe, why.message[0] == '\0' ? otherwise : why.message);
}

/* The same of one that was made. */
static void drop_lost(store_pipe *pipe, const char *otherwise)
{
    const char *message = PQerrorMessage(pipe->conn);
    pipe_drop(pipe, pipe->conn == NULL || message[0] == '\0' ? otherwise : message);
}

void pipe_free(store_pipe *pipe)
{
    if (pipe == NULL)
        return;
    pipe_set_reason(pipe, "the connection was closed");
    close_connection(pipe, INT64_MAX);
    free(pipe);
}

/* --- connecting --- */

static unsigned first_host(const pipe_hosts *hosts, int64_t now_ms)
{
    return now_ms < hosts->until_ms ? hosts->first : 0;
}

/* One of them says nothing. Of the pipes that have begun with the same host the first to say so
 * counts. */
static void pass_over_host(store_pipe *pipe, int64_t now_ms)
{
    if (pipe->began_with == first_host(pipe->hosts, now_ms))
        *pipe->hosts = (pipe_hosts){pipe->began_with + 1, now_ms + HOSTS_MEMORY_MS};
}

static void start_connecting(store_pipe *pipe, int64_t now_ms)
{
    connect_params how;
    host_lists hosts;
    pipe->began_with = first_host(pipe->hosts, now_ms);
    pipe->conn = NULL;
    if (hosts_read(&hosts, pipe->options.conninfo, pipe->lookup, pipe->began_with) &&
        connect_params_fill(&how, &pipe->options, pipe->settings)) {
        hosts_give(&hosts, &how);
        pipe->conn = PQconnectStartParams(how.keys, how.values, 1);
    }
    pipe_move(pipe, PIPE_CONNECTING,
              now_ms + hosts_share_ms(&hosts, pipe->options.connect_timeout_ms));
    hosts_free(&hosts);
    pipe->polling = PGRES_POLLING_WRITING;
    if (pipe->conn == NULL || PQstatus(pipe->conn) == CONNECTION_BAD) {
        drop_refused(pipe, "out of memory");
        return;
    }
    connect_begin(pipe->conn);
}

static void start_attempt(store_pipe *pipe, int64_t now_ms)
{
    pipe->refusal[0] = '\0';
    pipe->lookup = resolve_start(pipe->options.conninfo);
    if (pipe->lookup == NULL)
        start_connecting(pipe, now_ms);
    else
        pipe_move(pipe, PIPE_RESOLVING, now_ms + RESOLVE_POLL_MS);
}

static void look_at_lookup(store_pipe *pipe, int64_t now_ms)
{
    if (!resolve_done(pipe->lookup)) {
        pipe->due_ms = now_ms + RESOLVE_POLL_MS;
    } else if (resolve_hosts(pipe->lookup) == NULL) {
        char reason[CARDBOX_MESSAGE_SIZE];
        snprintf(reason, sizeof(reason), "cannot look up the database's host: %s",
                 resolve_error(pipe->lookup));
        pipe_drop(pipe, reason);
    } else {
        start_connecting(pipe, now_ms);
    }
}

static void connected(store_pipe *pipe)
{
    if (PQsetnonblocking(pipe->conn, 1) != 0 || !PQenterPipelineMode(pipe->conn)) {
        drop_lost(pipe, "cannot enter pipeline mode");
        return;
    }
    connect_made(pipe->conn);
    resolve_free(pipe->lookup);
    pipe->lookup = NULL;
    pipe->attempts = 0;
    pipe->reason[0] = '\0';
    pipe_move(pipe, PIPE_OPEN, INT64_MAX);
}

static void connect_on(store_pipe *pipe)
{
    pipe->polling = PQconnectPoll(pipe->conn);
    pipe->serial++; /* it may have gone on to another address, and socket */
    if (pipe->polling == PGRES_POLLING_OK)
        connected(pipe);
    else if (pipe->polling == PGRES_POLLING_FAILED)
        drop_refused(pipe, "cannot connect to the database");
}

/* --- using the connection --- */

static void transfer(store_pipe *pipe)
{
    pipe->reads++;
    if (!PQconsumeInput(pipe->conn)) {
        pipe_take_results(pipe); /* the server's last words, such as "terminating connection" */
        drop_lost(pipe, "the connection to the database was lost");
        return;
    }
    pipe_take_results(pipe);
    if (pipe->state != PIPE_OPEN)
        return;
    if (PQstatus(pipe->conn) != CONNECTION_OK || !pipe_flush(pipe)) {
        drop_lost(pipe, "the connection to the database was lost");
        return;
    }
    PGTransactionStatusType open = PQtransactionStatus(pipe->conn);
    if (pipe->first == NULL && open != PQTRANS_IDLE && open != PQTRANS_ACTIVE)
        pipe_drop(pipe, "a statement left its transaction open");
}

void pipe_ready(store_pipe *pipe)
{
    if (pipe->state == PIPE_CONNECTING)
        connect_on(pipe);
    else if (pipe->state == PIPE_OPEN)
        transfer(pipe);
}

/* --- time --- */

static int64_t statement_due_ms(const store_pipe *pipe)
{
    return pipe->first == NULL
               ? INT64_MAX
               : pipe->front_ms + pipe->first->limits.statement_ms + STATEMENT_GRACE_MS;
}

/* The server does not answer at all: it, or the network, hangs. */
static void drop_silent(store_pipe *pipe)
{
    flight *f = pipe->first;
    if (!f->failed)
        error_set(&f->error, CARDBOX_TIMEOUT, "the database did not answer within %u ms",
                  f->limits.statement_ms + STATEMENT_GRACE_MS);
    f->failed = true;
    pipe_drop(pipe, "the database did not answer in time");
}

void pipe_refuse(store_pipe *pipe, cardbox_status status, const char *reason)
{
    flight *f = pipe->first;
    if (f != NULL && !f->failed)
        error_set(&f->error, status, "%s", reason);
    if (f != NULL)
        f->failed = true;
    pipe_drop(pipe, reason);
}

void pipe_tick(store_pipe *pipe, int64_t now_ms)
{
    char reason[CARDBOX_MESSAGE_SIZE];
    if (now_ms < pipe_next_ms(pipe))
        return;
    switch (pipe->state) {
    case PIPE_WAITING:
        start_attempt(pipe, now_ms);
        break;
    case PIPE_RESOLVING:
        look_at_lookup(pipe, now_ms);
        break;
    case PIPE_CONNECTING:
        pass_over_host(pipe, now_ms);
        pipe_drop(pipe, "the database did not accept the connection in time");
        break;
    case PIPE_OPEN:
        drop_silent(pipe);
        break;
    case PIPE_BROKEN:
        memcpy(reason, pipe->reason, sizeof(reason));
        pipe_drop(pipe, reason);
        break;
    }
}

int64_t pipe_next_ms(const store_pipe *pipe)
{
    return pipe->state == PIPE_OPEN ? statement_due_ms(pipe) : pipe->due_ms;
}

void pipe_hurry(store_pipe *pipe)
{
    if (pipe->state == PIPE_WAITING)
        pipe->due_ms = 0;
}

/* --- what the loop asks --- */

int pipe_fd(const store_pipe *pipe)
{
    return pipe->conn == NULL ? -1 : PQsocket(pipe->conn);
}

unsigned pipe_socket_serial(const store_pipe *pipe)
{
    return pipe->serial;
}

unsigned pipe_events(const store_pipe *pipe)
{
    if (pipe->state == PIPE_CONNECTING)
        return pipe->polling == PGRES_POLLING_READING ? PIPE_READ : PIPE_WRITE;
    return pipe->unsent ? PIPE_READ | PIPE_WRITE : PIPE_READ;
}

bool pipe_up(const store_pipe *pipe)
{
    return pipe->state == PIPE_OPEN;
}

size_t pipe_in_flight(const store_pipe *pipe)
{
    return pipe->in_flight;
}

int64_t pipe_busy_since_ms(const store_pipe *pipe)
{
    return pipe->first == NULL ? INT64_MAX : pipe->front_ms;
}

int64_t pipe_swollen_ms(const store_pipe *pipe)
{
    return pipe->first == NULL && pipe->large_ms > 0 ? pipe->large_ms : INT64_MAX;
}

unsigned pipe_reads(const store_pipe *pipe)
{
    return pipe->first == NULL ? 0 : pipe->reads;
}

unsigned pipe_failed_attempts(const store_pipe *pipe)
{
    return pipe->attempts;
}

const char *pipe_refusal(const store_pipe *pipe)
{
    return pipe->refusal;
}

const char *pipe_reason(const store_pipe *pipe)
{
    return pipe->reason;
}
