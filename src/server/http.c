/*
 * http.c: libmicrohttpd in external epoll mode. One daemon a loop; a request's life is here: begin,
 * body, handler, suspension, answer, end. What a request means is not.
 */
#include "server/http.h"
#include <microhttpd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/log.h"
#include "base/uuid.h"
#include "cardbox/limits.h"
#include "server/fault.h"
#include "server/head.h"
#include "server/http_clients.h"

enum {
    CONNECTION_MEMORY = 16 * 1024, /* bytes: request line, headers and a piece of the body. The
                                    * library clears all of it for each request, and it is what an
                                    * idle connection costs: 64 KiB made it a third slower */
    BACKLOG_SPARES = 256,          /* exchanges kept for reuse */
    DRAIN_FACTOR = 4               /* a refused body is read on, to this many times its limit, so
                                    * that the client comes to read the answer */
};

/* A request with the connection that it is on. The request comes first: one pointer is both. */
typedef struct exchange {
    request request;
    http *http;
    struct MHD_Connection *connection;
    client *client;
    struct exchange *next; /* in the list of spares */
    bool begun;            /* its head was looked at */
    uint64_t received;     /* bytes of its body */
    char own_id[UUID_TEXT_SIZE];
} exchange;

struct http {
    shared *house;
    joiner *joiner;
    struct MHD_Daemon *daemon;
    int fd;
    clients clients;
    exchange *spares;
    size_t spare_count;
    size_t active;
    bool pending;
    time_t date_s; /* the second that `date` shows */
    char date[40];
    int64_t id_ms; /* when `id` was made new; between, it is counted on */
    uuid16 id;
};

/* --- an exchange begins and ends --- */

static void resume(request *r)
{
    exchange *x = (exchange *)r;
    x->http->pending = true;
    MHD_resume_connection(x->connection);
}

static bool left(const request *r)
{
    const exchange *x = (const exchange *)r;
    return x->client != NULL && client_left(x->client);
}

static exchange *exchange_new(http *h)
{
    static const request_host HOST = {resume, left};
    exchange *x = h->spares;
    if (x != NULL) {
        h->spares = x->next;
        h->spare_count--;
    } else {
        x = malloc(sizeof(*x));
    }
    if (x == NULL)
        return NULL;
    request_init(&x->request, h->house, h->joiner);
    x->request.host = &HOST;
    x->http = h;
    x->next = NULL;
    x->begun = false;
    x->received = 0;
    h->active++;
    return x;
}

static void exchange_free(exchange *x)
{
    http *h = x->http;
    request_clear(&x->request);
    h->active--;
    if (h->spare_count >= BACKLOG_SPARES) {
        free(x);
        return;
    }
    x->next = h->spares;
    h->spares = x;
    h->spare_count++;
}

/* The request line is there. What is returned comes back as *context in on_request. */
static void *on_target(void *arg, const char *target, struct MHD_Connection *connection)
{
    http *h = arg;
    const union MHD_ConnectionInfo *info =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
    exchange *x = exchange_new(h);
    if (x == NULL)
        return NULL;
    x->connection = connection;
    x->client = info == NULL ? NULL : info->socket_context;
    x->request.started_ms = clock_ms();
    if (x->client != NULL)
        client_move(x->client, CLIENT_SENDING, x->request.started_ms);
    x->request.target.len = strlen(target);
    x->request.target.ptr = arena_copy(&x->request.memory, view_of(target));
    return x;
}

static void log_access(const exchange *x, enum MHD_RequestTerminationCode how)
{
    const request *r = &x->request;
    char path[LOG_QUOTE_SIZE], trace[LOG_QUOTE_SIZE];
    if (!r->shared->set->access_log && log_threshold < (int)LOG_LEVEL_DEBUG)
        return;
    log_write(r->shared->set->access_log ? LOG_LEVEL_INFO : LOG_LEVEL_DEBUG, "request",
              "method=%.16s path=%s status=%u ms=%lld request=%.*s traceparent=%s complete=%s",
              r->method == NULL ? "?" : r->method, log_quote(path, r->target.ptr, r->target.len),
              r->answer.status, (long long)(clock_ms() - r->started_ms), (int)r->id.len, r->id.ptr,
              log_quote(trace, r->traceparent.ptr, r->traceparent.len),
              how == MHD_REQUEST_TERMINATED_COMPLETED_OK ? "yes" : "no");
}

static void on_completed(void *arg, struct MHD_Connection *connection, void **context,
                         enum MHD_RequestTerminationCode how)
{
    exchange *x = *context;
    (void)arg;
    (void)connection;
    if (x == NULL)
        return;
    log_access(x, how);
    if (x->client != NULL)
        client_move(x->client, CLIENT_IDLE, clock_ms());
    exchange_free(x);
    *context = NULL;
}

