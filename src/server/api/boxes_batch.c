/*
 * boxes_batch.c: reads many boxes, with or without their cards. PostgreSQL returns most cards in
 * the order of the answer. If the statement carries no other request, a card that is next in the
 * answer is written when its row arrives, and the rows of other cards are kept. So the server works
 * at the same time as PostgreSQL, and does not hold all rows of a large answer.
 */
#include "server/api/box_query.h"

static const body_rules BOXES_SHAPE = {"box_ids", true};

typedef struct row_list {
    box_row *row;
    size_t count, room;
} row_list;

/* A box of the request, and the rows that have arrived for it. */
typedef struct batch_box {
    bool exists;
    box_head head;
    row_list runs;
    row_list early;  /* cards that arrived before they are next in the answer */
    int64_t arrived; /* number of rows with cards that have arrived */
} batch_box;

typedef struct batch_answer {
    const body_ids *body;
    const box_read *reads;
    batch_box *boxes;
    size_t box_count;
    size_t at, key; /* indexes in body->ids and in `boxes` of the box that is written next */
    size_t written; /* number of boxes written so far */
    bool open;      /* the JSON of the box at `at` is begun but not complete */
    int64_t next;   /* position in the box of the next card to write */
    int32_t kind;   /* kind of the last row that arrived */
    size_t bytes;   /* bytes of the rows that arrived one by one */
    buf missing_boxes;
    buf missing_cards;
    idset seen;        /* ids in missing_cards */
    store_rows **kept; /* rows that arrived one by one and are still needed */
    size_t kept_count, kept_room;
    arena memory;     /* freed when the answer is begun again */
    bool kinds_mixed; /* rows came in another order than heads, ids, cards */
    buf_failure failure;
} batch_answer;

/* --- rows that are kept --- */

static void reset_answer(batch_answer *a)
{
    for (size_t i = 0; i < a->kept_count; i++)
        rows_free(a->kept[i]);
    a->kept_count = 0;
    buf_free(&a->missing_boxes);
    buf_free(&a->missing_cards);
    arena_reset(&a->memory);
}

static void drop_answer(void *plan)
{
    reset_answer(plan);
}

static bool set_failure(batch_answer *a, buf_failure why)
{
    if (a->failure == BUF_FINE)
        a->failure = why;
    return false;
}

static bool list_add(batch_answer *a, row_list *list, const box_row *row)
{
    box_row *more = arena_more(&a->memory, list->row, list->count, &list->room, sizeof(*more));
    if (more == NULL)
        return set_failure(a, BUF_NOMEM);
    list->row = more;
    list->row[list->count++] = *row;
    return true;
}

static bool keep_row(batch_answer *a, store_rows *rows)
{
    store_rows **more =
        arena_more(&a->memory, a->kept, a->kept_count, &a->kept_room, sizeof(store_rows *));
    if (more == NULL)
        return set_failure(a, BUF_NOMEM);
    a->kept = more;
    a->kept[a->kept_count++] = rows;
    return true;
}

/* --- the answer --- */

static void note_missing(batch_answer *a, slice id)
{
    if (id.ptr == NULL) /* the list of the box contains null instead of an id */
        return;
    slice copy = {arena_copy(&a->memory, id), id.len};
    idset_found found = copy.ptr == NULL ? IDSET_NOMEM : idset_add(&a->seen, copy);
    if (found == IDSET_NOMEM)
        set_failure(a, BUF_NOMEM);
    if (found != IDSET_NEW)
        return;
    buf_text(&a->missing_cards, a->missing_cards.len == 0 ? "" : ",");
    buf_json_string(&a->missing_cards, id);
}

static void write_card(request *r, batch_answer *a, const box_row *card)
{
    if (!box_view_card(request_body(r), card, request_tenant(r)))
        note_missing(a, rows_text(card->rows, card->row, BOX_COL_CARD));
}

/* Writes the id of a box, its list of ids and the start of its list of cards. Called after all rows
 * with ids have arrived. */
