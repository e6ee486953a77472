/*
 * http.c: each loop has an MHD_Daemon of libmicrohttpd in external epoll mode. This file sets the
 * options of the MHD_Daemon, and has the callbacks for connections and requests.
 */
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "base/clock.h"
#include "app/log.h"
#include "base/text.h"
#include "server/net/http_internal.h"

enum {
    /* Bytes of memory for the headers and a part of the body of one request. It holds a target of
     * 8 KiB with 100 query parameters, which libmicrohttpd stores one by one. For each
     * request, libmicrohttpd clears the memory. So a larger number makes requests slower. */
    CONNECTION_MEMORY = 24 * 1024,
    SPARES_MAX = 256, /* maximum number of exchanges that are kept for reuse */
    HTTP_UNAVAILABLE = 503,
    REFUSED_LOG_MS = 1000
};

/* --- exchanges --- */

static bool has_client_left(const request *r)
{
    return client_has_left(((const exchange *)r)->client);
}

static void close_connection(request *r)
{
    exchange *x = (exchange *)r;
    client_shut_down(x->client, "the server gave up the request", clock_ms());
}

/* Moves the memory of an earlier answer to the body of the answer of `r`. */
static void reuse_memory(buf *memory, request *r)
{
    buf_free(&r->answer.body);
    memory->max = r->answer.body.max;
    r->answer.body = *memory;
    *memory = BUF_INIT(0);
}

static void lend_memory(request *r)
{
    http *h = ((exchange *)r)->http;
    if (h->large.cap > r->answer.body.cap)
        reuse_memory(&h->large, r);
}

/* Suspends a connection that is polled, because libmicrohttpd could close it during a job. */
static void suspend_polled(request *r)
{
    exchange *x = (exchange *)r;
    if (x->wait == WAIT_POLLED)
        http_suspend(x);
}

static void keep_memory(exchange *x)
{
    buf *body = &x->request.answer.body, *to = NULL;
    if (body->cap <= SMALL_MOST)
        to = &x->spare_body;
    else if (body->cap >= LARGE_LEAST && body->cap <= LARGE_MOST && body->cap > x->http->large.cap)
        to = &x->http->large;
    if (to == NULL)
        return;
    buf_free(to);
    *to = *body;
    *body = BUF_INIT(0);
    buf_reset(to, to->cap);
}

static void exchange_destroy(exchange *x)
{
    buf_free(&x->spare_body);
    free(x);
}

static exchange *exchange_new(http *h)
{
    static const request_host HOST = {http_resume, has_client_left, close_connection, lend_memory,
                                      suspend_polled};
    exchange *x = h->spares;
    if (x != NULL) {
        h->spares = x->next;
        h->spare_count--;
    } else {
        x = malloc(sizeof(*x));
        if (x == NULL)
            return NULL;
        x->spare_body = BUF_INIT(0);
    }
    request_init(&x->request, h->server, h->stats, h->parts.batcher);
    reuse_memory(&x->spare_body, &x->request);
    x->request.host = &HOST;
    x->request.transfers = h->parts.transfers;
    x->request.followers = h->parts.followers;
    x->request.jobs = h->parts.jobs;
    x->request.tokens = &h->tokens;
    memset((char *)x + sizeof(x->request), 0, sizeof(*x) - sizeof(x->request));
    x->http = h;
    h->active++;
    tally_add(&h->stats->in_flight, 1);
    return x;
}

static void exchange_free(exchange *x)
{
    http *h = x->http;
    keep_memory(x);
    request_clear(&x->request);
    gzip_free(x->gzip);
    h->active--;
    tally_sub(&h->stats->in_flight, 1);
    if (h->spare_count >= SPARES_MAX) {
        exchange_destroy(x);
        return;
    }
    x->next = h->spares;
    h->spares = x;
    h->spare_count++;
}

/* Called by libmicrohttpd when a request line was received. `target` is NULL if the line has none.
 * libmicrohttpd passes the result, a new exchange or NULL, to on_request as *context. */
