/*
 * conn.c: sends one statement to the server and receives its result. The client has its own time
 * limits, since a stopped server or a broken network does not answer at all. No retries in this
 * file.
 */
#include "db/conn.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/errors.h"

enum {
    /* Added to statement_timeout for the client's limit, so that usually the server's error comes
     * first. */
    DEADLINE_GRACE_MS = 2000,
    /* Statements with more bytes of parameters are sent in blocking mode, without a time limit. In
     * non-blocking mode libpq moves the unsent bytes after each partial write, which is slow for
     * large statements. */
    DEADLINE_SENT_MAX = 16 * 1024 * 1024
};

static cardbox_status not_connected(const PGconn *pg, cardbox_error *err)
{
    cardbox_error why;
    connect_failure(&why, pg);
    error_set(err, CARDBOX_UNAVAILABLE, "cannot connect to the database: %s", why.message);
    if (err != NULL) {
        err->retryable = true;
        memcpy(err->sqlstate, why.sqlstate, sizeof(err->sqlstate));
    }
    return CARDBOX_UNAVAILABLE;
}

/* Runs connection_guard.sql, which sets some of the settings that connect_params_fill has not sent
 * because of no_named_statements. */
static cardbox_status guard_session(store_conn *conn, cardbox_error *err)
{
    params p = PARAMS_INIT;
    params_int4(&p, PQbackendPID(conn->pg));
    cardbox_status status = conn_run(conn, STATEMENT_connection_guard, &p, NULL, err);
    params_free(&p);
    return status;
}

cardbox_status conn_open(store_conn **out, const cardbox_options *options, cardbox_error *err)
{
    cardbox_status status = CARDBOX_OK;
    connect_params how;
    store_conn *conn = calloc(1, sizeof(*conn));
    if (conn == NULL)
        return error_nomem(err);
    conn->pg = connect_params_fill(&how, options) ? connect_open(&how) : NULL;
    conn->pid = getpid();
    conn->named = !options->no_named_statements;
    conn->deadline_ms = options->statement_timeout_ms + DEADLINE_GRACE_MS;
    if (conn->pg == NULL) {
        status = error_nomem(err);
    } else if (PQstatus(conn->pg) != CONNECTION_OK) {
        status = not_connected(conn->pg, err);
    } else if (!conn->named) {
        status = guard_session(conn, err);
    }
    if (status != CARDBOX_OK) {
        conn_close(conn);
        return status;
    }
    *out = conn;
    return CARDBOX_OK;
}

bool conn_is_forked(const store_conn *conn)
{
    return conn->pid != getpid();
}

/* Frees a PGconn of the parent process in a child. PQfinish would send a Terminate message, which
 * would end the parent's session, so the socket's descriptor is first replaced by one of /dev/null.
 */
static void finish_silently(PGconn *pg)
{
    int nowhere = open("/dev/null", O_RDWR | O_CLOEXEC);
    if (nowhere < 0)
        return;
    if (PQsocket(pg) >= 0 && dup2(nowhere, PQsocket(pg)) >= 0)
        PQfinish(pg);
    close(nowhere);
}

void conn_close(store_conn *conn)
{
    if (conn == NULL)
        return;
    if (!conn->borrowed && conn_is_forked(conn))
        finish_silently(conn->pg);
    else if (!conn->borrowed)
        PQfinish(conn->pg);
    free(conn);
}

bool conn_is_idle(const PGconn *pg)
{
    return PQpipelineStatus(pg) == PQ_PIPELINE_OFF && !PQisnonblocking(pg) &&
           PQtransactionStatus(pg) != PQTRANS_ACTIVE;
}

bool conn_alive(const store_conn *conn)
{
    return PQstatus(conn->pg) == CONNECTION_OK;
}

bool conn_in_transaction(const store_conn *conn)
{
    PGTransactionStatusType now = PQtransactionStatus(conn->pg);
    return now == PQTRANS_INTRANS || now == PQTRANS_INERROR;
}

bool conn_has_no_input(store_conn *conn)
{
    struct pollfd ready = {PQsocket(conn->pg), POLLIN, 0};
    return ready.fd >= 0 && poll(&ready, 1, 0) == 0 && conn_alive(conn);
}

static int64_t deadline_of(const store_conn *conn)
{
    return conn->deadline_ms == 0 ? 0 : clock_ms() + conn->deadline_ms;
}

/* Waits for the socket, and reads the bytes that have arrived. False: the connection is lost, or,
 * with *late true, the deadline has passed. */
static bool await_socket(store_conn *conn, short events, int64_t deadline_ms, bool *late)
{
    struct pollfd ready = {PQsocket(conn->pg), events, 0};
    int found;
    if (ready.fd < 0)
        return false;
    do {
        int64_t left = deadline_ms == 0 ? -1 : deadline_ms - clock_ms();
        found = deadline_ms != 0 && left <= 0 ? 0 : poll(&ready, 1, (int)left);
    } while (found < 0);
    *late = found == 0;
    return found > 0 && PQconsumeInput(conn->pg) != 0;
}

