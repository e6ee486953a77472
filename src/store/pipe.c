/*
 * pipe.c: the life of one pipelined connection: lookup, connecting, statements in flight, loss, and
 * again. Every state is entered through pipe_move, every loss has a reason. Decides about no retry
 * but that of a prepared statement which the server has lost.
 */
#include "store/pipe.h"

#include <stdio.h>
#include <stdlib.h>
#include "base/clock.h"
#include "store/connect.h"
#include "store/errors.h"
#include "store/resolve.h"

enum {
    BACKOFF_FIRST_MS = 20,
    BACKOFF_MOST_MS = 300,    /* an outage's end is seen this soon */
    RESOLVE_POLL_MS = 5,      /* a lookup is looked at so often */
    STATEMENT_GRACE_MS = 1000 /* for the server's own statement_timeout to come first */
};

typedef enum pipe_state {
    PIPE_WAITING,    /* no connection; the next attempt is at due_ms */
    PIPE_RESOLVING,  /* a thread looks the host up; looked at again at due_ms */
    PIPE_CONNECTING, /* libpq is at it, until due_ms */
    PIPE_OPEN,       /* in pipeline mode */
    PIPE_BROKEN      /* a send failed: dropped at the next tick, not under the sender's feet */
} pipe_state;

/* One statement on its way. */
typedef struct flight {
    struct flight *next;
    statement_id id;
    params params; /* kept until the answer: it may have to be sent again */
    pipe_done done;
    void *arg;
    bool preparing; /* the answer to its preparation comes first */
    bool healed;    /* sent a second time */
    bool failed;
    store_rows *rows;
    cardbox_error error;
} flight;

/* A statement as this connection knows it. A new generation is a new name: what the server has
 * under the old one is unusable, and nothing but a new session takes it away. */
typedef struct prepared {
    bool sent;
    unsigned generation;
} prepared;

struct store_pipe {
    cardbox_options options;
    pipe_state state;
    PGconn *conn;
    resolve *lookup;
    PostgresPollingStatusType polling;
    bool unsent; /* libpq holds bytes that the socket did not take */
    unsigned serial;
    unsigned attempts; /* that failed since the last success */
    int64_t due_ms;
    int64_t front_ms; /* since when the first flight is the first */
    flight *first, *last;
    size_t in_flight;
    prepared prepared[STATEMENT_COUNT];
    char reason[CARDBOX_MESSAGE_SIZE];
};

static void pipe_move(store_pipe *pipe, pipe_state state, int64_t due_ms)
{
    pipe->state = state;
    pipe->due_ms = due_ms;
    pipe->serial++;
}

cardbox_status pipe_new(store_pipe **out, const cardbox_options *options, cardbox_error *err)
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
    pipe_move(pipe, PIPE_WAITING, 0);
    *out = pipe;
    return CARDBOX_OK;
}

/* --- losing a connection --- */

static void flight_free(flight *f)
{
    rows_free(f->rows);
    params_free(&f->params);
    free(f);
}

static void flight_end(flight *f, const cardbox_error *err)
{
    store_rows *rows = err == NULL ? f->rows : NULL;
    if (rows != NULL)
        f->rows = NULL;
    f->done(f->arg, rows, err);
    flight_free(f);
}

/* A thought for the order: what is told of the loss may ask for the pipe's state. */
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
    memset(pipe->prepared, 0, sizeof(pipe->prepared));
    pipe_move(pipe, PIPE_WAITING, due_ms);
    fail_flights(lost, pipe->reason);
}

static void set_reason(store_pipe *pipe, const char *reason)
{
    snprintf(pipe->reason, sizeof(pipe->reason), "%.*s", (int)strcspn(reason, "\r\n"), reason);
}

/* The first attempt follows at once, the later ones at growing distances. */
void pipe_drop(store_pipe *pipe, const char *reason)
{
    if (pipe->state == PIPE_WAITING)
        return;
    bool was_open = pipe->state == PIPE_OPEN || pipe->state == PIPE_BROKEN;
    int64_t wait_ms = 0;
    set_reason(pipe, reason);
    if (!was_open)
        wait_ms = clock_backoff_ms(pipe->attempts++, BACKOFF_FIRST_MS, BACKOFF_MOST_MS);
    close_connection(pipe, clock_ms() + wait_ms);
}

