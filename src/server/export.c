/*
 * export.c: GET .../export. The store's exporter runs in a thread, in one snapshot; its lines go
 * out as fast as the client reads, and no faster.
 */
#include <stdio.h>
#include "server/handlers.h"
#include "server/transfers.h"
#include "store/transfer/transfer.h"

enum {
    GATHER = 32 * 1024 /* bytes that go to the loop at once: small lines would wake it often */
};

typedef struct exporting {
    transfer transfer;
    buf gathered;
    uint64_t total; /* lines; there once it has begun */
    char lines[24]; /* the same as text */
} exporting;

/* --- in the thread --- */

static bool hand_over(exporting *e)
{
    bool taken = buf_ok(&e->gathered) &&
                 ring_put(e->transfer.ring, (view){buf_str(&e->gathered), e->gathered.len});
    buf_reset(&e->gathered, 2 * (size_t)GATHER);
    return taken;
}

static bool take_piece(void *arg, view piece, const export_counts *counts)
{
    exporting *e = arg;
    if (piece.len == 0) {
        e->total = counts->total;
        transfer_begun(&e->transfer);
        return true;
    }
    if (piece.len >= GATHER) /* not copied once more */
        return hand_over(e) && ring_put(e->transfer.ring, piece);
    buf_view(&e->gathered, piece);
    return e->gathered.len < GATHER || hand_over(e);
}

static cardbox_status run(transfer *t)
{
    exporting *e = (exporting *)t;
    e->gathered = BUF_INIT(4 * (size_t)GATHER);
    cardbox_status status = export_run(t->db, t->tenant, take_piece, e, &t->err);
    if (status == CARDBOX_OK && !hand_over(e))
        status = CARDBOX_UNAVAILABLE; /* nobody reads it any more */
    return status;
}

static void clear(transfer *t)
{
    buf_free(&((exporting *)t)->gathered);
}

/* --- on the loop --- */

static stream_state peek(request *r, view *piece)
{
    transfer *t = r->plan;
    transfer_stand stand = transfer_stands(t); /* before the ring: what it put there is all */
    if (t->aborted)
        return STREAM_BROKEN;
    *piece = ring_peek(t->ring);
    if (piece->len > 0)
        return STREAM_PIECE;
    if (stand.over)
        return stand.status == CARDBOX_OK ? STREAM_END : STREAM_BROKEN;
    t->waits = true;
    t->excused = true;
    return STREAM_WAIT;
}

static void took(request *r, size_t len)
{
    transfer *t = r->plan;
    t->moved += len;
    ring_took(t->ring, len);
}

static const answer_stream STREAM = {peek, took};

static void start_answer(exporting *e, request *r)
{
    snprintf(e->lines, sizeof(e->lines), "%llu", (unsigned long long)e->total);
    request_header(r, "Cardbox-Lines", e->lines);
    r->answer.status = 200;
    r->answer.type = "application/x-ndjson";
    r->answer.stream = &STREAM;
    request_move(r, REQUEST_ANSWERED);
}

static void look(transfer *t)
{
    request *r = t->request;
    transfer_stand stand = transfer_stands(t);
    if (r->state == REQUEST_SUSPENDED) {
        if (t->aborted || (stand.over && !stand.begun))
            transfer_answer_failed(t);
        else if (stand.begun)
            start_answer((exporting *)t, r);
    } else if (stand.over || ring_is_ready(t->ring)) {
        transfer_resume(t);
    }
}

void handle_export(request *r)
{
    static const transfer_kind_of KIND = {sizeof(exporting), run, look, clear};
    if (transfer_start(r, &KIND) != NULL)
        request_move(r, REQUEST_SUSPENDED);
}
