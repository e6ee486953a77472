/*
 * transfer_streams.c: passes bodies of any length through a bounded_pipe. The body of an import
 * goes from the client to the thread of the transfer, and the answer of an export from the thread
 * to the client.
 */
#include <errno.h>
#include "server/background/transfers.h"

enum {
    /* size of the parts in which an answer is passed to the loop, so that the loop is not woken for
     * each line */
    CHUNK_BYTES = 32 * 1024
};

/* --- a request's body --- */

ssize_t incoming_read(void *arg, char *to, size_t room)
{
    ssize_t len = bounded_pipe_take(arg, to, room);
    if (len < 0)
        errno = ECANCELED;
    return len;
}

static size_t receive_body(request *r, slice part)
{
    transfer *t = r->plan;
    if (t->aborted || atomic_load(&t->over))
        return part.len;
    size_t accepted = bounded_pipe_offer(t->bounded_pipe, part);
    t->waits = accepted < part.len;
    return accepted;
}

static void end_body(request *r)
{
    transfer *t = r->plan;
    bounded_pipe_end(t->bounded_pipe);
    request_set_state(r, REQUEST_SUSPENDED);
}

const request_sink INCOMING_SINK = {receive_body, end_body};

void incoming_update(transfer *t, void (*done)(transfer *t, request *r),
                     void (*stopped)(transfer *t))
{
    request *r = t->request;
    bool over = atomic_load(&t->over);
    bool open = r->state == REQUEST_ARRIVING || r->state == REQUEST_SUSPENDED;
    if (open && t->aborted)
        transfer_answer_failed(t);
    else if (open && over && t->status != CARDBOX_OK)
        stopped(t);
    else if (r->state == REQUEST_SUSPENDED && over)
        done(t, r);
    if (over || bounded_pipe_is_ready(t->bounded_pipe))
        transfer_resume(t);
}

/* --- an answer --- */

static bool send_chunk(outgoing *o)
{
    transfer_begin_answer(&o->transfer);
    bool taken =
        buf_ok(&o->chunk) && bounded_pipe_put(o->transfer.bounded_pipe, buf_as_slice(&o->chunk));
    buf_reset(&o->chunk, 2 * (size_t)CHUNK_BYTES);
    return taken;
}

bool outgoing_put(outgoing *o, slice piece)
{
    o->chunk.max = 4 * (size_t)CHUNK_BYTES;
    if (piece.len >= CHUNK_BYTES)
        return send_chunk(o) && bounded_pipe_put(o->transfer.bounded_pipe, piece);
    buf_slice(&o->chunk, piece);
    return o->chunk.len < CHUNK_BYTES || send_chunk(o);
}

cardbox_status outgoing_end(outgoing *o, cardbox_status status)
{
    if (status != CARDBOX_OK)
        return status;
    return send_chunk(o) ? CARDBOX_OK : CARDBOX_UNAVAILABLE;
}

void outgoing_clear(transfer *t)
{
    buf_free(&((outgoing *)t)->chunk);
}

static stream_state peek(request *r, slice *piece)
{
    transfer *t = r->plan;
    bool over = atomic_load(&t->over);
    if (t->aborted)
        return STREAM_BROKEN;
    *piece = bounded_pipe_peek(t->bounded_pipe);
    if (piece->len > 0)
        return STREAM_PIECE;
    if (over)
        return t->status == CARDBOX_OK ? STREAM_END : STREAM_BROKEN;
    t->waits = true;
    return STREAM_WAIT;
}

static void took(request *r, size_t len)
{
    transfer *t = r->plan;
    t->moved += len;
    bounded_pipe_took(t->bounded_pipe, len);
}

void outgoing_update(transfer *t, void (*head)(outgoing *o, request *r))
{
    static const answer_stream STREAM = {peek, took};
    request *r = t->request;
    bool over = atomic_load(&t->over), begun = atomic_load(&t->begun);
    if (r->state != REQUEST_SUSPENDED) {
        if (over || bounded_pipe_is_ready(t->bounded_pipe))
            transfer_resume(t);
    } else if (t->aborted || (over && !begun)) {
        transfer_answer_failed(t);
    } else if (begun) {
        if (head != NULL)
            head((outgoing *)t, r);
        r->answer.status = 200;
        r->answer.type = "application/x-ndjson";
        r->answer.stream = &STREAM;
        request_set_state(r, REQUEST_ANSWERED);
    }
}
