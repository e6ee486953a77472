/*
 * net.c: sends POST requests with libcurl's multi interface, so that the thread can check `stop`
 * while it waits. Redirects are not followed, so that a request goes only to the configured URL.
 */
#include "outbound/net.h"
#include <curl/curl.h>
#include <limits.h>
#include <stdlib.h>
#include <strings.h>
#include <unistd.h>
#include "base/clock.h"
#include "base/text.h"
#include "cardbox/version.h"
#include "outbound/address.h"

enum {
    POLL_MS = 50,     /* maximum wait for bytes between two checks of `stop` and the clock */
    LINGER_MS = 500,  /* maximum wait for the end of an answer after NET_DONE */
    MARGIN_MS = 1000, /* time from the deadline of a client's URL to libcurl's own */
    IDLE_CONNECTIONS = 4
};

struct net {
    CURLM *multi;
    CURL *easy;
};

typedef struct exchange {
    const net_request *request;
    CURL *easy;
    int64_t last_byte_ms;     /* time of the last bytes received or sent */
    int64_t deadline_ms;      /* deadline of the whole request */
    int64_t done_deadline_ms; /* deadline after NET_DONE; 0: the sink has not returned NET_DONE */
    curl_off_t bytes_moved;
    bool is_aborted;
    bool
        is_address_refused; /* an address of the host was not public, so no connection was opened */
    net_answer *out;
} exchange;

static atomic_bool is_exiting; /* set by net_exit */

bool net_global_init(void)
{
    return curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
}

void net_exit(void)
{
    atomic_store(&is_exiting, true);
}

net *net_new(void)
{
    net *n = calloc(1, sizeof(*n));

    if (n == NULL)
        return NULL;
    n->multi = curl_multi_init();
    n->easy = curl_easy_init();
    if (n->multi == NULL || n->easy == NULL) {
        net_free(n);
        return NULL;
    }
    curl_multi_setopt(n->multi, CURLMOPT_MAXCONNECTS, (long)IDLE_CONNECTIONS);
    return n;
}

void net_free(net *n)
{
    if (n == NULL)
        return;
    curl_easy_cleanup(n->easy);
    curl_multi_cleanup(n->multi);
    free(n);
}

/* libcurl accepts other numbers of slashes, and reads the first part of the path as the host. */
static bool begins_host(const char *url)
{
    size_t scheme = strncasecmp(url, "https", 5) == 0 ? 5 : 4;
    return strncasecmp(url, "http", 4) == 0 && strncmp(url + scheme, "://", 3) == 0 &&
           url[scheme + 3] != '/';
}