static void *on_target(void *arg, const char *target, struct MHD_Connection *connection)
{
    http *h = arg;
    client *c =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT)->socket_context;
    exchange *x = c == NULL ? NULL : exchange_new(h);
    if (x == NULL)
        return NULL;
    x->connection = connection;
    x->client = c;
    c->exchange = x;
    http_set_handshaking(x->http, c, false);
    x->request.started_us = clock_us();
    x->request.started_ms = x->request.started_us / 1000;
    client_set_state(c, CLIENT_SENDING, x->request.started_ms);
    slice received = slice_of(target == NULL ? "" : target);
    x->request.target = (slice){arena_copy(&x->request.memory, received), received.len};
    return x;
}

/* Returns the level at which a request is logged. Answers of 503 may be very frequent, so they are
 * counted, and http_tick logs their number at most once a second. */
static log_level level_of(http *h, const request *r)
{
    if (r->answer.status == HTTP_UNAVAILABLE)
        h->refused++;
    else if (r->answer.status >= 500)
        return LOG_LEVEL_WARN;
    return r->server->set->access_log ? LOG_LEVEL_INFO : LOG_LEVEL_DEBUG;
}

static void log_access(exchange *x, enum MHD_RequestTerminationCode how)
{
    const request *r = &x->request;
    log_level level = level_of(x->http, r);
    if ((int)level > log_threshold)
        return;
    log_write(
        level, "request",
        "method=%.16s path=%s status=%u ms=%lld token=%lld request=%.*s traceparent=%s caller=%s "
        "call=%s complete=%s",
        r->method == NULL ? "?" : r->method, log_quoted(r->target), r->answer.status,
        (long long)(clock_ms() - r->started_ms), (long long)r->token_id, (int)r->id.len, r->id.ptr,
        log_quoted(r->headers.traceparent), log_quoted(r->headers.caller_id),
        log_quoted(r->headers.call_id), how == MHD_REQUEST_TERMINATED_COMPLETED_OK ? "yes" : "no");
}

static void count_request(const exchange *x, int64_t now_us)
{
    const request *r = &x->request;
    const route *served = r->match.route;
    tally_add(&r->stats->body_bytes_in, x->received);
    stats_request(r->stats, served == NULL ? STATS_NO_ROUTE : (size_t)(served - ROUTES),
                  served == NULL ? CLASS_OTHER : served->class, r->answer.status,
                  now_us - r->started_us);
}

static void complete(exchange *x, enum MHD_RequestTerminationCode how)
{
    int64_t now_us = clock_us();
    http_end_wait(x);
    http_note_pending(x->http);
    log_access(x, how);
    count_request(x, now_us);
    x->client->exchange = NULL;
    client_set_state(x->client, CLIENT_IDLE, now_us / 1000);
    exchange_free(x);
}

static void on_completed(void *arg, struct MHD_Connection *connection, void **context,
                         enum MHD_RequestTerminationCode how)
{
    (void)arg;
    (void)connection;
    if (*context != NULL)
        complete(*context, how);
    *context = NULL;
}

/* --- requests --- */

/* libmicrohttpd calls on_request after the headers, for each part of the body, and at the end of
 * the body. Then it calls on_request in each run until an answer is queued, except while the
 * connection is suspended. */
static enum MHD_Result on_request(void *arg, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *piece,
                                  size_t *piece_len, void **context)
{
    exchange *x = *context;
    (void)arg;
    (void)connection;
    (void)url;
    if (x == NULL)
        return MHD_NO;
    if (!x->begun)
        return http_begin(x, method, version);
    if (*piece_len > 0)
        return http_receive(x, (slice){piece, *piece_len}, piece_len);
    if (x->wait == WAIT_POLLED) {
        http_wait(x);
        return MHD_YES;
    }
    client_set_state(x->client, CLIENT_WAITING, clock_ms());
    if (x->request.state == REQUEST_ARRIVING)
        http_work(x);
    if (x->request.job.in_thread)
        http_suspend(x);
    else if (x->request.state == REQUEST_ANSWERED)
        return http_send(x);
    else if (x->request.state == REQUEST_SUSPENDED)
        http_wait(x);
    return MHD_YES;
}

