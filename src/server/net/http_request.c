/*
 * http_request.c: checks the headers of a request, finds its route, and stores its body.
 */
#include <stdio.h>
#include "base/clock.h"
#include "cardbox/limits.h"
#include "server/background/jobs.h"
#include "server/api/handlers.h"
#include "server/net/http_internal.h"
#include "server/response/http_error.h"
#include "server/request/headers.h"

enum {
    DRAIN_FACTOR = 4,  /* a rejected body is read up to this multiple of --body-max, so that the
                        * client reads the answer */
    PACE_LEAST = 1024, /* bytes of a streamed body that must arrive in
                        * --request-read-timeout-ms */
    /* helper threads handle bodies from this size on, since these could block a loop */
    JOB_BODY_LEAST = 64 * 1024
};

/* --- headers --- */

/* Makes a new request id. If the last id is of the same millisecond, increments the last four bytes
 * of that id, which costs less than new random bytes. */
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

static enum MHD_Result add_header(void *arg, enum MHD_ValueKind kind, const char *name,
                                  size_t name_len, const char *value, size_t value_len)
{
    slice text = {value == NULL ? "" : value, value == NULL ? 0 : value_len};
    (void)kind;
    headers_add(arg, (slice){name, name_len}, text);
    return MHD_YES;
}

static void set_id(exchange *x)
{
    request *r = &x->request;
    r->id = r->headers.request_id;
    if (r->id.ptr != NULL)
        return;
    next_id(x->http, r->started_ms);
    uuid16_format(x->own_id, &x->http->id);
    r->id = slice_of(x->own_id);
}

/* After malformed headers it may be ambiguous where the next request begins, so the connection is
 * closed after the answer. */
static bool check_form(request *r, const headers *h, const char *version)
{
    const char *reason = headers_error(h, strcmp(version, "HTTP/1.1") == 0);
    if (reason == NULL && r->target.ptr != NULL)
        return true;
    r->answer.close = true;
    if (reason != NULL)
        return http_error_send(r, HTTP_ERROR_BAD_REQUEST, NULL, "%s", reason);
    return http_error_send_no_memory(r);
}

/* Answers 404. `hint` is from the table ROUTE_HINTS; "": the answer has no hint. For any other
 * `hint`, if the path without its final slash has a route, the hint names that route. */
static void answer_unknown_path(request *r, const char *hint)
{
    route_match match;
    url_path file = r->path;
    buf text = BUF_INIT(256);
    file.folder = false;
    route_find(&match, ROUTES, r->method, &file);
    if (hint != NULL && *hint == '\0') {
        hint = NULL;
    } else if (match.route != NULL) {
        buf_printf(&text, "did you mean %s %s?", match.route->method, match.route->pattern);
        hint = arena_copy(&r->memory, buf_as_slice(&text));
    }
    http_error_send_unknown_path(r, hint);
    buf_free(&text);
}

static bool is_probe(const request *r)
{
    slice path, query;
    target_split(r->target, &path, &query);
    return slice_equal(path, SLICE("/healthz")) || slice_equal(path, SLICE("/health")) ||
           slice_equal(path, SLICE("/readyz"));
}

/* A reserved connection serves one request, which must be a health check without a body. */
static bool check_reserved(request *r, const client *c)
{
    r->answer.close = r->answer.close || c->reserved;
    bool has_body = r->headers.chunked || r->headers.length > 0;
    if (!c->reserved || (is_probe(r) && !has_body))
        return true;
    return http_error_send(r, HTTP_ERROR_CONNECTIONS_FULL, "retry later",
                           "other clients use all connections (see --connections-max)");
}

/* Prevents DNS rebinding on a server without authentication. If the host name of a web page
 * resolves to this machine, a browser lets the page read answers, but the Host header has the
 * page's name and is rejected. Health checks may have any Host. */
static bool check_host(request *r, const headers *h)
{
    const host_rules *rules = &r->server->hosts;
    slice authority = target_authority(r->target);
    if (!rules->checked || is_probe(r))
        return true;
    if (host_is_accepted(rules, h->host) &&
        (authority.ptr == NULL || host_is_accepted(rules, authority)))
        return true;
    return http_error_send(
        r, HTTP_ERROR_MISDIRECTED,
        "send the request to localhost or to the address of --listen; the operator "
        "allows other names and addresses with --allow-host NAME",
        "this server asks for no token, and accepts requests for its own hosts only");
}

