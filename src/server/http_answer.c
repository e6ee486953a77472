/*
 * http_answer.c: an answer goes out, as one buffer with its headers, which the library sends in one
 * piece and then frees. It must not look into the answer.
 */
#include <stdio.h>
#include <stdlib.h>
#include "base/log.h"
#include "server/http_exchange.h"

static struct MHD_Response *make_response(request *r)
{
    answer *a = &r->answer;
    size_t len = a->fixed.ptr != NULL ? a->fixed.len : a->body.len;
    if (strcmp(r->method, "HEAD") != 0)
        tally_add(&r->stats->body_bytes_out, len);
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
    const char *type = r->answer.type == NULL ? "application/json" : r->answer.type;
    char id[256];
    snprintf(id, sizeof(id), "%.*s", (int)r->id.len, r->id.ptr);
    bool fine = MHD_add_response_header(response, "Date", date_now(x->http)) == MHD_YES &&
                MHD_add_response_header(response, "Content-Type", type) == MHD_YES &&
                MHD_add_response_header(response, "X-Request-Id", id) == MHD_YES;
    for (size_t i = 0; fine && i < r->answer.headers; i++)
        fine = MHD_add_response_header(response, r->answer.header[i].name,
                                       r->answer.header[i].value) == MHD_YES;
    if (fine && close)
        fine = MHD_add_response_header(response, "Connection", "close") == MHD_YES;
    return fine;
}

enum MHD_Result http_send(exchange *x)
{
    request *r = &x->request;
    enum MHD_Result queued = MHD_NO;
    struct MHD_Response *response = make_response(r);
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
