/*
 * net.c: POST through libcurl's multi interface, since only that lets a thread look around while it
 * waits. Redirects are not followed: a body with a conversation goes where the operator said.
 */
#include "worker/model/net.h"
#include <curl/curl.h>
#include <stdlib.h>
#include "base/clock.h"
#include "worker/format_line.h"

enum {
    LOOK_MS = 50,    /* between two looks at `stop` and the clock */
    LINGER_MS = 500, /* for the end of an answer that has said all */
    IDLE_CONNECTIONS = 4
};

struct net {
    CURLM *multi;
    CURL *easy;
};

/* A request under way. */
typedef struct exchange {
    const net_request *request;
    CURL *easy;
    int64_t heard_ms;  /* when the last bytes came or went */
    int64_t end_ms;    /* the deadline for all */
    int64_t enough_ms; /* until when the end is waited for; 0: more is wanted */
    curl_off_t moved;
    bool is_refused;
    net_answer *out;
} exchange;

bool net_global_init(void)
{
    return curl_global_init(CURL_GLOBAL_DEFAULT) == CURLE_OK;
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

bool net_is_url(const char *url)
{
    CURLU *handle = curl_url();
    char *scheme = NULL, *host = NULL;
    bool good = handle != NULL && curl_url_set(handle, CURLUPART_URL, url, 0) == CURLUE_OK &&
                curl_url_get(handle, CURLUPART_SCHEME, &scheme, 0) == CURLUE_OK &&
                curl_url_get(handle, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
                (strcmp(scheme, "http") == 0 || strcmp(scheme, "https") == 0) && host[0] != '\0';

    curl_free(scheme);
    curl_free(host);
    curl_url_cleanup(handle);
    return good;
}

static size_t take_body(char *bytes, size_t size, size_t count, void *arg)
{
    exchange *x = arg;
    long status = 0;

    if (x->enough_ms > 0)
        return size * count;
    curl_easy_getinfo(x->easy, CURLINFO_RESPONSE_CODE, &status);
    switch (x->request->sink(x->request->arg, status, (slice){bytes, size * count})) {
    case NET_MORE:
        break;
    case NET_ENOUGH:
        x->enough_ms = clock_ms() + LINGER_MS;
        break;
    case NET_REFUSE:
        x->is_refused = true;
        return CURL_WRITEFUNC_ERROR;
    }
    return size * count;
}

/* Hears every byte, headers and comments of a stream too: silence is when nothing comes at all. */
static int note_progress(void *arg, curl_off_t total_in, curl_off_t in, curl_off_t total_out,
                         curl_off_t sent)
{
    exchange *x = arg;

    (void)total_in;
    (void)total_out;
    if (in + sent != x->moved)
        x->heard_ms = clock_ms();
    x->moved = in + sent;
    return 0;
}

/* NULL: out of memory. */
static struct curl_slist *list_headers(const net_request *request)
{
    /* libcurl would wait for a 100 before long bodies, which few of these servers send. */
    struct curl_slist *list = curl_slist_append(NULL, "Expect:");

    for (size_t i = 0; i < NET_HEADERS_MAX && request->headers[i] != NULL && list != NULL; i++) {
        struct curl_slist *longer = curl_slist_append(list, request->headers[i]);
        if (longer == NULL)
            curl_slist_free_all(list);
        list = longer;
    }
    return list;
}

static void prepare(exchange *x, struct curl_slist *headers, char *error)
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
    curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, take_body);
    curl_easy_setopt(easy, CURLOPT_WRITEDATA, x);
    curl_easy_setopt(easy, CURLOPT_XFERINFOFUNCTION, note_progress);
    curl_easy_setopt(easy, CURLOPT_XFERINFODATA, x);
    curl_easy_setopt(easy, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, error);
    curl_easy_setopt(easy, CURLOPT_USERAGENT, "cardbox-worker");
}