static bool check_path(request *r)
{
    const char *reason, *hint;
    slice raw;
    char allow[ROUTE_ALLOW_SIZE];
    target_split(r->target, &raw, &r->query);
    switch (path_decode(&r->path, raw, &r->memory, &reason)) {
    case PATH_OK:
        break;
    case PATH_UNKNOWN:
        return http_error_send_unknown_path(
            r, "the path has an empty segment, or too many segments: a slash in an id is written "
               "%2F");
    case PATH_MALFORMED:
        return http_error_send(r, HTTP_ERROR_BAD_REQUEST, NULL, "%s", reason);
    case PATH_NOMEM:
        return http_error_send_no_memory(r);
    }
    route_find(&r->match, ROUTES, r->method, &r->path);
    if (r->match.route != NULL) {
        r->scope = ability_scope(r);
        return true;
    }
    hint = route_hint_of(ROUTE_HINTS, r->method, &r->path);
    if (!r->match.path_known) {
        answer_unknown_path(r, hint);
        return false;
    }
    route_allow(allow, ROUTES, &r->path);
    http_error_send(r, HTTP_ERROR_METHOD, hint, "this path takes %s", allow);
    request_header(r, "Allow", arena_copy(&r->memory, slice_of(allow)));
    return false;
}

static bool is_change(const request *r)
{
    return r->scope == SCOPE_WRITE || r->scope == SCOPE_TASKS ||
           (r->scope == SCOPE_ADMIN && r->match.route->method[0] != 'G');
}

static bool check_writable(request *r)
{
    if (!r->server->set->read_only || !is_change(r))
        return true;
    return http_error_send(r, HTTP_ERROR_FORBIDDEN,
                           "send the request to a server without --read-only",
                           "this server accepts no writes");
}

static bool check_conditions(request *r, const headers *h)
{
    const route *to = r->match.route;
    const char *ignored = NULL;
    if (!is_change(r))
        return true;
    if (h->none_match.count > 0)
        ignored = "If-None-Match";
    else if (h->if_match.ptr != NULL && (to->takes & TAKES_IF_MATCH) == 0)
        ignored = "If-Match";
    else if (h->idempotency_key.ptr != NULL && (to->takes & TAKES_KEY) == 0)
        ignored = "Idempotency-Key";
    if (ignored == NULL)
        return true;
    return http_error_send(
        r, HTTP_ERROR_BAD_REQUEST,
        "If-Match: appends, replacements of boxes, moves of heads; Idempotency-Key: appends and "
        "other "
        "writes that GET /openapi.json lists; abilities accept both as members of their input",
        "this operation does not accept the header %s", ignored);
}

static bool check_origin(request *r, const headers *h)
{
    if (!is_change(r) || !headers_is_foreign(h))
        return true;
    return http_error_send(r, HTTP_ERROR_FORBIDDEN, "send a token, or omit the Origin header",
                           "a web page of another site may not write to this server");
}

static bool check_lsn(request *r, const headers *h)
{
    if (h->lsn.ptr == NULL || r->match.route->class != CLASS_READ ||
        headers_read_lsn(h->lsn, &r->at_least))
        return true;
    return http_error_send(r, HTTP_ERROR_BAD_REQUEST,
                           "send the Cardbox-Lsn of the answer to your last write, or omit it",
                           "Cardbox-Lsn must be a single position in the database's log, such as "
                           "16/B374D848");
}

static bool check_tenant(request *r)
{
    if (!route_is_of_project(r->match.route) || slice_is_id(request_tenant(r), CARDBOX_TENANT_MAX))
        return true;
    return http_error_send(r, HTTP_ERROR_BAD_REQUEST, NULL,
                           "a project is 1 to %d bytes of text without control characters",
                           CARDBOX_TENANT_MAX);
}

static bool refuse_type(request *r, const char *type)
{
    char hint[80];
    snprintf(hint, sizeof(hint), "send the header \"Content-Type: %s\"", type);
    return http_error_send(r, HTTP_ERROR_MEDIA_TYPE, hint, "the body must be %s%s", type,
                           r->headers.encoded ? " without a content encoding" : "");
}

static bool refuse_large(request *r)
{
    r->answer.close = true;
    return http_error_send_over_limit(r, "the body", r->server->set->body_max, "--body-max",
                                      "send fewer objects at once; one large object needs a "
                                      "larger --body-max");
}

static bool reserve_body(request *r, size_t more)
{
    if (request_reserve_body(r, more))
        return true;
    return http_error_send(r, HTTP_ERROR_BODIES_FULL, "retry later, or send a smaller body",
                           "bodies of other requests use all memory for bodies (see --memory-max)");
}