/* Sends the statement that libpq has buffered. Each partial write has a deadline of its own. Input
 * is read meanwhile, since the server may stop reading until the client reads the server's output.
 * Returns true if a deadline has passed. A lost connection is reported by the next read. */
static bool is_stuck(store_conn *conn)
{
    bool late = false;
    while (PQflush(conn->pg) > 0 &&
           await_socket(conn, POLLIN | POLLOUT, deadline_of(conn), &late)) {
    }
    return late;
}

static bool await_result(store_conn *conn, int64_t deadline_ms, bool *late)
{
    while (PQisBusy(conn->pg))
        if (!await_socket(conn, POLLIN, deadline_ms, late))
            return false;
    return true;
}

static bool is_success(const PGresult *result)
{
    ExecStatusType kind = PQresultStatus(result);
    return kind == PGRES_TUPLES_OK || kind == PGRES_COMMAND_OK;
}

/* Reads the results of a statement. The server commits after it has sent the rows, and an error may
 * follow the rows. ReadyForQuery confirms the commit: PQgetResult then returns NULL, and the
 * connection is alive. Without ReadyForQuery, only an error result is returned. NULL: there is no
 * result to return. */
static PGresult *read_result(store_conn *conn, bool *late)
{
    PGresult *answer = NULL, *next = NULL;
    int64_t deadline_ms = deadline_of(conn);
    bool whole = false;
    while (await_result(conn, deadline_ms, late)) {
        next = PQgetResult(conn->pg);
        whole = next == NULL && conn_alive(conn);
        if (next == NULL)
            break;
        if (answer == NULL || is_success(answer)) {
            PQclear(answer);
            answer = next;
        } else {
            PQclear(next);
        }
        if (!conn_alive(conn))
            break; /* PQgetResult would return errors forever */
    }
    if (answer == NULL || whole || !is_success(answer))
        return answer;
    PQclear(answer);
    return NULL;
}

/* Makes the connection unusable, since the state of a server that does not answer is unknown. */
static cardbox_status end_silent(store_conn *conn, cardbox_error *err)
{
    if (PQsocket(conn->pg) >= 0)
        shutdown(PQsocket(conn->pg), SHUT_RDWR);
    PQconsumeInput(conn->pg);
    error_set(err, CARDBOX_TIMEOUT, "the database did not answer within %u ms", conn->deadline_ms);
    return CARDBOX_TIMEOUT;
}

static cardbox_status receive_result(store_conn *conn, store_rows **rows, cardbox_error *err)
{
    bool late = false;
    PGresult *result = read_result(conn, &late);
    cardbox_status status = CARDBOX_OK;
    if (late)
        status = end_silent(conn, err);
    else if (!is_success(result))
        status = connect_error(err, conn->pg, result);
    if (status != CARDBOX_OK && err != NULL)
        err->statement = statement_get(conn->running)->name;
    if (status != CARDBOX_OK || rows == NULL) {
        PQclear(result);
        result = NULL;
    }
    if (rows != NULL)
        *rows = result;
    return status;
}

/* `sent` is the result of libpq's send function; 0: sending failed. */
static cardbox_status finish_send(store_conn *conn, int sent, cardbox_error *err)
{
    if (sent == 0)
        return connect_error(err, conn->pg, NULL);
    return is_stuck(conn) ? end_silent(conn, err) : CARDBOX_OK;
}

static cardbox_status prepare(store_conn *conn, statement_id id, cardbox_error *err)
{
    const statement *s = statement_get(id);
    if (conn->prepared[id])
        return CARDBOX_OK;
    cardbox_status status =
        finish_send(conn, PQsendPrepare(conn->pg, s->name, s->text, 0, NULL), err);
    if (status == CARDBOX_OK)
        status = receive_result(conn, NULL, err);
    conn->prepared[id] = status == CARDBOX_OK;
    return status;
}

static cardbox_status send_statement(store_conn *conn, statement_id id, const params *p,
                                     cardbox_error *err)
{
    if (conn_is_forked(conn))
        return error_forked(err);
    conn->running = id;
    if (conn->borrowed && !conn_is_idle(conn->pg) && conn_alive(conn))
        return error_set(
            err, CARDBOX_INVALID,
            "the connection must be idle, blocking and not in pipeline mode when a call begins");
    if (p != NULL && !buf_ok(&p->bytes))
        return error_buf(err, &p->bytes, "the request");
    if (!conn->borrowed)
        PQsetnonblocking(conn->pg, p == NULL || p->bytes.len <= DEADLINE_SENT_MAX);
    cardbox_status status = conn->named ? prepare(conn, id, err) : CARDBOX_OK;
    if (status != CARDBOX_OK)
        return status;
    return finish_send(conn, connect_send(conn->pg, statement_get(id), conn->named, p), err);
}

cardbox_status conn_run(store_conn *conn, statement_id id, const params *p, store_rows **rows,
                        cardbox_error *err)
{
    cardbox_status status = send_statement(conn, id, p, err);
    return status == CARDBOX_OK ? receive_result(conn, rows, err) : status;
}