static void begin_box(request *r, batch_answer *a, batch_box *box)
{
    buf *out = request_body(r);
    box_rows_sort(box->runs.row, box->runs.count);
    box_view ids = {.head = box->head, .runs = box->runs.row, .run_count = box->runs.count};
    buf_text(out, a->written++ == 0 ? "" : ",");
    box_view_start(out, &a->reads[a->key].box_id);
    box_view_all_ids(out, &ids);
    buf_text(out, a->body->hydrate ? "],\"hydrated_cards\":[" : "]");
    a->next = box->head.first;
    a->open = true;
}

static void end_box(request *r, batch_answer *a, batch_box *box)
{
    box_rows_sort(box->early.row, box->early.count);
    for (size_t i = 0; i < box->early.count; i++)
        write_card(r, a, &box->early.row[i]);
    buf_text(request_body(r), a->body->hydrate ? "]}" : "}");
}

static bool has_all(const batch_answer *a, const batch_box *box)
{
    return !a->body->hydrate || box->arrived >= box->head.before - box->head.first;
}

/* Writes boxes up to the first box whose cards have not all arrived. `all`: no more rows will
 * arrive, so all boxes are written. */
static void write_boxes(request *r, batch_answer *a, bool all)
{
    for (; a->at < a->body->count; a->at++) {
        const body_id *id = &a->body->ids[a->at];
        batch_box *box = &a->boxes[a->key];
        if (!id->is_uuid || !box->exists) {
            buf_text(&a->missing_boxes, a->missing_boxes.len == 0 ? "" : ",");
            buf_slice(&a->missing_boxes, id->token);
        } else {
            if (!a->open)
                begin_box(r, a, box);
            if (!all && !has_all(a, box))
                return;
            end_box(r, a, box);
        }
        a->key += id->is_uuid;
        a->open = false;
    }
}

/* --- rows --- */

/* Writes the card if it is next in the answer, or else adds it to `early`. Returns true if the
 * caller must keep the card's row. */
static bool add_card(request *r, batch_answer *a, size_t key, const box_row *card)
{
    batch_box *box = &a->boxes[key];
    bool now;
    if (!a->open)
        write_boxes(r, a, false);
    now = a->open && key == a->key && box->early.count == 0 && card->pos == a->next;
    box->arrived++;
    if (now) {
        write_card(r, a, card);
        a->next++;
    } else if (!list_add(a, &box->early, card)) {
        return false;
    }
    if (a->open && key == a->key && has_all(a, box))
        write_boxes(r, a, false);
    return !now;
}

/* Processes one row. Normally all heads of boxes arrive first, then all rows with ids, then all
 * cards. `key`: index in `boxes` of the box that the row belongs to. Returns true if the caller
 * must keep the row. */
static bool add_box_row(request *r, batch_answer *a, size_t key, const store_rows *rows, int row)
{
    int32_t kind = rows_int4(rows, row, BOX_COL_KIND);
    box_row here = {box_position(rows, row), rows, row};
    if (key >= a->box_count || kind < a->kind) {
        a->kinds_mixed = true;
        return false;
    }
    a->kind = kind;
    if (kind == BOX_CARD)
        return add_card(r, a, key, &here);
    if (kind == BOX_IDS)
        return list_add(a, &a->boxes[key].runs, &here);
    box_head_read(&a->boxes[key].head, rows, row);
    a->boxes[key].exists = true;
    return false;
}

static void begin_answer(request *r)
{
    batch_answer *a = r->plan;
    buf *out = request_large_body(r);
    reset_answer(a);
    *a = (batch_answer){.body = a->body,
                        .reads = a->reads,
                        .box_count = a->box_count,
                        .missing_boxes = BUF_INIT(out->max),
                        .missing_cards = BUF_INIT(out->max),
                        .memory = ARENA_INIT};
    a->boxes = arena_zeros(&a->memory, a->box_count + 1, sizeof(*a->boxes));
    idset_init(&a->seen, &a->memory);
    if (a->boxes == NULL)
        set_failure(a, BUF_NOMEM);
    buf_reset(out, out->cap);
    buf_text(out, "{\"boxes\":[");
}

static bool has_not_failed(request *r, batch_answer *a)
{
    return a->failure == BUF_FINE && buf_ok(request_body(r));
}