/* --- the head --- */

/* A UUIDv7 for each request, at the price of one a millisecond: the last four of its random bytes
 * are counted up. */
static void next_id(http *h, int64_t now_ms)
{
    if (h->id_ms != now_ms) {
        uuid16_v7(&h->id);
        h->id_ms = now_ms;
        return;
    }
    for (int i = 15; i >= 12 && ++h->id.bytes[i] == 0; i--)
        continue;
}

static enum MHD_Result on_field(void *arg, enum MHD_ValueKind kind, const char *name,
                                size_t name_len, const char *value, size_t value_len)
{
    (void)kind;
    head_field(arg, (view){name, name_len}, (view){value == NULL ? "" : value, value_len});
    return MHD_YES;
}

static void set_ids(exchange *x, const head *h)
{
    request *r = &x->request;
    r->traceparent = h->traceparent;
    r->id = h->request_id;
    if (r->id.ptr != NULL)
        return;
    next_id(x->http, r->started_ms);
    uuid16_format(x->own_id, &x->http->id);
    r->id = view_of(x->own_id);
}

/* Refuses a request that leaves in doubt where the next one begins. */
static bool check_form(exchange *x, const head *h, const char *version)
{
    request *r = &x->request;
    bool is_http11 = strcmp(version, "HTTP/1.1") == 0;
    const char *reason = head_fault(h, is_http11);
    /* The version stands right behind the target, unless a NUL had cut the target short. */
    if (r->target.ptr == NULL)
        reason = "out of memory";
    if (reason == NULL)
        return true;
    fault_answer(r, FAULT_BAD_REQUEST, NULL, "%s", reason);
    r->answer.close = true;
    return false;
}

/* Finds the route. False: answered. */
static bool check_path(request *r)
{
    const char *reason;
    view raw;
    char allow[ROUTE_ALLOW_SIZE];
    target_split(r->target, &raw, &r->query);
    switch (path_decode(&r->path, raw, &r->memory, &reason)) {
    case PATH_OK:
        break;
    case PATH_UNKNOWN:
        fault_answer_unknown_path(r);
        return false;
    case PATH_MALFORMED:
        fault_answer(r, FAULT_BAD_REQUEST, NULL, "%s", reason);
        return false;
    case PATH_NOMEM:
        fault_answer(r, FAULT_UNAVAILABLE, NULL, "out of memory");
        return false;
    }
    route_find(&r->match, ROUTES, r->method, &r->path);
    if (r->match.route != NULL)
        return true;
    if (!r->match.path_known) {
        fault_answer_unknown_path(r);
        return false;
    }
    route_allow(allow, ROUTES, &r->path);
    fault_answer(r, FAULT_METHOD, NULL, "this path takes %s", allow);
    request_header(r, "Allow", arena_copy(&r->memory, view_of(allow)));
    return false;
}

static bool check_tenant(request *r)
{
    if (r->match.params[0].ptr == NULL || view_is_id(request_tenant(r), CARDBOX_TENANT_MAX))
        return true;
    fault_answer(r, FAULT_BAD_REQUEST, NULL,
                 "a project is 1 to %d bytes of text without control characters",
                 CARDBOX_TENANT_MAX);
    return false;
}

/* A body that the route does not take is read and ignored. */
static bool check_body(request *r, const head *h)
{
    const settings *set = r->shared->set;
    if (h->length > (uint64_t)set->body_max) {
        fault_answer(r, FAULT_TOO_LARGE, NULL, "the body is over the limit of %ld bytes",
                     set->body_max);
        r->answer.close = true;
        return false;
    }
    if (!r->match.route->json_body)
        return true;
    if (!head_is_json(h) || h->encoded) {
        fault_answer(r, FAULT_MEDIA_TYPE, NULL, "the body must be application/json%s",
                     h->encoded ? " without a content encoding" : "");
        return false;
    }
    if (h->length > 0)
        buf_reserve(&r->body, (size_t)h->length);
    return true;
}

static enum MHD_Result send_answer(exchange *x);

/* Looks at the head. An early answer waits until the body, if it is not too large, has passed: the
 * client is not listening before, and the library would close the connection. */
static enum MHD_Result begin(exchange *x, const char *method, const char *version)
{
    request *r = &x->request;
    head h = {0};
    x->begun = true;
    r->method = method;
    MHD_get_connection_values_n(x->connection, MHD_HEADER_KIND, on_field, &h);
    set_ids(x, &h);
    bool formed = check_form(x, &h, version);
    if (formed && check_path(r) && check_tenant(r) && check_body(r, &h))
        return MHD_YES;
    bool readable =
        formed && !h.expects && h.length <= (uint64_t)r->shared->set->body_max * DRAIN_FACTOR;
    return readable ? MHD_YES : send_answer(x);
}