bool net_is_url(const char *url, bool may_have_user)
{
    CURLU *handle = curl_url();
    char *scheme = NULL, *host = NULL;
    unsigned flags = may_have_user ? 0 : CURLU_DISALLOW_USER;
    bool good = handle != NULL && begins_host(url) &&
                curl_url_set(handle, CURLUPART_URL, url, flags) == CURLUE_OK &&
                curl_url_get(handle, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
                curl_url_get(handle, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
                (strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0) && host[0] != '\0';

    curl_free(scheme);
    curl_free(host);
    curl_url_cleanup(handle);
    return good;
}

static size_t on_body(char *bytes, size_t size, size_t count, void *arg)
{
    exchange *x = arg;
    long status = 0;

    if (x->done_deadline_ms > 0)
        return size * count;
    curl_easy_getinfo(x->easy, CURLINFO_RESPONSE_CODE, &status);
    switch (x->request->sink(x->request->arg, status, (slice){bytes, size * count})) {
    case NET_CONTINUE:
        break;
    case NET_DONE:
        x->done_deadline_ms = clock_ms() + LINGER_MS;
        break;
    case NET_ABORT:
        x->is_aborted = true;
        return CURL_WRITEFUNC_ERROR;
    }
    return size * count;
}

/* Records when bytes were last sent or received. The idle timeout begins at this time. */
static int on_progress(void *arg, curl_off_t total_in, curl_off_t in, curl_off_t total_out,
                       curl_off_t sent)
{
    exchange *x = arg;

    (void)total_in;
    (void)total_out;
    if (in + sent != x->bytes_moved)
        x->last_byte_ms = clock_ms();
    x->bytes_moved = in + sent;
    return 0;
}

/* libcurl calls this for each address that it connects to, after it has resolved the host. */
static curl_socket_t open_public_socket(void *arg, curlsocktype purpose, struct curl_sockaddr *to)
{
    exchange *x = arg;

    (void)purpose;
    if (address_is_public(&to->addr))
        return socket(to->family, to->socktype | SOCK_CLOEXEC, to->protocol);
    x->is_address_refused = true;
    return CURL_SOCKET_BAD;
}

static struct curl_slist *list_headers(const net_request *request)
{
    /* for large bodies, libcurl would wait for status 100, which few servers send */
    struct curl_slist *list = curl_slist_append(NULL, "Expect:");

    for (size_t i = 0; request->headers[i] != NULL && list != NULL; i++) {
        struct curl_slist *longer = curl_slist_append(list, request->headers[i]);
        if (longer == NULL)
            curl_slist_free_all(list);
        list = longer;
    }
    return list;
}

/* Options of a request to a client's URL. A kept connection could send the request twice: libcurl
 * repeats a request if a kept connection breaks before the answer. A proxy would hide the address
 * of the host. */
static void set_client_url_options(exchange *x)
{
    if (!x->request->is_client_url)
        return;
    curl_easy_setopt(x->easy, CURLOPT_PROXY, "");
    curl_easy_setopt(x->easy, CURLOPT_FRESH_CONNECT, 1L);
    curl_easy_setopt(x->easy, CURLOPT_FORBID_REUSE, 1L);
    curl_easy_setopt(x->easy, CURLOPT_CONNECTTIMEOUT_MS, x->request->connect_ms + MARGIN_MS);
    if (x->request->may_be_private)
        return;
    curl_easy_setopt(x->easy, CURLOPT_OPENSOCKETFUNCTION, open_public_socket);
    curl_easy_setopt(x->easy, CURLOPT_OPENSOCKETDATA, x);
}

static void set_options(exchange *x, struct curl_slist *headers, char *error)
{
    CURL *easy = x->easy;
    const net_request *request = x->request;

    curl_easy_reset(easy);
    curl_easy_setopt(easy, CURLOPT_URL, request->url);
    curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
    curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(easy, CURLOPT_HTTPHEADER, headers);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDS, request->body.ptr);
    curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)request->body.len);
    curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, request->connect_ms);
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, x);
    curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(easy, CURLOPT_XFERINFODATA, x);
    curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, error);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "cardbox/" CARDBOX_VERSION);
    /* A request to the operator's URL does not wait for the resolver, which may take long. */
    curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, request->is_client_url ? 0L : 1L);
    set_client_url_options(x);
}

static void set_timeout(exchange *x)
{
    x->out->end = NET_FAILED;
    x->out->is_timeout = true;
    x->out->reason = curl_easy_strerror(CURLE_OPERATION_TIMEDOUT);
}

/* Returns true while libcurl's thread resolves the host of a client's URL. Such a request does not
 * end before that thread: a client with a slow name server could otherwise leave any number of
 * threads behind. So the answer to the client can come later than its deadline. Only if the process
 * ends, it does not wait for the thread. */
static bool must_wait_for_resolver(exchange *x)
{
    curl_off_t resolved_us = 0;

    if (!x->request->is_client_url)
        return false;
    if (atomic_load(&is_exiting)) {
        curl_easy_setopt(x->easy, CURLOPT_QUICK_EXIT, 1L);
        return false;
    }
    curl_easy_getinfo(x->easy, CURLINFO_NAMELOOKUP_TIME_T, &resolved_us);
    if (resolved_us > 0)
        return false;
    /* libcurl's own timeout would wait for the thread without a look at `is_exiting` */
    curl_easy_setopt(x->easy, CURLOPT_CONNECTTIMEOUT_MS, (long)INT_MAX);
    return true;
}

