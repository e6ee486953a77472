/*
 * boxes.c: reads of boxes: the ids of one, the cards of one, many with or without cards. What the
 * client wants of each box is a box_read; box_view.c makes JSON of the rows.
 */
#include "server/handlers.h"
#include "base/uuid.h"
#include "server/box_stream.h"

/* What the reads of one box take; whatever else stands in the query is ignored. */
enum { Q_AT_VERSION, Q_AT_LENGTH, Q_AT_TIME, Q_LIMIT, Q_COUNT };

static const field QUERY[Q_COUNT] = {
    [Q_AT_VERSION] = {"at_version", FIELD_INTEGER, .least = 1, .most = INT64_MAX},
    [Q_AT_LENGTH] = {"at_length", FIELD_INTEGER, .least = 0, .most = INT64_MAX},
    [Q_AT_TIME] = {.name = "at_time", .kind = FIELD_TIME},
    [Q_LIMIT] = {"limit", FIELD_LIMIT, .least = LIMIT_LEAST, .most = LIMIT_MOST},
};

static void not_found(request *r)
{
    fault_answer(r, FAULT_NOT_FOUND, NULL, "box not found");
}

/* Which moment the query names. False: several; answered. */
static bool read_moment(request *r, box_read *read, const field_value *query)
{
    if (query[Q_AT_VERSION].given + query[Q_AT_LENGTH].given + query[Q_AT_TIME].given > 1) {
        fault_answer_shape(r, VIEW("{\"type\":\"value_error\",\"loc\":[\"query\"],\"msg\":"
                                   "\"Give one of at_version, at_length and at_time\"}"));
        return false;
    }
    if (query[Q_AT_VERSION].given)
        read->at_version = query[Q_AT_VERSION].number;
    if (query[Q_AT_LENGTH].given)
        read->at_length = query[Q_AT_LENGTH].number;
    read->at_time = query[Q_AT_TIME].given;
    read->at_micros = query[Q_AT_TIME].number;
    return true;
}

/* Reads of the box in the path: first as of the moment that the query names, if it names one; last
 * as it is now. *count is 1 or 2. NULL: answered. */
static box_read *reads_of_path(request *r, const field_value *query, size_t *count)
{
    box_read *reads = handler_take(r, 2, sizeof(*reads));
    if (reads == NULL)
        return NULL;
    reads[1] = (box_read)BOX_READ_INIT;
    reads[1].tenant = request_tenant(r);
    reads[1].most = 0;
    reads[0] = reads[1];
    reads[0].most = -1;
    if (!read_moment(r, &reads[0], query))
        return NULL;
    if (!uuid16_parse(&reads[0].box_id, r->match.params[1])) {
        not_found(r);
        return NULL;
    }
    reads[1].box_id = reads[0].box_id;
    bool earlier = reads[0].at_version >= 0 || reads[0].at_length >= 0 || reads[0].at_time;
    *count = earlier ? 2 : 1;
    return reads;
}

static void join(request *r, const box_read *reads, size_t count, size_t weight, join_render render)
{
    r->ticket = (join_ticket){
        .lane = JOIN_BOXES, .keys = reads, .count = count, .weight = weight, .render = render};
    joiner_add(r->joiner, r);
}

/* The one box that a request is about. False: answered. */
static bool open_one(request *r, const join_rows *found, box_view *box)
{
    if (!box_view_open(box, found, 0, &r->memory)) {
        fault_answer(r, FAULT_UNAVAILABLE, NULL, "out of memory");
        return false;
    }
    if (box->exists)
        return true;
    /* The second read says whether it is the box or the moment that is missing. */
    if (r->ticket.count > 1 && found->start[1] < found->start[2])
        fault_answer(r, FAULT_NOT_FOUND, "the box's log says what there was and when",
                     "the box was never as it is asked for");
    else
        not_found(r);
    return false;
}

/* --- the ids of one --- */

static void render_box(request *r, const join_rows *found)
{
    const box_read *read = r->ticket.keys;
    box_view box;
    if (!open_one(r, found, &box))
        return;
    if (box.head.before < box.head.length) {
        box_stream_answer(r, &box, read);
        return;
    }
    if (!handler_check_budget(r, found, r->ticket.count, BOX_COLUMNS))
        return;
    box_view_object(request_body(r), &box, &read->box_id);
    request_tag(r, box.head.version);
    fault_or_answer(r);
}

void handle_box(request *r)
{
    size_t count;
    field_value *query = handler_read_query(r, QUERY, Q_LIMIT, true);
    box_read *reads = query == NULL ? NULL : reads_of_path(r, query, &count);
    if (reads == NULL)
        return;
    reads->most = BOX_STREAM_PAGE;
    join(r, reads, count, count, render_box);
}

