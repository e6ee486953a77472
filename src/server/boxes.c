/*
 * boxes.c: reads of boxes: the ids of one, the cards of one, many with or without cards. What the
 * client wants of each box is a box_read; box_view.c makes JSON of the rows.
 */
#include "server/handlers.h"
#include "base/uuid.h"
#include "server/box_view.h"
#include "server/query.h"

static void not_found(request *r)
{
    fault_answer(r, FAULT_NOT_FOUND, NULL, "box not found");
}

/* A read of the box in the path. NULL: answered. */
static box_read *read_of_path(request *r)
{
    uuid16 id;
    if (!uuid16_parse(&id, r->match.params[1])) {
        not_found(r);
        return NULL;
    }
    box_read *read = handler_take(r, 1, sizeof(*read));
    if (read == NULL)
        return NULL;
    *read = (box_read)BOX_READ_INIT;
    read->tenant = request_tenant(r);
    read->box_id = id;
    return read;
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
    if (!handler_check_budget(r, found, 1, BOX_COLUMNS))
        return false;
    if (!box_view_open(box, found, 0, &r->memory)) {
        fault_answer(r, FAULT_UNAVAILABLE, NULL, "out of memory");
        return false;
    }
    if (!box->exists)
        not_found(r);
    return box->exists;
}

/* --- the ids of one --- */

static void render_box(request *r, const join_rows *found)
{
    const box_read *read = r->ticket.keys;
    box_view box;
    if (!open_one(r, found, &box))
        return;
    box_view_object(request_body(r), &box, &read->box_id);
    fault_or_answer(r);
}

void handle_box(request *r)
{
    box_read *read = read_of_path(r);
    if (read == NULL)
        return;
    read->skip = 0;
    join(r, read, 1, 1, render_box);
}

/* --- the cards of one --- */

static void render_box_cards(request *r, const join_rows *found)
{
    buf *out = request_body(r);
    box_view box;
    char *missing = handler_take(r, 1, 24);
    if (missing == NULL || !open_one(r, found, &box))
        return;
    buf_char(out, '[');
    snprintf(missing, 24, "%zu", box_view_cards(out, &box, request_tenant(r)));
    buf_char(out, ']');
    request_header(r, "Cardbox-Missing", missing);
    fault_or_answer(r);
}

/* The limit in the query. False: answered. */
static bool read_limit(request *r, int64_t *limit)
{
    view text = {NULL, 0};
    buf item = BUF_INIT(4096);
    *limit = LIMIT_DEFAULT;
    switch (query_find(&text, r->query, "limit", &r->memory)) {
    case QUERY_ABSENT:
        return true;
    case QUERY_NOMEM:
        fault_answer(r, FAULT_UNAVAILABLE, NULL, "out of memory");
        return false;
    case QUERY_MALFORMED:
        fault_answer(r, FAULT_BAD_REQUEST, NULL, "the query parameter limit is malformed");
        return false;
    case QUERY_FOUND:
        break;
    }
    if (query_integer(text, limit)) {
        *limit = limit_clamp(*limit);
        return true;
    }
    buf_text(&item, "{\"type\":\"int_parsing\",\"loc\":[\"query\",\"limit\"],"
                    "\"msg\":\"Input should be a valid integer\",\"input\":");
    buf_json_string(&item, text);
    buf_char(&item, '}');
    if (buf_ok(&item))
        fault_answer_shape(r, (view){buf_str(&item), item.len});
    else
        fault_answer_shape(r, VIEW("{\"type\":\"int_parsing\",\"loc\":[\"query\",\"limit\"],"
                                   "\"msg\":\"Input should be a valid integer\"}"));
    buf_free(&item);
    return false;
}

void handle_box_cards(request *r)
{
    int64_t limit;
    if (!read_limit(r, &limit))
        return;
    box_read *read = read_of_path(r);
    if (read == NULL)
        return;
    read->want = BOX_WANT_CARDS;
    read->tail = limit;
    join(r, read, 1, (size_t)limit, render_box_cards);
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
