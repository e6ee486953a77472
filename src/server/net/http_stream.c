/*
 * http_stream.c: bodies that are made while they are sent: the library asks for the next bytes when
 * the client has taken those before, so nothing is made that nobody reads.
 */
#include "server/net/http_internal.h"

enum {
    BLOCK = 16 * 1024,     /* bytes that the library asks for at once, at most */
    GZIP_STEP = 64 * 1024, /* bytes compressed at once: others wait meanwhile */
};

/* A body that is there already goes in steps. */
static stream_state peek_text(exchange *x, slice *piece)
{
    slice text = answer_text(&x->request.answer);
    *piece = (slice){text.ptr + x->sent, text.len - x->sent};
    return piece->len > 0 ? STREAM_PIECE : STREAM_END;
}

/* A stream that had to ask the database may have got a http_error instead: too late for an answer.
 */
static stream_state peek(exchange *x, slice *piece)
{
    request *r = &x->request;
    if (r->answer.stream == NULL)
        return peek_text(x, piece);
    return r->state == REQUEST_ANSWERED ? STREAM_BROKEN : r->answer.stream->peek(r, piece);
}

static void took(exchange *x, size_t len)
{
    x->sent += len;
    if (x->request.answer.stream != NULL)
        x->request.answer.stream->took(&x->request, len);
}

/* Bytes of a piece as they are. */
static size_t copy(exchange *x, slice piece, char *out, size_t room)
{
    size_t len = piece.len < room ? piece.len : room;
    memcpy(out, piece.ptr, len);
    took(x, len);
    return len;
}

/* Bytes of a piece in gzip; there may be none although it took some. */
static size_t pack(exchange *x, slice piece, char *out, size_t room)
{
    size_t len = piece.len < GZIP_STEP ? piece.len : GZIP_STEP;
    slice step = {piece.ptr, len};
    size_t written = gzip_some(x->gzip, &step, piece.len == 0, out, room, &x->ended);
    took(x, len - step.len);
    return written;
}

static ssize_t next_bytes(void *arg, uint64_t position, char *out, size_t room)
{
    exchange *x = arg;
    size_t written = 0;
    (void)position;
    http_more(x->http);
    while (written == 0 && !x->ended) {
        slice piece = {NULL, 0};
        stream_state state = peek(x, &piece);
        if (state == STREAM_WAIT) {
            http_suspend(x);
            return 0;
        }
        if (state == STREAM_BROKEN)
            return MHD_CONTENT_READER_END_WITH_ERROR;
        if (x->gzip != NULL)
            written = pack(x, piece, out, room);
        else if (state == STREAM_END)
            x->ended = true;
        else
            written = copy(x, piece, out, room);
    }
    tally_add(&x->request.stats->body_bytes_out, written);
    return written > 0 ? (ssize_t)written : (ssize_t)MHD_CONTENT_READER_END_OF_STREAM;
}

/* To HEAD the library would send the chunk that ends a body, which the client would take for the
 * next answer. So there is to be no word of chunks, and the end of the connection. */
struct MHD_Response *http_stream(exchange *x)
{
    struct MHD_Response *response =
        MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, BLOCK, next_bytes, x, NULL);
    if (response != NULL && strcmp(x->request.method, MHD_HTTP_METHOD_HEAD) == 0)
        MHD_set_response_options(response, MHD_RF_HTTP_1_0_COMPATIBLE_STRICT, MHD_RO_END);
    return response;
}