/* Sets the result and returns true if the request must end, whether or not the host is resolved. */
static bool is_over(exchange *x)
{
    int64_t now = clock_ms();
    net_answer *out = x->out;

    if (atomic_load(x->request->stop) != 0) {
        out->end = NET_STOPPED;
    } else if (x->done_deadline_ms > 0) { /* the answer is complete: no other deadline counts */
        out->end = NET_ANSWERED;
        return now >= x->done_deadline_ms;
    } else if (now >= x->deadline_ms) {
        set_timeout(x);
        format_line(out->error, sizeof(out->error), "no complete answer within %ld ms",
                    x->request->total_ms);
    } else if (now - x->last_byte_ms >= x->request->idle_ms) {
        set_timeout(x);
        format_line(out->error, sizeof(out->error), "nothing came for %ld ms", x->request->idle_ms);
    } else {
        return false;
    }
    return true;
}

static bool is_lasting(CURLcode code)
{
    return code == CURLE_UNSUPPORTED_PROTOCOL || code == CURLE_URL_MALFORMAT ||
           code == CURLE_OUT_OF_MEMORY || code == CURLE_PEER_FAILED_VERIFICATION ||
           code == CURLE_SSL_CACERT_BADFILE;
}

static void set_result(exchange *x, CURLcode code, const char *error)
{
    net_answer *out = x->out;

    if (code == CURLE_OK || x->done_deadline_ms > 0) {
        out->end = NET_ANSWERED;
        return;
    }
    out->end = is_lasting(code) || x->is_address_refused ? NET_UNUSABLE : NET_FAILED;
    if (x->is_aborted)
        out->end = NET_ABORTED;
    out->is_timeout = code == CURLE_OPERATION_TIMEDOUT;
    out->reason = x->is_address_refused
                      ? "its host has an address that is not public, which the option "
                        "--abilities-allow-private would allow"
                      : curl_easy_strerror(code);
    format_line(out->error, sizeof(out->error), "%s",
                error[0] != '\0' ? error : curl_easy_strerror(code));
}

static void perform(exchange *x, CURLM *multi, const char *error)
{
    int running = 1, left;

    while (running > 0) {
        if (curl_multi_perform(multi, &running) != CURLM_OK)
            break;
        if (running > 0 && is_over(x) && !must_wait_for_resolver(x))
            return;
        if (running > 0)
            curl_multi_poll(multi, NULL, 0, POLL_MS, NULL);
        if (running > 0 && x->request->on_tick != NULL)
            x->request->on_tick(x->request->arg);
    }
    const CURLMsg *done = curl_multi_info_read(multi, &left); /* there is only one transfer */
    /* a host that was resolved after the deadline, without success, is a timeout too */
    if (done != NULL && (done->data.result == CURLE_OK || !is_over(x)))
        set_result(x, done->data.result, error);
}

void net_post(net_answer *out, net *n, const net_request *request)
{
    char error[CURL_ERROR_SIZE] = "";
    curl_off_t after = 0;
    struct curl_slist *headers = list_headers(request);
    int64_t now = clock_ms();

    *out = (net_answer){.end = NET_UNUSABLE, .reason = "out of memory"};
    format_line(out->error, sizeof(out->error), "%s", out->reason);
    if (headers == NULL)
        return;
    exchange x = {.request = request,
                  .easy = n->easy,
                  .last_byte_ms = now,
                  .deadline_ms = now + request->total_ms,
                  .out = out};
    set_options(&x, headers, error);
    if (curl_multi_add_handle(n->multi, n->easy) == CURLM_OK) {
        perform(&x, n->multi, error);
        curl_easy_getinfo(n->easy, CURLINFO_RESPONSE_CODE, &out->status);
        if (curl_easy_getinfo(n->easy, CURLINFO_RETRY_AFTER, &after) == CURLE_OK)
            out->retry_after_s = after < 86400 ? (long)after : 86400;
        curl_multi_remove_handle(n->multi, n->easy);
    }
    curl_easy_reset(n->easy);
    curl_slist_free_all(headers);
}