/* Called for each row when it arrives, if the statement carries no other request. */
static bool take_row(request *r, store_rows *row)
{
    batch_answer *a = r->plan;
    size_t key = (size_t)rows_int8(row, 0, BOX_COL_ORD) - 1;
    a->bytes += rows_bytes_of(row, 0);
    if (a->bytes > request_body(r)->max)
        set_failure(a, BUF_TOO_LARGE);
    bool kept = has_not_failed(r, a) && add_box_row(r, a, key, row, 0) && keep_row(a, row);
    if (!kept)
        rows_free(row);
    return has_not_failed(r, a);
}

static void add_lists(request *r, batch_answer *a)
{
    buf *out = request_body(r);
    buf_text(out, "],\"missing_box_ids\":[");
    buf_slice(out, buf_as_slice(&a->missing_boxes));
    buf_text(out, "],\"missing_card_ids\":[");
    buf_slice(out, buf_as_slice(&a->missing_cards));
    buf_text(out, "]}");
    set_failure(a, a->missing_boxes.failure);
    set_failure(a, a->missing_cards.failure);
}

/* Completes the answer. If `kinds_mixed` is true, the statement is sent again instead, and its rows
 * are processed when all have arrived. */
static void end_answer(request *r)
{
    batch_answer *a = r->plan;
    if (a->kinds_mixed) {
        r->ticket.stream = NULL;
        batcher_add(r->batcher, r);
        return;
    }
    if (has_not_failed(r, a)) {
        write_boxes(r, a, true);
        add_lists(r, a);
    }
    if (a->failure != BUF_FINE)
        request_body(r)->failure = a->failure;
    reset_answer(a);
    request_finish(r);
}

static void render_kind(request *r, const batch_rows *found, int32_t kind)
{
    for (size_t key = 0; key < r->ticket.count; key++) {
        for (int i = found->start[key]; i < found->start[key + 1]; i++) {
            if (rows_int4(found->rows, found->row[i], BOX_COL_KIND) == kind &&
                has_not_failed(r, r->plan))
                add_box_row(r, r->plan, key, found->rows, found->row[i]);
        }
    }
}

/* Called when all rows have arrived. The statement may carry other requests too. */
static void boxes_get_response(request *r, const batch_rows *found)
{
    if (!handler_check_budget(r, found, r->ticket.count))
        return;
    begin_answer(r);
    for (int32_t kind = BOX_HEAD; kind <= BOX_CARD; kind++)
        render_kind(r, found, kind);
    end_answer(r);
}

/* --- the request --- */

static void fill_reads(const request *r, const body_ids *body, box_read *reads, size_t *count)
{
    for (size_t i = 0; i < body->count; i++) {
        box_read *read = &reads[*count];
        if (!body->ids[i].is_uuid)
            continue;
        *read = (box_read)BOX_READ_INIT;
        read->tenant = request_tenant(r);
        uuid16_parse(&read->box_id, body->ids[i].text);
        read->skip = body->hydrate ? -1 : 0;
        read->tail = body->hydrate ? body->limit : -1;
        read->want = body->hydrate ? BOX_WANT_ALL_IDS | BOX_WANT_CARDS : BOX_WANT_IDS;
        (*count)++;
    }
}

void handle_boxes_get(request *r)
{
    static const batch_stream STREAM = {begin_answer, take_row, end_answer};
    body_ids *body = handler_read_body_ids(r, &BOXES_SHAPE);
    box_read *reads = body == NULL ? NULL : handler_take(r, body->count, sizeof(*reads));
    batch_answer *a = reads == NULL ? NULL : handler_take(r, 1, sizeof(*a));
    if (a == NULL)
        return;
    fill_reads(r, body, reads, &a->box_count);
    a->body = body;
    a->reads = reads;
    a->memory = ARENA_INIT;
    r->plan = a;
    r->drop_plan = drop_answer;
    r->ticket =
        (batch_ticket){.kind = BATCH_BOXES,
                       .keys = reads,
                       .count = a->box_count,
                       .weight = body->hydrate ? a->box_count * (size_t)body->limit : a->box_count,
                       .render = boxes_get_response,
                       .stream = &STREAM};
    batcher_add(r->batcher, r);
}
