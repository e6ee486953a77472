/*
 * http_stream.c: bodies that are produced while they are sent. libmicrohttpd requests the next
 * bytes after it has passed the earlier bytes to the kernel.
 */
#include "server/net/http_internal.h"

enum {
    BLOCK = 16 * 1024,     /* maximum number of bytes that libmicrohttpd requests at once */
    GZIP_STEP = 64 * 1024, /* maximum number of bytes that are compressed in one step */
};

/* Sets `*piece` to the next bytes of the body. If the query of a stream has failed, the request has
 * the state REQUEST_ANSWERED, and the connection is closed, because the status of the answer was
 * sent before. */
static stream_state peek_body(exchange *x, slice *piece)
{
    request *r = &x->request;
    if (r->answer.stream == NULL) {
        slice text = answer_text(&r->answer);
        *piece = (slice){text.ptr + x->sent, text.len - x->sent};
        return piece->len > 0 ? STREAM_PIECE : STREAM_END;
    }
    return r->state == REQUEST_ANSWERED ? STREAM_BROKEN : r->answer.stream->peek(r, piece);
}

static void consume(exchange *x, size_t len)
{
    x->sent += len;
    if (x->request.answer.stream != NULL)
        x->request.answer.stream->took(&x->request, len);
}

/* Compresses the beginning of `piece` to `out`. Returns the number of bytes written, which may be 0
 * although bytes of `piece` were used. */
static size_t compress_some(exchange *x, slice piece, char *out, size_t size_max)
{
    size_t len = piece.len < GZIP_STEP ? piece.len : GZIP_STEP;
    slice step = {piece.ptr, len};
    size_t written = gzip_some(x->gzip, &step, piece.len == 0, out, size_max, &x->ended);
    consume(x, len - step.len);
    return written;
}

static ssize_t next_bytes(void *arg, uint64_t position, char *out, size_t size_max)
{
    exchange *x = arg;
    size_t written = 0;
    (void)position;
    http_note_pending(x->http);
    while (written == 0 && !x->ended) {
        slice piece = {NULL, 0};
        stream_state state = peek_body(x, &piece);
        if (state == STREAM_WAIT) {
            http_suspend(x);
            return 0;
        }
        if (state == STREAM_BROKEN)
            return MHD_CONTENT_READER_END_WITH_ERROR;
        if (x->gzip != NULL)
            written = compress_some(x, piece, out, size_max);
        else if (state == STREAM_END)
            x->ended = true;
        else {
            written = piece.len < size_max ? piece.len : size_max;
            memcpy(out, piece.ptr, written);
            consume(x, written);
        }
    }
    tally_add(&x->request.stats->body_bytes_out, written);
    return written > 0 ? (ssize_t)written : (ssize_t)MHD_CONTENT_READER_END_OF_STREAM;
}

/* If a response to HEAD were chunked, libmicrohttpd would send the last chunk, which the client
 * would read as the next response. So a response to HEAD is not chunked, and the connection is
 * closed after it. */
struct MHD_Response *http_stream(exchange *x, bool gzip)
{
    if (gzip)
        x->gzip = gzip_new();
    if (gzip && x->gzip == NULL)
        return NULL;
    struct MHD_Response *response =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, next_bytes, x, NULL);
    if (response != NULL && strcmp(x->request.method, MHD_HTTP_METHOD_HEAD) == 0)
        MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
    return response;
}