/* --- the body --- */

static enum MHD_Result receive(exchange *x, view piece)
{
    request *r = &x->request;
    uint64_t most = (uint64_t)r->shared->set->body_max;
    x->received += piece.len;
    if (x->received > most * DRAIN_FACTOR)
        return MHD_NO;
    if (r->state == REQUEST_ANSWERED)
        return MHD_YES;
    if (x->received > most) {
        buf_free(&r->body);
        fault_answer(r, FAULT_TOO_LARGE, NULL, "the body is over the limit of %ld bytes",
                     r->shared->set->body_max);
        r->answer.close = true;
    } else if (r->match.route->json_body) {
        buf_view(&r->body, piece);
    }
    return MHD_YES;
}

/* The whole request is here. */
static void work(exchange *x)
{
    request *r = &x->request;
    request_move(r, REQUEST_WORKING);
    if (!buf_ok(&r->body))
        fault_answer(r, FAULT_UNAVAILABLE, NULL, "out of memory");
    else
        r->match.route->handle(r);
}

/* --- the answer --- */

static struct MHD_Response *make_response(answer *a)
{
    size_t len = a->fixed.len;
    if (a->fixed.ptr != NULL) /* the library does not write to it, but takes no const */
        return MHD_create_response_from_buffer(len, (void *)(uintptr_t)a->fixed.ptr,
                                               MHD_RESPMEM_PERSISTENT);
    char *body = buf_take(&a->body, &len);
    if (body == NULL)
        return NULL;
    struct MHD_Response *response =
        MHD_create_response_from_buffer(len, body, MHD_RESPMEM_MUST_FREE);
    if (response == NULL)
        free(body);
    return response;
}

/* The library would format it for each response anew. */
static const char *date_now(http *h)
{
    struct tm parts;
    time_t now = time(NULL);
    if (now != h->date_s && gmtime_r(&now, &parts) != NULL) {
        strftime(h->date, sizeof(h->date), "%a, %d %b %Y %H:%M:%S GMT", &parts);
        h->date_s = now;
    }
    return h->date;
}

static bool add_headers(struct MHD_Response *response, exchange *x)
{
    request *r = &x->request;
    bool close = r->answer.close || atomic_load(&r->shared->stop) != STOP_NOT;
    char id[256];
    snprintf(id, sizeof(id), "%.*s", (int)r->id.len, r->id.ptr);
    bool fine = MHD_add_response_header(response, "Date", date_now(x->http)) == MHD_YES &&
                MHD_add_response_header(response, "Content-Type", "application/json") == MHD_YES &&
                MHD_add_response_header(response, "X-Request-Id", id) == MHD_YES;
    for (size_t i = 0; fine && i < r->answer.headers; i++)
        fine = MHD_add_response_header(response, r->answer.header[i].name,
                                       r->answer.header[i].value) == MHD_YES;
    if (fine && close)
        fine = MHD_add_response_header(response, "Connection", "close") == MHD_YES;
    return fine;
}

static enum MHD_Result send_answer(exchange *x)
{
    request *r = &x->request;
    enum MHD_Result queued = MHD_NO;
    struct MHD_Response *response = make_response(&r->answer);
    if (response == NULL || !add_headers(response, x))
        goto done;
    queued = MHD_queue_response(x->connection, r->answer.status, response);
    if (queued == MHD_YES)
        request_move(r, REQUEST_SENDING);
done:
    if (queued != MHD_YES)
        log_error("answer_lost", "request=%.*s reason=\"out of memory\"", (int)r->id.len,
                  r->id.ptr);
    if (response != NULL)
        MHD_destroy_response(response);
    return queued;
}

/* The library calls this with the head, with each piece of the body, with its end, and again after
 * a suspension. */
static enum MHD_Result on_request(void *arg, struct MHD_Connection *connection, const char *url,
                                  const char *method, const char *version, const char *piece,
                                  size_t *piece_len, void **context)
{
    exchange *x = *context;
    (void)arg;
    (void)url;
    if (x == NULL)
        return MHD_NO;
    if (!x->begun)
        return begin(x, method, version);
    if (*piece_len > 0) {
        view bytes = {piece, *piece_len};
        *piece_len = 0;
        return receive(x, bytes);
    }
    if (x->client != NULL)
        client_move(x->client, CLIENT_WAITING, clock_ms());
    if (x->request.state == REQUEST_ARRIVING)
        work(x);
    if (x->request.state == REQUEST_ANSWERED)
        return send_answer(x);
    if (x->request.state == REQUEST_SUSPENDED)
        MHD_suspend_connection(connection);
    return MHD_YES;
}

