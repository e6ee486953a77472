/*
 * boxes.c: reads of boxes: the ids of one, the cards of one, many with or without cards. What the
 * client wants of each box is a box_read; box_view.c makes JSON of the rows.
 */
#include "server/box_query.h"
#include "server/box_stream.h"

enum { Q_OFFSET = BOX_AT_FIELDS, Q_LIMIT, Q_COUNT };

/* What the reads of one box take; whatever else stands in the query is ignored. */
static const field QUERY[Q_COUNT] = {
    [BOX_AT_VERSION] = BOX_AT_VERSION_FIELD,
    [BOX_AT_LENGTH] = BOX_AT_LENGTH_FIELD,
    [BOX_AT_TIME] = BOX_AT_TIME_FIELD,
    [Q_OFFSET] = {"offset", FIELD_INTEGER, .least = 0, .most = INT64_MAX},
    [Q_LIMIT] = {"limit", FIELD_LIMIT, .least = LIMIT_LEAST, .most = LIMIT_MOST},
};

/* --- the ids of one --- */

/* A part of the ids that the client asked for; no more than that is read. */
static bool is_page(const box_read *read)
{
    return read->most < BOX_STREAM_PAGE;
}

static void set_page(box_read *read, const field_value *query)
{
    read->skip = query[Q_OFFSET].number;
    read->most = query[Q_LIMIT].given ? query[Q_LIMIT].number : LIMIT_DEFAULT;
}

static void render_box(request *r, const join_rows *found)
{
    const box_read *read = r->ticket.keys;
    box_view box;
    if (!box_query_open(r, found, &box))
        return;
    if (box.head.before < box.head.length && !is_page(read)) {
        box_stream_answer(r, &box, read);
        return;
    }
    if (!handler_check_budget(r, found, r->ticket.count))
        return;
    box_view_object(request_body(r), &box, &read->box_id);
    request_tag(r, box.head.version);
    fault_or_answer(r);
}

void handle_box(request *r)
{
    size_t count;
    field_value *query = handler_read_query(r, QUERY, Q_LIMIT, true);
    if (query != NULL && query[Q_OFFSET].given) /* else a limit is a parameter like any other */
        query = handler_read_query(r, QUERY, Q_COUNT, true);
    box_read *reads = query == NULL ? NULL : box_query_reads(r, query, &count);
    if (reads == NULL)
        return;
    reads->most = BOX_STREAM_PAGE;
    if (query[Q_OFFSET].given)
        set_page(reads, query);
    box_query_join(r, reads, count, count, render_box);
}

/* --- the cards of one --- */

static void render_box_cards(request *r, const join_rows *found)
{
    buf *out = request_body(r);
    box_view box;
    char *missing = handler_take(r, 1, 24);
    if (missing == NULL || !handler_check_budget(r, found, r->ticket.count) ||
        !box_query_open(r, found, &box))
        return;
    buf_char(out, '[');
    snprintf(missing, 24, "%zu", box_view_cards(out, &box, request_tenant(r), NULL, NULL));
    buf_char(out, ']');
    request_header(r, "Cardbox-Missing", missing);
    request_tag(r, 0);
    fault_or_answer(r);
}

void handle_box_cards(request *r)
{
    size_t count;
    field_value *query = handler_read_query(r, QUERY, Q_COUNT, true);
    box_read *reads = query == NULL ? NULL : box_query_reads(r, query, &count);
    if (reads == NULL)
        return;
    reads->want = BOX_WANT_CARDS;
    set_page(reads, query);
    if (!query[Q_OFFSET].given)
        reads->tail = reads->most;
    box_query_join(r, reads, count, (size_t)reads->most, render_box_cards);
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

    if (!handler_check_budget(r, found, r->ticket.count))
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
    box_query_join(r, reads, count, batch->hydrate ? count * (size_t)batch->limit : count,
                   render_batch);
}
