/*
 * http_stream.c: bodies that are made while they are sent: the library asks for the next bytes when
 * the client has taken those before, so nothing is made that nobody reads.
 */
#include "server/http_exchange.h"

enum {
    BLOCK = 16 * 1024,     /* bytes that the library asks for at once, at most */
    GZIP_STEP = 64 * 1024, /* bytes compressed at once: others wait meanwhile */
};

/* What comes next; empty: all of it was taken. */
static view next_piece(exchange *x)
{
    const answer *a = &x->request.answer;
    view text = a->fixed.ptr != NULL ? a->fixed : (view){buf_str(&a->body), a->body.len};
    return (view){text.ptr + x->sent, text.len - x->sent};
}

static ssize_t next_bytes(void *arg, uint64_t position, char *out, size_t room)
{
    exchange *x = arg;
    size_t written = 0;
    (void)position;
    while (written == 0 && !x->ended) {
        view piece = next_piece(x);
        size_t len = piece.len < GZIP_STEP ? piece.len : GZIP_STEP;
        view step = {piece.ptr, len};
        written = squeeze_some(x->gzip, &step, len == piece.len, out, room, &x->ended);
        x->sent += len - step.len;
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
