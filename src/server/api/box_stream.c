/*
 * box_stream.c: sends a long box in pages of ids. The next page is read when the bytes of the
 * previous page were sent. All pages are read at one version of the box, so they form one list.
 */
#include "server/api/box_stream.h"
#include "server/auth/auth.h"
#include "server/api/box_query.h"
#include "store/box/box_load.h"

typedef struct box_stream {
    box_read read; /* the parameters for reading the next page */
    box_read last; /* the parameters for reading the last id */
    int64_t length;
    int64_t created_micros, updated_micros;
    size_t at;   /* number of bytes of the page that were sent */
    slice frame; /* the JSON of the box without its ids */
    slice end;   /* the part of `frame` after the ids */
} box_stream;

static bool has_more(const box_stream *s)
{
    return s->read.skip < s->length;
}

static void add_page(request *r, box_stream *s, const box_view *box)
{
    box_view_ids(request_body(r), box);
    s->read.skip = box->head.before;
    int64_t left = s->length - s->read.skip;
    s->read.most = left < BOX_STREAM_PAGE ? left : BOX_STREAM_PAGE;
    if (!has_more(s))
        buf_slice(request_body(r), s->end);
}

/* False if the box was deleted and another box with the same id was created: the times of the two
 * boxes differ. */
static bool is_same(const box_stream *s, const box_head *now)
{
    return now->created_micros == s->created_micros && now->updated_micros == s->updated_micros;
}

/* True if the rows contain all ids that were requested. In a damaged box, some may be missing. */
static bool is_all(const box_read *read, const box_view *box)
{
    return box->head.first == read->skip && box->head.before == read->skip + read->most &&
           box_view_is_whole(box);
}

static void page_response(request *r, const batch_rows *found)
{
    box_stream *s = r->plan;
    arena memory = ARENA_INIT;
    box_view box;
    buf *out = request_body(r);
    buf_reset(out, out->cap);
    s->at = 0;
    if (!box_query_view(&box, found, &memory))
        out->failure = BUF_NOMEM;
    else if (box.exists && is_same(s, &box.head) && is_all(&s->read, &box))
        add_page(r, s, &box);
    arena_reset(&memory);
    /* `out` is empty if the box was deleted, if another box has its id now, or if ids are missing.
     * An error in the middle of a stream closes the connection. */
    if (buf_ok(out) && out->len > 0)
        request_set_state(r, REQUEST_SENDING);
    else
        http_error_send(r, HTTP_ERROR_NOT_FOUND, NULL, "box not found");
}

static stream_state query_page(request *r, box_stream *s)
{
    if (!auth_is_still_valid(r))
        return STREAM_BROKEN;
    request_set_state(r, REQUEST_WORKING);
    handler_queue_batched(r, BATCH_BOXES, &s->read, 1, 1, page_response);
    return r->state == REQUEST_SUSPENDED ? STREAM_WAIT : STREAM_BROKEN;
}

static stream_state peek_page(request *r, slice *piece)
{
    box_stream *s = r->plan;
    *piece = buf_since(&r->answer.body, s->at);
    if (piece->len > 0)
        return STREAM_PIECE;
    return has_more(s) ? query_page(r, s) : STREAM_END;
}

static void consume_page(request *r, size_t len)
{
    box_stream *s = r->plan;
    s->at += len;
}

/* Writes the JSON of the box without its ids; *before is the length of the part before the ids. The
 * ETag is computed from this text. */
static slice write_frame(request *r, const box_view *box, const box_read *read, size_t *before)
{
    buf frame = BUF_INIT((size_t)r->server->set->response_max);
    box_view_start(&frame, &read->box_id);
    *before = frame.len;
    box_view_end(&frame, &box->head);
    slice text = buf_as_slice(&frame);
    text.ptr = buf_ok(&frame) ? arena_copy(&r->memory, text) : NULL;
    buf_free(&frame);
    return text;
}

/* The last id is read before the first byte is sent, because in a damaged box the stored length may
 * be wrong. */
static void last_id_response(request *r, const batch_rows *found)
{
    static const answer_stream STREAM = {peek_page, consume_page};
    box_stream *s = r->plan;
    arena memory = ARENA_INIT;
    box_view box;
    bool fine = box_query_view(&box, found, &memory);
    bool there = fine && box.exists && is_same(s, &box.head),
         whole = there && is_all(&s->last, &box);
    arena_reset(&memory);
    if (!fine) {
        http_error_send_no_memory(r);
    } else if (!there) {
        http_error_send(r, HTTP_ERROR_NOT_FOUND, NULL, "box not found");
    } else if (!whole) {
        box_stream_refuse(r);
    } else {
        request_tag(r, s->last.at_version);
        r->answer.tagged_by = s->frame;
        r->answer.stream = &STREAM;
        request_finish(r);
    }
}

void box_stream_refuse(request *r)
{
    cardbox_error err = CARDBOX_ERROR_INIT;
    http_error_check(r, box_damaged(&err), &err);
}

void box_stream_answer(request *r, const box_view *first, const box_read *read)
{
    size_t before;
    slice frame = write_frame(r, first, read, &before);
    box_stream *s = handler_take(r, 1, sizeof(*s));
    if (s == NULL)
        return;
    s->read = (box_read)BOX_READ_INIT;
    s->read.tenant = read->tenant;
    s->read.box_id = read->box_id;
    s->read.at_version = first->head.version;
    s->length = first->head.length;
    s->last = s->read;
    s->last.skip = s->length - 1;
    s->last.most = 1;
    s->created_micros = first->head.created_micros;
    s->updated_micros = first->head.updated_micros;
    buf_free(&r->answer.body);
    r->answer.body = BUF_INIT(SIZE_MAX / 4); /* a page */
    if (frame.ptr == NULL) {
        http_error_send_no_memory(r);
        return;
    }
    s->end = (slice){frame.ptr + before, frame.len - before};
    buf_add(request_body(r), frame.ptr, before);
    add_page(r, s, first);
    s->frame = frame;
    r->plan = s;
    r->at_least = REQUEST_AT_PRIMARY; /* a standby may not have the box's version yet */
    handler_queue_batched(r, BATCH_BOXES, &s->last, 1, 1, last_id_response);
}
