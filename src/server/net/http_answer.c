/*
 * http_answer.c: sends answers. libmicrohttpd sends most answers with one system call. Streams and
 * large answers with gzip are produced while they are sent.
 */
#include <stdlib.h>
#include <sys/socket.h>
#include "app/log.h"
#include "server/net/http_internal.h"
#include "server/response/response_format.h"

enum {
    /* bodies below this size are not compressed, because that costs more than it saves */
    GZIP_LEAST = 4 * 1024,
    GZIP_AT_ONCE = 64 * 1024, /* bodies above this size are compressed in several steps */
    OK = 200,
    NOT_MODIFIED = 304
};

/* The status, content coding and ETag of an answer, which depend on the headers of the request. */
typedef struct shown {
    unsigned status;
    bool gzip;
    bool varies;          /* the answer depends on Accept-Encoding */
    char etag[ETAG_SIZE]; /* empty: none */
} shown;

/* --- the form --- */

static shown choose_form(const exchange *x)
{
    const request *r = &x->request;
    const answer *a = &r->answer;
    slice text = answer_text(a);
    shown out = {.status = a->status};
    out.varies =
        a->unchanged ? a->varies : (a->stream != NULL && !a->plain) || text.len >= GZIP_LEAST;
    out.gzip = out.varies && codings_gzip(&r->headers.codings);
    if (!a->tagged || a->status != OK)
        return out;
    if (a->card_etag != 0)
        etag_make_card(out.etag, a->card_etag, out.varies);
    else
        etag_make(out.etag, a->tagged_by.ptr != NULL ? a->tagged_by : text, a->version);
    if (a->unchanged || none_match_has(&r->headers.none_match, out.etag))
        out.status = NOT_MODIFIED;
    if (out.gzip)
        etag_mark_gzip(out.etag);
    return out;
}

/* --- the response --- */

static void count_bytes(exchange *x, size_t len)
{
    if (strcmp(x->request.method, MHD_HTTP_METHOD_HEAD) != 0)
        tally_add(&x->request.stats->body_bytes_out, len);
}

/* Makes a response of `text`, which libmicrohttpd need not copy, because it is static or belongs to
 * the request. */
static struct MHD_Response *respond_fixed(exchange *x, slice text)
{
    count_bytes(x, text.len);
    /* libmicrohttpd does not write to the text, but its parameter is not const. */
    return MHD_create_response_from_buffer(text.len, (void *)(uintptr_t)text.ptr,
                                           MHD_RESPMEM_PERSISTENT);
}

static struct MHD_Response *respond_in_gzip(exchange *x, slice text)
{
    http *h = x->http;
    size_t len = 0;
    if (text.len > GZIP_AT_ONCE)
        return http_stream(x, true);
    if (h->gzip == NULL)
        h->gzip = gzip_new();
    if (h->gzip == NULL)
        return NULL;
    char *packed = gzip_all(h->gzip, text, &len);
    if (packed == NULL)
        return NULL;
    count_bytes(x, len);
    struct MHD_Response *response =
        MHD_create_response_from_buffer(len, packed, MHD_RESPMEM_MUST_FREE);
    if (response == NULL)
        free(packed);
    return response;
}

static struct MHD_Response *make_response(exchange *x, const shown *as)
{
    const answer *a = &x->request.answer;
    if (as->status == NOT_MODIFIED)
        return respond_fixed(x, SLICE(""));
    if (a->stream != NULL)
        return http_stream(x, as->gzip);
    if (as->gzip && a->packed.ptr != NULL)
        return respond_fixed(x, a->packed);
    if (as->gzip)
        return respond_in_gzip(x, answer_text(a));
    return respond_fixed(x, answer_text(a));
}

/* --- its headers --- */

/* Returns the value of the header Date, which is formatted at most once a second. */
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

static bool add_header(struct MHD_Response *response, const char *name, const char *value)
{
    return value == NULL || MHD_add_response_header(response, name, value) == MHD_YES;
}

static bool add_headers(struct MHD_Response *response, exchange *x, const shown *as)
{
    request *r = &x->request;
    bool close = r->answer.close || atomic_load(&r->server->stop) != STOP_NOT;
    bool whole = as->status != NOT_MODIFIED;
    const char *type = r->answer.type == NULL ? "application/json" : r->answer.type;
    const char *id = arena_copy(&r->memory, r->id);
    bool fine = id != NULL && add_header(response, "Date", date_now(x->http)) &&
                add_header(response, "Content-Type", whole ? type : NULL) &&
                add_header(response, "Content-Encoding", whole && as->gzip ? "gzip" : NULL) &&
                add_header(response, "Vary", as->varies ? "Accept-Encoding" : NULL) &&
                add_header(response, "ETag", as->etag[0] != '\0' ? as->etag : NULL) &&
                add_header(response, "X-Request-Id", id) &&
                add_header(response, "Cardbox-Lsn", r->lsn[0] != '\0' ? r->lsn : NULL) &&
                add_header(response, "Connection", close ? "close" : NULL);
    for (size_t i = 0; fine && i < r->answer.headers; i++)
        fine = add_header(response, r->answer.header[i].name, r->answer.header[i].value);
    return fine;
}

enum MHD_Result http_send(exchange *x)
{
    request *r = &x->request;
    enum MHD_Result queued = MHD_NO;
    shown as = choose_form(x);
    struct MHD_Response *response = make_response(x, &as);
    if (response == NULL || !add_headers(response, x, &as))
        goto done;
    queued = MHD_queue_response(x->connection, as.status, response);
    r->answer.status = as.status;
    http_note_pending(x->http);
    if (queued == MHD_YES)
        request_set_state(r, REQUEST_SENDING);
done:
    if (queued != MHD_YES)
        log_error("answer_lost", "request=%.*s reason=\"out of memory\"", (int)r->id.len,
                  r->id.ptr);
    if (response != NULL)
        MHD_destroy_response(response);
    return queued;
}