/* --- the daemon --- */

static void open_client(http *h, struct MHD_Connection *connection, client *c)
{
    if (h->server->tls.start_cert_pem != NULL) {
        c->cert = tls_attach(
            &h->server->tls,
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_GNUTLS_SESSION)->tls_session);
        http_set_handshaking(h, c, true);
    }
    c->reserved = http_free_connections(h->server) < 0;
    tally_add(&h->stats->clients_reserved, c->reserved);
    tally_add(&h->stats->clients_opened, 1);
}

static void close_client(http *h, client *c)
{
    /* libmicrohttpd does not call on_completed if a query has exceeded the memory. */
    if (c->exchange != NULL)
        complete(c->exchange, MHD_REQUEST_TERMINATED_WITH_ERROR);
    http_set_handshaking(h, c, false);
    tls_release(&h->server->tls, c->cert);
    tally_sub(&h->stats->clients_reserved, c->reserved);
    client_close(c);
    tally_sub(&h->stats->clients, 1);
}

static void on_connection(void *arg, struct MHD_Connection *connection, void **context,
                          enum MHD_ConnectionNotificationCode what)
{
    http *h = arg;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        *context = info == NULL ? NULL : client_open(&h->clients, info->connect_fd);
        if (*context == NULL)
            return;
        h->starting -= h->starting > 0;
        open_client(h, connection, *context);
    } else if (*context != NULL) {
        close_client(h, *context);
        *context = NULL;
    }
    tally_set(&h->stats->clients_busy, h->clients.busy);
}

/* Replaces libmicrohttpd's decoding of paths and queries, because path.c and query.c decode them,
 * and handle NUL and "%2F". */
static size_t leave_escapes(void *arg, struct MHD_Connection *connection, char *text)
{
    (void)arg;
    (void)connection;
    return strlen(text);
}

__attribute__((format(printf, 2, 0))) static void on_log(void *arg, const char *format,
                                                         va_list args)
{
    char message[256], quoted[LOG_QUOTE_SIZE];
    (void)arg;
    if (log_threshold < (int)LOG_LEVEL_DEBUG)
        return;
    text_format(message, sizeof(message), format, args);
    log_debug("http_library", "message=%s", log_quote(quoted, message, strcspn(message, "\r\n")));
}

static void on_panic(void *arg, const char *file, unsigned line, const char *reason)
{
    (void)arg;
    log_error("http_library_panic", "file=%s line=%u reason=\"%s\"", file, line,
              reason == NULL ? "" : reason);
    abort();
}

void http_global_init(void)
{
    MHD_set_panic_func(on_panic, NULL);
}

static struct MHD_Daemon *start_daemon(http *h)
{
    const settings *set = h->server->set;
    /* In version 0.9.75, this would only add checks that this server makes itself, and answer their
     * requests twice. */
    int is_strict = strcmp(MHD_get_version(), "0.9.75") != 0;
    struct MHD_OptionItem options[] = {
        {MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)on_completed, h},
        {MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)on_connection, h},
        {MHD_OPTION_URI_LOG_CALLBACK, (intptr_t)on_target, h},
        {MHD_OPTION_UNESCAPE_CALLBACK, (intptr_t)leave_escapes, NULL},
        {MHD_OPTION_CONNECTION_MEMORY_LIMIT, CONNECTION_MEMORY, NULL},
        {MHD_OPTION_STRICT_FOR_CLIENT, is_strict, NULL},
        {MHD_OPTION_CONNECTION_LIMIT, set->connections_max + HTTP_RESERVED, NULL},
        {MHD_OPTION_CONNECTION_TIMEOUT, set->idle_timeout_s, NULL},
        {MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, NULL},
        {MHD_OPTION_END, 0, NULL},
    };
    static char versions[] = "NORMAL:-VERS-ALL:+VERS-TLS1.3:+VERS-TLS1.2";
    const tls *t = &h->server->tls;
    struct MHD_OptionItem secure[] = {
        {MHD_OPTION_HTTPS_MEM_CERT, 0, t->start_cert_pem},
        {MHD_OPTION_HTTPS_MEM_KEY, 0, t->start_key_pem},
        {MHD_OPTION_HTTPS_PRIORITIES, 0, versions},
        {MHD_OPTION_END, 0, NULL},
    };
    unsigned flags = MHD_USE_EPOLL | MHD_USE_NO_LISTEN_SOCKET | MHD_ALLOW_SUSPEND_RESUME |
                     MHD_USE_ERROR_LOG | MHD_USE_SUPPRESS_DATE_NO_CLOCK;
    bool plain = t->start_cert_pem == NULL;
    return MHD_start_daemon(plain ? flags : flags | MHD_USE_TLS, 0, NULL, NULL, on_request, h,
                            MHD_OPTION_EXTERNAL_LOGGER, on_log, h, MHD_OPTION_ARRAY, options,
                            MHD_OPTION_ARRAY, plain ? &secure[3] : secure, MHD_OPTION_END);
}