/* --- the cards of one --- */

static void render_box_cards(request *r, const join_rows *found)
{
    buf *out = request_body(r);
    box_view box;
    char *missing = handler_take(r, 1, 24);
    if (missing == NULL || !handler_check_budget(r, found, r->ticket.count, BOX_COLUMNS) ||
        !open_one(r, found, &box))
        return;
    buf_char(out, '[');
    snprintf(missing, 24, "%zu", box_view_cards(out, &box, request_tenant(r)));
    buf_char(out, ']');
    request_header(r, "Cardbox-Missing", missing);
    request_tag(r, 0);
    fault_or_answer(r);
}

void handle_box_cards(request *r)
{
    size_t count;
    field_value *query = handler_read_query(r, QUERY, Q_COUNT, true);
    box_read *reads = query == NULL ? NULL : reads_of_path(r, query, &count);
    if (reads == NULL)
        return;
    reads->want = BOX_WANT_CARDS;
    reads->tail = query[Q_LIMIT].given ? query[Q_LIMIT].number : LIMIT_DEFAULT;
    join(r, reads, count, (size_t)reads->tail, render_box_cards);
}

/* --- many --- */

static const body_shape BOXES_SHAPE = {"box_ids", true};

/* What is written one after the other ends up in three lists. */
typedef struct boxes_lists {
    buf *boxes;
    buf missing_boxes;
    missing_cards cards;
} boxes_lists;

static bool render_one_of_batch(request *r, const join_rows *found, size_t key, const body_id *id,
                                boxes_lists *lists)
{
    const body_batch *batch = r->plan;
    const box_read *reads = r->ticket.keys;
    box_view box = {.exists = false};
    if (id->is_uuid && !box_view_open(&box, found, key, &r->memory))
        return false;
    if (!box.exists) {
        buf_text(&lists->missing_boxes, lists->missing_boxes.len == 0 ? "" : ",");
        buf_view(&lists->missing_boxes, id->token);
        return true;
    }
    box_view_of_batch(lists->boxes, &box, &reads[key].box_id, batch->hydrate ? &lists->cards : NULL,
                      request_tenant(r));
    return true;
}

static void render_batch(request *r, const join_rows *found)
{
    const body_batch *batch = r->plan;
    buf *out = request_body(r);
    boxes_lists lists = {out, BUF_INIT(out->max), {.ids = BUF_INIT(out->max)}};
    bool fine = true;
    size_t key = 0;

    if (!handler_check_budget(r, found, r->ticket.count, BOX_COLUMNS))
        return;
    idset_init(&lists.cards.seen, &r->memory);
    buf_text(out, "{\"boxes\":[");
    for (size_t i = 0; fine && i < batch->count; i++) {
        fine = render_one_of_batch(r, found, key, &batch->ids[i], &lists);
        key += batch->ids[i].is_uuid;
    }
    buf_text(out, "],\"missing_box_ids\":[");
    buf_view(out, (view){buf_str(&lists.missing_boxes), lists.missing_boxes.len});
    buf_text(out, "],\"missing_card_ids\":[");
    buf_view(out, (view){buf_str(&lists.cards.ids), lists.cards.ids.len});
    buf_text(out, "]}");
    if (!fine || lists.cards.nomem || !buf_ok(&lists.missing_boxes))
        out->failure = BUF_NOMEM;
    else if (!buf_ok(&lists.cards.ids))
        out->failure = lists.cards.ids.failure;
    buf_free(&lists.missing_boxes);
    buf_free(&lists.cards.ids);
    fault_or_answer(r);
}

static void fill_reads(const request *r, const body_batch *batch, box_read *reads, size_t *count)
{
    for (size_t i = 0; i < batch->count; i++) {
        box_read *read = &reads[*count];
        if (!batch->ids[i].is_uuid)
            continue;
        *read = (box_read)BOX_READ_INIT;
        read->tenant = request_tenant(r);
        uuid16_parse(&read->box_id, batch->ids[i].text);
        read->skip = batch->hydrate ? -1 : 0;
        read->tail = batch->hydrate ? batch->limit : -1;
        read->want = batch->hydrate ? BOX_WANT_ALL_IDS | BOX_WANT_CARDS : BOX_WANT_IDS;
        (*count)++;
    }
}

void handle_boxes_batch(request *r)
{
    body_batch *batch = handler_read_batch(r, &BOXES_SHAPE);
    box_read *reads = batch == NULL ? NULL : handler_take(r, batch->count, sizeof(*reads));
    size_t count = 0;
    if (reads == NULL)
        return;
    fill_reads(r, batch, reads, &count);
    r->plan = batch;
    join(r, reads, count, batch->hydrate ? count * (size_t)batch->limit : count, render_batch);
}