/* Whether to break off, and then the end that it is. */
static bool is_over(exchange *x)
{
    int64_t now = clock_ms();
    net_answer *out = x->out;

    if (x->request->stop != NULL && atomic_load(x->request->stop) != 0) {
        out->end = NET_STOPPED;
        format_line(out->error, sizeof(out->error), "stopped");
    } else if (x->enough_ms > 0 && now >= x->enough_ms) {
        out->end = NET_ANSWERED;
    } else if (now >= x->end_ms) {
        out->end = NET_TIMEOUT;
        format_line(out->error, sizeof(out->error), "no complete answer within %ld ms",
                    x->request->total_ms);
    } else if (now - x->heard_ms >= x->request->idle_ms) {
        out->end = NET_TIMEOUT;
        format_line(out->error, sizeof(out->error), "nothing came for %ld ms", x->request->idle_ms);
    } else {
        return false;
    }
    return true;
}

static net_end end_of(CURLcode code)
{
    switch (code) {
    case CURLE_OK:
        return NET_ANSWERED;
    case CURLE_OPERATION_TIMEDOUT:
        return NET_TIMEOUT;
    case CURLE_UNSUPPORTED_PROTOCOL:
    case CURLE_URL_MALFORMAT:
    case CURLE_OUT_OF_MEMORY:
    case CURLE_PEER_FAILED_VERIFICATION:
    case CURLE_SSL_CACERT_BADFILE:
        return NET_UNUSABLE;
    default:
        return NET_UNREACHABLE;
    }
}

/* What libcurl says of a transfer that has come to an end by itself. */
static void take_result(exchange *x, CURLcode code, const char *error)
{
    net_answer *out = x->out;

    out->end = end_of(code);
    if (code != CURLE_OK && x->enough_ms > 0)
        out->end = NET_ANSWERED;
    else if (x->is_refused)
        out->end = NET_REFUSED;
    if (out->end != NET_ANSWERED)
        format_line(out->error, sizeof(out->error), "%s",
                    error[0] != '\0' ? error : curl_easy_strerror(code));
}

static void run(exchange *x, CURLM *multi, const char *error)
{
    int running = 1, left;

    while (running > 0) {
        if (curl_multi_perform(multi, &running) != CURLM_OK)
            break;
        if (running > 0 && is_over(x))
            return;
        if (running > 0)
            curl_multi_poll(multi, NULL, 0, LOOK_MS, NULL);
        if (running > 0 && x->request->tick != NULL)
            x->request->tick(x->request->arg);
    }
    for (CURLMsg *m = curl_multi_info_read(multi, &left); m != NULL;
         m = curl_multi_info_read(multi, &left))
        if (m->msg == CURLMSG_DONE && m->easy_handle == x->easy)
            take_result(x, m->data.result, error);
}

void net_post(net_answer *out, net *n, const net_request *request)
{
    char error[CURL_ERROR_SIZE] = "";
    curl_off_t after = 0;
    struct curl_slist *headers = list_headers(request);
    int64_t now = clock_ms();

    *out = (net_answer){.end = NET_UNUSABLE};
    format_line(out->error, sizeof(out->error), "out of memory");
    if (headers == NULL)
        return;
    exchange x = {request, n->easy, now, now + request->total_ms, 0, 0, false, out};
    prepare(&x, headers, error);
    if (curl_multi_add_handle(n->multi, n->easy) == CURLM_OK) {
        run(&x, n->multi, error);
        curl_easy_getinfo(n->easy, CURLINFO_RESPONSE_CODE, &out->status);
        if (curl_easy_getinfo(n->easy, CURLINFO_RETRY_AFTER, &after) == CURLE_OK)
            out->retry_after_s = after < 86400 ? (long)after : 86400;
        curl_multi_remove_handle(n->multi, n->easy);
    }
    curl_easy_reset(n->easy);
    curl_slist_free_all(headers);
}