/* The body of a route with ROUTE_STREAM is NDJSON or JSON, and may have any length. A route with
 * ROUTE_NO_BODY ignores a body of any type. */
static bool check_body(request *r, const headers *h)
{
    const settings *set = r->server->set;
    if (r->match.route->body == ROUTE_STREAM)
        return ((headers_is_json(h) || headers_is_ndjson(h)) && !h->encoded) ||
               refuse_type(r, "application/x-ndjson");
    if (h->length > (uint64_t)set->body_max)
        return refuse_large(r);
    if (r->match.route->body == ROUTE_NO_BODY)
        return true;
    if (!headers_is_json(h) || h->encoded)
        return refuse_type(r, "application/json");
    return h->length == 0 || reserve_body(r, (size_t)h->length);
}

/* The body of a rejected request is still read, unless it is too large, the client waits for 100
 * Continue, or the headers are malformed. Many clients read the answer only after they have sent
 * the body, and libmicrohttpd would close the connection if an answer came before. */
enum MHD_Result http_begin(exchange *x, const char *method, const char *version)
{
    request *r = &x->request;
    const headers *h = &r->headers;
    x->begun = true;
    r->method = method;
    MHD_get_connection_values_n(x->connection, MHD_HEADER_KIND, add_header, &r->headers);
    set_id(x);
    /* libmicrohttpd 0.9.75 accepts a chunk whose line ends with a bare LF, and does not report it.
     * Other programs may disagree about the end of such a body. */
    r->answer.close = h->chunked;
    bool formed = check_form(r, h, version);
    if (formed && check_reserved(r, x->client) && check_host(r, h) && check_path(r) &&
        auth_check(r, h) && check_writable(r) && check_origin(r, h) && check_conditions(r, h) &&
        check_lsn(r, h) && check_tenant(r) && check_body(r, h)) {
        if (r->match.route->body == ROUTE_STREAM)
            r->match.route->handle(r);
        if (r->state == REQUEST_ARRIVING)
            return MHD_YES;
    }
    bool readable = formed && !h->expects && !x->client->reserved &&
                    h->length <= (uint64_t)r->server->set->body_max * DRAIN_FACTOR;
    return readable ? MHD_YES : http_send(x);
}

/* --- the body --- */

/* Passes a part of a streamed body to the sink. If the request was answered already, drops the
 * part: many clients read the answer only after they have sent the whole body. */
static enum MHD_Result receive_stream(exchange *x, slice piece, size_t *left)
{
    request *r = &x->request;
    size_t taken = r->state == REQUEST_ANSWERED ? piece.len : r->sink->take(r, piece);
    int64_t now_ms = clock_ms();
    x->received += taken;
    *left = piece.len - taken;
    client_set_state(x->client, CLIENT_SENDING, now_ms);
    if (x->received - x->paced >= PACE_LEAST) {
        x->paced = x->received;
        x->client->since_ms = now_ms;
    }
    if (*left > 0) {
        client_set_state(x->client, CLIENT_WAITING, now_ms);
        http_suspend(x);
    }
    return MHD_YES;
}

static enum MHD_Result receive_whole(exchange *x, slice piece)
{
    request *r = &x->request;
    uint64_t most = (uint64_t)r->server->set->body_max;
    x->received += piece.len;
    if (x->received > most * DRAIN_FACTOR)
        return MHD_NO;
    if (r->state == REQUEST_ANSWERED)
        return MHD_YES;
    if (x->received > most) {
        request_drop_body(r);
        refuse_large(r);
    } else if (r->match.route->body == ROUTE_JSON && reserve_body(r, piece.len)) {
        buf_slice(&r->body, piece);
    }
    return MHD_YES;
}

enum MHD_Result http_receive(exchange *x, slice piece, size_t *left)
{
    http_note_pending(x->http);
    *left = 0;
    return x->request.sink != NULL ? receive_stream(x, piece, left) : receive_whole(x, piece);
}

static void handle_in_thread(request *r, void *arg)
{
    (void)arg;
    r->match.route->handle(r);
}

void http_work(exchange *x)
{
    request *r = &x->request;
    request_set_state(r, REQUEST_WORKING);
    if (r->sink != NULL)
        r->sink->end(r);
    else if (!buf_ok(&r->body))
        http_error_send_no_memory(r);
    else if (r->body.len >= JOB_BODY_LEAST)
        jobs_add(r, JOB_COMPUTE, handle_in_thread, NULL, NULL);
    else
        r->match.route->handle(r);
}