/* libpq's own words, or ours where it has none. */
static void drop_lost(store_pipe *pipe, const char *otherwise)
{
    const char *message = PQerrorMessage(pipe->conn);
    pipe_drop(pipe, message == NULL || message[0] == '\0' ? otherwise : message);
}

void pipe_free(store_pipe *pipe)
{
    if (pipe == NULL)
        return;
    set_reason(pipe, "the connection was closed");
    close_connection(pipe, INT64_MAX);
    free(pipe);
}

/* --- connecting --- */

static void start_connecting(store_pipe *pipe, int64_t now_ms)
{
    connect_params how;
    connect_params_fill(&how, &pipe->options);
    if (pipe->lookup != NULL) {
        size_t used = 0;
        while (how.keys[used] != NULL)
            used++;
        const char *const found[][2] = {{"host", resolve_hosts(pipe->lookup)},
                                        {"hostaddr", resolve_addresses(pipe->lookup)},
                                        {"port", resolve_ports(pipe->lookup)}};
        for (size_t i = 0; i < 3; i++, used++) {
            how.keys[used] = found[i][0];
            how.values[used] = found[i][1];
        }
        how.keys[used] = NULL;
        how.values[used] = NULL;
    }
    pipe->conn = PQconnectStartParams(how.keys, how.values, 1);
    pipe_move(pipe, PIPE_CONNECTING, now_ms + pipe->options.connect_timeout_ms);
    pipe->polling = PGRES_POLLING_WRITING;
    if (pipe->conn == NULL || PQstatus(pipe->conn) == CONNECTION_BAD) {
        drop_lost(pipe, "out of memory");
        return;
    }
    connect_silence(pipe->conn);
}

static void start_attempt(store_pipe *pipe, int64_t now_ms)
{
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
        drop_lost(pipe, "cannot connect to the database");
}

/* --- sending --- */

static bool flush(store_pipe *pipe)
{
    int left = PQflush(pipe->conn);
    pipe->unsent = left > 0;
    return left >= 0;
}

/* Puts a statement, and if need be its preparation, into the pipeline. */
static bool launch(store_pipe *pipe, flight *f)
{
    const statement *s = statement_get(f->id);
    prepared *known = &pipe->prepared[f->id];
    bool named = !pipe->options.no_named_statements && !s->plan_each_time;
    const char *values[PARAMS_MAX];
    int lengths[PARAMS_MAX], formats[PARAMS_MAX], count = f->params.count, sent;
    char name[96];

    params_finish(&f->params, values, lengths, formats);
    snprintf(name, sizeof(name), known->generation == 0 ? "%s" : "%s_%u", s->name,
             known->generation);
    f->preparing = named && !known->sent;
    if (f->preparing && !PQsendPrepare(pipe->conn, name, s->text, 0, NULL))
        return false;
    known->sent = named;
    if (named)
        sent = PQsendQueryPrepared(pipe->conn, name, count, values, lengths, formats, 1);
    else
        sent = PQsendQueryParams(pipe->conn, s->text, count, NULL, values, lengths, formats, 1);
    return sent && PQpipelineSync(pipe->conn) && flush(pipe);
}

static void append(store_pipe *pipe, flight *f)
{
    f->next = NULL;
    if (pipe->first == NULL) {
        pipe->first = f;
        pipe->front_ms = clock_ms();
    } else {
        pipe->last->next = f;
    }
    pipe->last = f;
    pipe->in_flight++;
}

cardbox_status pipe_send(store_pipe *pipe, statement_id id, params *p, pipe_done done, void *arg,
                         cardbox_error *err)
{
    cardbox_status status = CARDBOX_OK;
    flight *f = calloc(1, sizeof(*f));
    if (f == NULL) {
        if (p != NULL)
            params_free(p);
        return error_nomem(err);
    }
    params_init(&f->params, 0);
    if (p != NULL) {
        f->params = *p;
        params_init(p, 0);
    }
    f->id = id;
    f->done = done;
    f->arg = arg;
    if (pipe->state != PIPE_OPEN) {
        status = error_set(err, CARDBOX_UNAVAILABLE, "not connected to the database");
    } else if (!buf_ok(&f->params.bytes)) {
        status = error_buf(err, &f->params.bytes, "the statement");
    } else if (!launch(pipe, f)) {
        status = connect_error(err, pipe->conn, NULL);
        set_reason(pipe, PQerrorMessage(pipe->conn));
        pipe_move(pipe, PIPE_BROKEN, 0);
    }
    if (status == CARDBOX_OK)
        append(pipe, f);
    else
        flight_free(f);
    return status;
}

