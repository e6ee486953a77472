/*
 * stream_preview.c: collects the text of a message that is being generated and publishes it at most
 * ten times a second. If publishing fails, the text is dropped, because the whole message is saved
 * later.
 */
#include "worker/agent/stream_preview.h"
#include "base/clock.h"
#include "cardbox/ids.h"

enum { PUBLISH_MS = 100, PENDING_MAX = 1024 * 1024 };

void stream_preview_begin(stream_preview *p, cardbox *db, const task_lease *lease)
{
    *p = (stream_preview){
        .db = db, .lease = lease, .published_ms = clock_ms(), .pending = BUF_INIT(PENDING_MAX)};
    cardbox_uuid7(p->message_id);
}

void stream_preview_free(stream_preview *p)
{
    buf_free(&p->pending);
}

void stream_preview_add(stream_preview *p, slice text)
{
    buf_slice(&p->pending, text);
}

bool stream_preview_publish(stream_preview *p)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    cardbox_status status = CARDBOX_OK;
    int64_t now = clock_ms();

    if (p->pending.len == 0 || now - p->published_ms < PUBLISH_MS)
        return true;
    p->published_ms = now;
    if (buf_ok(&p->pending)) {
        buf token = BUF_INIT((size_t)6 * PENDING_MAX + 2);
        buf_json_string(&token, buf_as_slice(&p->pending));
        status = work_chunk(p->db, p->lease, slice_of(p->message_id), ++p->number,
                            buf_as_slice(&token), &err);
        buf_free(&token);
    }
    buf_reset(&p->pending, SIZE_MAX);
    return status != CARDBOX_CONFLICT;
}
