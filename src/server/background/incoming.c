/*
 * incoming.c: the body of a request, from the loop through the bounded_pipe to a thread.
 */
#include "server/background/incoming.h"

#include <errno.h>

/* --- in the thread --- */

ssize_t incoming_read(void *arg, char *to, size_t room)
{
    ssize_t len = bounded_pipe_take(arg, to, room);
    if (len < 0)
        errno = ECANCELED;
    return len;
}

/* --- on the loop --- */

/* After the transfer has ended the rest of the body is ignored: the answer waits for its end. */
static size_t receive_body(request *r, slice part)
{
    transfer *t = r->plan;
    if (t->aborted || transfer_state_of(t).over)
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
    transfer_state state = transfer_state_of(t);
    bool open = r->state == REQUEST_ARRIVING || r->state == REQUEST_SUSPENDED;
    if (open && t->aborted)
        transfer_answer_failed(t);
    else if (open && state.over && state.status != CARDBOX_OK)
        stopped(t);
    else if (r->state == REQUEST_SUSPENDED && state.over)
        done(t, r);
    if (state.over || bounded_pipe_is_ready(t->bounded_pipe))
        transfer_resume(t);
}