http *http_new(server_state *server, stats *s, const http_parts *parts)
{
    http *h = calloc(1, sizeof(*h));
    if (h == NULL)
        return NULL;
    h->server = server;
    h->stats = s;
    h->parts = *parts;
    TAILQ_INIT(&h->clients.list);
    h->daemon = start_daemon(h);
    if (h->daemon == NULL) {
        free(h);
        return NULL;
    }
    h->fd = MHD_get_daemon_info(h->daemon, MHD_DAEMON_INFO_EPOLL_FD)->epoll_fd;
    return h;
}

void http_free(http *h)
{
    if (h == NULL)
        return;
    MHD_stop_daemon(h->daemon);
    token_reader_close(&h->tokens);
    while (h->spares != NULL) {
        exchange *next = h->spares->next;
        exchange_destroy(h->spares);
        h->spares = next;
    }
    gzip_free(h->gzip);
    buf_free(&h->large);
    free(h);
}

int http_fd(const http *h)
{
    return h->fd;
}

int64_t http_free_connections(const server_state *server)
{
    int64_t open = 0;
    for (long i = 0; i < server->set->loops; i++)
        open += (int64_t)tally_get(&server->stats[i].clients) -
                (int64_t)tally_get(&server->stats[i].clients_reserved);
    return server->set->connections_max - open;
}

static bool close_for_another(http *h, client *c, int64_t now_ms)
{
    if (c == NULL)
        return false;
    client_shut_down(c, "another client needs the connection", now_ms);
    h->pending = true;
    return true;
}

bool http_close_idle(http *h, bool reserved, int64_t now_ms)
{
    return close_for_another(h, clients_longest_idle(&h->clients, reserved), now_ms);
}

bool http_close_partial(http *h, bool reserved, int64_t now_ms)
{
    return close_for_another(h, clients_longest_partial(&h->clients, reserved), now_ms);
}

int http_accept(http *h, int listen_fd)
{
    static const struct sockaddr NOBODY = {.sa_family = AF_UNSPEC};
    int fd = accept4(listen_fd, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
    if (fd < 0)
        return errno == EINTR || errno == ECONNABORTED ? 0 : errno;
    h->starting++;
    tally_add(&h->stats->clients, 1);
    /* if MHD_add_connection fails, it closes `fd` */
    MHD_add_connection(h->daemon, fd, &NOBODY, sizeof(NOBODY));
    h->pending = true;
    clients_check_idle(&h->clients, clock_ms());
    return 0;
}

void http_ready(http *h, int64_t now_ms)
{
    clients_check_idle(&h->clients, now_ms);
}

void http_tick(http *h, int64_t now_ms)
{
    clients_tick(&h->clients, now_ms, h->server->set->request_read_timeout_ms);
    tally_set(&h->stats->clients_busy, h->clients.busy);
    if (h->refused > 0 && now_ms >= h->refused_ms) {
        log_warn("requests_refused", "status=%d count=%zu", HTTP_UNAVAILABLE, h->refused);
        h->refused = 0;
        h->refused_ms = now_ms + REFUSED_LOG_MS;
    }
}

size_t http_active(const http *h)
{
    return h->active;
}
