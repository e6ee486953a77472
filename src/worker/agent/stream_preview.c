/*
 * stream_preview.c: gathers pieces of text and shows them ten times a second at most. What can't be
 * shown is dropped: the message itself comes later, whole.
 */
#include "worker/agent/stream_preview.h"
#include "base/clock.h"
#include "cardbox/ids.h"

enum { SHOW_MS = 100, WAITING_MAX = 1024 * 1024 };

void stream_preview_begin(stream_preview *c, cardbox *db, const task_lease *lease)
{
    *c = (stream_preview){
        .db = db, .lease = lease, .shown_ms = clock_ms(), .waiting = BUF_INIT(WAITING_MAX)};
    cardbox_uuid7(c->message_id);
}

void stream_preview_free(stream_preview *c)
{
    buf_free(&c->waiting);
}

void stream_preview_add(stream_preview *c, slice text)
{
    buf_slice(&c->waiting, text);
}

bool stream_preview_show(stream_preview *c)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_status status = CARDBOX_OK;
    int64_t now = clock_ms();

    if (c->waiting.len == 0 || now - c->shown_ms < SHOW_MS)
        return true;
    c->shown_ms = now;
    if (buf_ok(&c->waiting)) {
        buf token = BUF_INIT((size_t)6 * WAITING_MAX + 2);
        buf_json_string(&token, buf_as_slice(&c->waiting));
        status = work_chunk(c->db, c->lease, slice_of(c->message_id), ++c->number,
                            buf_as_slice(&token), &err);
        buf_free(&token);
    }
    buf_reset(&c->waiting, SIZE_MAX);
    return status != CARDBOX_CONFLICT;
}