/* --- receiving --- */

/* The server has lost a prepared statement, or may not use it any more since a migration, or has
 * one of that name from a session before (a pooler's). */
static bool can_heal(const store_pipe *pipe, const flight *f)
{
    static const char *const CURABLE[] = {"26000", "0A000", "42P05"};
    if (!f->failed || f->healed || pipe->options.no_named_statements)
        return false;
    for (size_t i = 0; i < sizeof(CURABLE) / sizeof(CURABLE[0]); i++)
        if (strcmp(f->error.sqlstate, CURABLE[i]) == 0)
            return true;
    return false;
}

static bool heal(store_pipe *pipe, flight *f)
{
    prepared *known = &pipe->prepared[f->id];
    f->healed = true;
    f->failed = false;
    known->sent = false;
    known->generation++;
    if (!launch(pipe, f))
        return false;
    append(pipe, f);
    return true;
}

/* The first statement's Sync has come: its answer is whole, and what it did is committed. */
static void land(store_pipe *pipe)
{
    flight *f = pipe->first;
    pipe->first = f->next;
    pipe->in_flight--;
    pipe->front_ms = clock_ms();
    if (f->failed && f->preparing)
        pipe->prepared[f->id].sent = false;
    if (can_heal(pipe, f) && heal(pipe, f))
        return;
    if (!f->failed && f->rows == NULL) {
        error_set(&f->error, CARDBOX_INTERNAL, "the database gave no answer to a statement");
        f->failed = true;
    }
    flight_end(f, f->failed ? &f->error : NULL);
}

static void keep_result(store_pipe *pipe, flight *f, PGresult *result)
{
    ExecStatusType kind = PQresultStatus(result);
    bool fine = kind == PGRES_TUPLES_OK || kind == PGRES_COMMAND_OK;
    if (!fine && kind != PGRES_PIPELINE_ABORTED && !f->failed) {
        connect_error(&f->error, pipe->conn, result);
        f->failed = true;
    } else if (kind == PGRES_TUPLES_OK) {
        rows_free(f->rows);
        f->rows = result;
        return;
    }
    PQclear(result);
}

/* Takes what has come. A command's results end with one NULL; a Sync has none; a second NULL in a
 * row means that libpq has nothing more, whatever we think is in flight. */
static void take_results(store_pipe *pipe)
{
    bool ended = false;
    while (pipe->first != NULL && PQstatus(pipe->conn) == CONNECTION_OK && !PQisBusy(pipe->conn)) {
        PGresult *result = PQgetResult(pipe->conn);
        if (result == NULL && ended)
            return;
        ended = result == NULL;
        if (ended)
            continue;
        if (PQresultStatus(result) != PGRES_PIPELINE_SYNC) {
            keep_result(pipe, pipe->first, result);
            continue;
        }
        PQclear(result);
        land(pipe);
        if (pipe->state != PIPE_OPEN)
            return;
    }
}

static void transfer(store_pipe *pipe)
{
    if (!PQconsumeInput(pipe->conn)) {
        take_results(pipe); /* the server's last words, such as "terminating connection" */
        drop_lost(pipe, "the connection to the database was lost");
        return;
    }
    take_results(pipe);
    if (pipe->state != PIPE_OPEN)
        return;
    if (PQstatus(pipe->conn) != CONNECTION_OK || !flush(pipe)) {
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
               : pipe->front_ms + pipe->options.statement_timeout_ms + STATEMENT_GRACE_MS;
}

/* The server does not answer at all: it, or the network, hangs. */
static void drop_silent(store_pipe *pipe)
{
    flight *f = pipe->first;
    if (!f->failed)
        error_set(&f->error, CARDBOX_TIMEOUT, "the database did not answer within %u ms",
                  pipe->options.statement_timeout_ms + STATEMENT_GRACE_MS);
    f->failed = true;
    pipe_drop(pipe, "the database did not answer in time");
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

const char *pipe_reason(const store_pipe *pipe)
{
    return pipe->reason;
}