/* --- the daemon --- */

static void on_connection(void *arg, struct MHD_Connection *connection, void **context,
                          enum MHD_ConnectionNotificationCode what)
{
    http *h = arg;
    if (what == MHD_CONNECTION_NOTIFY_STARTED) {
        const union MHD_ConnectionInfo *info =
            MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);
        *context = info == NULL ? NULL : client_open(&h->clients, info->connect_fd);
    } else {
        client_close(&h->clients, *context);
        *context = NULL;
    }
}

/* Paths and queries are decoded by path.c and query.c, which know NUL and "%2F". */
static size_t leave_escapes(void *arg, struct MHD_Connection *connection, char *text)
{
    (void)arg;
    (void)connection;
    return strlen(text);
}

static void on_log(void *arg, const char *format, va_list args)
    __attribute__((format(printf, 2, 0)));

static void on_log(void *arg, const char *format, va_list args)
{
    char message[256], quoted[LOG_QUOTE_SIZE];
    (void)arg;
    if (log_threshold < (int)LOG_LEVEL_DEBUG)
        return;
    vsnprintf(message, sizeof(message), format, args);
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

static struct MHD_Daemon *start_daemon(http *h, int listen_fd)
{
    const settings *set = h->house->set;
    long connections = set->connections_max / set->loops;
    struct MHD_OptionItem options[] = {
        {MHD_OPTION_NOTIFY_COMPLETED, (intptr_t)on_completed, h},
        {MHD_OPTION_NOTIFY_CONNECTION, (intptr_t)on_connection, h},
        {MHD_OPTION_URI_LOG_CALLBACK, (intptr_t)on_target, h},
        {MHD_OPTION_UNESCAPE_CALLBACK, (intptr_t)leave_escapes, NULL},
        {MHD_OPTION_LISTEN_SOCKET, listen_fd, NULL},
        {MHD_OPTION_CONNECTION_MEMORY_LIMIT, CONNECTION_MEMORY, NULL},
        {MHD_OPTION_CONNECTION_LIMIT, connections > 0 ? connections : 1, NULL},
        {MHD_OPTION_CONNECTION_TIMEOUT, set->idle_timeout_s, NULL},
        {MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1, NULL},
        {MHD_OPTION_END, 0, NULL},
    };
    return MHD_start_daemon(MHD_USE_EPOLL | MHD_ALLOW_SUSPEND_RESUME | MHD_USE_ERROR_LOG |
                                MHD_USE_SUPPRESS_DATE_NO_CLOCK,
                            0, NULL, NULL, on_request, h, MHD_OPTION_EXTERNAL_LOGGER, on_log, NULL,
                            MHD_OPTION_ARRAY, options, MHD_OPTION_END);
}

http *http_new(shared *house, joiner *j, int listen_fd)
{
    http *h = calloc(1, sizeof(*h));
    if (h == NULL)
        return NULL;
    h->house = house;
    h->joiner = j;
    h->daemon = start_daemon(h, listen_fd);
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
    while (h->spares != NULL) {
        exchange *next = h->spares->next;
        free(h->spares);
        h->spares = next;
    }
    free(h);
}

int http_fd(const http *h)
{
    return h->fd;
}

int64_t http_next_ms(const http *h, int64_t now_ms)
{
    MHD_UNSIGNED_LONG_LONG wait_ms;
    int64_t next_ms = h->clients.first == NULL ? INT64_MAX : h->clients.due_ms;
    if (MHD_get_timeout(h->daemon, &wait_ms) == MHD_YES && wait_ms < INT32_MAX &&
        now_ms + (int64_t)wait_ms < next_ms)
        next_ms = now_ms + (int64_t)wait_ms;
    return next_ms;
}

void http_run(http *h)
{
    h->pending = false;
    MHD_run(h->daemon);
}

bool http_pending(const http *h)
{
    MHD_UNSIGNED_LONG_LONG wait_ms;
    return h->pending || (MHD_get_timeout(h->daemon, &wait_ms) == MHD_YES && wait_ms == 0);
}

void http_tick(http *h, int64_t now_ms)
{
    clients_tick(&h->clients, now_ms, h->house->set->slow_request_timeout_ms);
}

void http_quiesce(http *h)
{
    MHD_socket fd = MHD_quiesce_daemon(h->daemon);
    if (fd != MHD_INVALID_SOCKET)
        close(fd);
}

size_t http_active(const http *h)
{
    return h->active;
}
