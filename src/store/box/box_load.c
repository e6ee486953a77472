/*
 * box_load.c: cardbox_load_box(), cardbox_load_boxes() and cardbox_get_box_cards() of
 * <cardbox/box.h>. The rows of boxes_read come in any order; these functions order them by
 * position.
 */
#include "cardbox/box.h"

#include <stdlib.h>
#include "store/box/box_load.h"
#include "store/box/box_result.h"
#include "store/client/call.h"
#include "store/card/card_result.h"
#include "store/client/ids.h"

/* A call's box ids, and a read for each different UUID among them. */
typedef struct ids_to_read {
    arena memory;
    size_t *first;   /* for each id: the index of the first equal id */
    size_t *read_of; /* for each id: the index of its read + 1; 0: not a UUID, or a duplicate */
    box_read *reads;
    size_t read_count;
} ids_to_read;

cardbox_status box_read_options(box_read *out, const cardbox_read_options *options,
                                cardbox_error *err)
{
    const cardbox_read_options all = {0};
    options = options == NULL ? &all : options;
    if (options->at_version < 0 || options->at_length < 0)
        return error_set(err, CARDBOX_INVALID, "at_version and at_length must be 0 or more");
    int moments = (options->at_version > 0) + (options->at_length > 0) + (options->at_time != NULL);
    if (options->tail > 0 && (options->offset > 0 || options->limit > 0))
        return error_set(err, CARDBOX_INVALID, "give tail, or offset and limit, not both");
    if (moments > 1)
        return error_set(err, CARDBOX_INVALID,
                         "give one of at_version, at_length and at_time, not several");
    if (options->tail > INT64_MAX || options->offset > INT64_MAX || options->limit > INT64_MAX)
        return error_set(err, CARDBOX_INVALID, "tail, offset and limit must fit 63 bits");
    if (options->tail > 0)
        out->tail = (int64_t)options->tail;
    out->skip = (int64_t)options->offset;
    if (options->limit > 0)
        out->most = (int64_t)options->limit;
    if (options->at_version > 0)
        out->at_version = options->at_version;
    if (options->at_length > 0)
        out->at_length = options->at_length;
    out->at_time = options->at_time != NULL;
    return out->at_time ? check_time("at_time", slice_of(options->at_time), &out->at_micros, err)
                        : CARDBOX_OK;
}

/* UUIDs are compared in canonical form, since equal ones may be spelled differently. */
static cardbox_status make_request(ids_to_read *r, const char *tenant, const char *const *box_ids,
                                   size_t count, const box_read *how, cardbox_error *err)
{
    *r = (ids_to_read){.memory = ARENA_INIT};
    const char **canonical = arena_zeros(&r->memory, count, sizeof(*canonical));
    r->read_of = arena_zeros(&r->memory, count, sizeof(*r->read_of));
    r->reads = arena_zeros(&r->memory, count, sizeof(*r->reads));
    if (r->memory.failed)
        return error_nomem(err);
    for (size_t i = 0; i < count; i++) {
        char text[CARDBOX_UUID_SIZE];
        if (box_ids[i] == NULL)
            return error_set(err, CARDBOX_INVALID, "box_ids[%zu] must not be NULL", i);
        bool is_uuid = cardbox_uuid_parse(text, box_ids[i]);
        canonical[i] = is_uuid ? arena_copy(&r->memory, slice_of(text)) : box_ids[i];
        if (canonical[i] == NULL)
            return error_nomem(err);
    }
    r->first = ids_first(&r->memory, canonical, count);
    if (r->first == NULL)
        return error_nomem(err);
    for (size_t i = 0; i < count; i++) {
        box_read *read = &r->reads[r->read_count];
        *read = *how;
        read->tenant = slice_of(tenant);
        if (r->first[i] == i && uuid16_parse(&read->box_id, slice_of(canonical[i])))
            r->read_of[i] = ++r->read_count;
    }
    return CARDBOX_OK;
}

static cardbox_status run_reads(store_rows **rows, cardbox *db, const box_read *reads, size_t count,
                                cardbox_error *err)
{
    params p = PARAMS_INIT;
    boxes_read_params(&p, reads, count);
    return client_run(db, STATEMENT_boxes_read, &p, RUN_AGAIN, rows, err);
}

/* --- ids --- */

static int64_t count_ids_within(int64_t first, int64_t before, int64_t start, slice run)
{
    int64_t at = start, count = 0;
    scan_value element;
    for (scan_walk walk = scan_enter(scan_whole(run)); at < before && scan_element(&walk, &element);
         at++)
        count += at >= first ? 1 : 0;
    return count;
}

/* The rows of one read, and the box that is filled from them. */
typedef struct read_rows {
    int head;         /* number of the head row + 1; 0: there is no such box */
    int64_t found;    /* the number of requested ids in the runs */
    const char **ids; /* the card_ids of the box */
    const cardbox_box *box;
} read_rows;

/* Finds the head of each read and counts its ids. Returns false if a count differs from the range
 * in the head: a damaged head must not decide how much memory is allocated. */
static bool index_reads(read_rows *at, size_t count, const store_rows *rows)
{
    box_head head;
    for (int row = 0; row < rows_count(rows); row++)
        if (rows_int4(rows, row, BOX_COL_KIND) == BOX_HEAD)
            at[rows_int8(rows, row, BOX_COL_ORD) - 1].head = row + 1;
    for (int row = 0; row < rows_count(rows); row++) {
        read_rows *its = &at[rows_int8(rows, row, BOX_COL_ORD) - 1];
        if (rows_int4(rows, row, BOX_COL_KIND) != BOX_IDS || its->head == 0)
            continue;
        box_head_read(&head, rows, its->head - 1);
        its->found += count_ids_within(head.first, head.before, box_position(rows, row),
                                       box_run_ids(rows, row));
    }
    for (size_t i = 0; i < count; i++) {
        if (at[i].head == 0)
            continue;
        box_head_read(&head, rows, at[i].head - 1);
        if (at[i].found != head.before - head.first)
            return false;
    }
    return true;
}

static void store_runs(cardbox_boxes *boxes, const read_rows *at)
{
    const store_rows *rows = boxes->all.rows;
    for (int row = 0; row < rows_count(rows) && !boxes->all.memory.failed; row++) {
        const read_rows *its = &at[rows_int8(rows, row, BOX_COL_ORD) - 1];
        if (rows_int4(rows, row, BOX_COL_KIND) == BOX_IDS && its->box != NULL)
            box_store_ids(&boxes->all.memory, its->ids, its->box->first,
                          its->box->first + (int64_t)its->box->card_count, box_position(rows, row),
                          box_run_ids(rows, row));
    }
}

cardbox_status box_damaged(cardbox_error *err)
{
    return error_set(
        err, CARDBOX_INTERNAL,
        "the box is damaged: the number of its ids differs from its length: replace its "
        "list");
}

/* Adds boxes and missing ids in the order of the request. */
static cardbox_status fill_boxes(cardbox_boxes *boxes, const ids_to_read *r,
                                 const char *const *box_ids, size_t count, cardbox_error *err)
{
    read_rows *at = arena_zeros(&boxes->all.memory, r->read_count, sizeof(*at));
    if (at == NULL)
        return CARDBOX_OK; /* boxes_finish returns CARDBOX_NOMEM */
    if (!index_reads(at, r->read_count, boxes->all.rows))
        return box_damaged(err);
    for (size_t i = 0; i < count && !boxes->all.memory.failed; i++) {
        size_t read = r->read_of[i];
        if (r->first[i] != i)
            continue;
        if (read == 0 || at[read - 1].head == 0) {
            boxes->all.missing[boxes->all.missing_count++] =
                arena_copy(&boxes->all.memory, slice_of(box_ids[i]));
            continue;
        }
        box_head head;
        cardbox_box *box = boxes_add(boxes);
        box_head_read(&head, boxes->all.rows, at[read - 1].head - 1);
        box_read_head(box, &at[read - 1].ids, &boxes->all.memory, &r->reads[read - 1].box_id,
                      &head);
        at[read - 1].box = box;
    }
    store_runs(boxes, at);
    return CARDBOX_OK;
}

cardbox_status box_not_found(const char *box_id, cardbox_error *err)
{
    return error_set(err, CARDBOX_NOT_FOUND, "box not found: %s", box_id);
}

static int find_head(const store_rows *rows)
{
    for (int row = 0; row < rows_count(rows); row++)
        if (rows_int4(rows, row, BOX_COL_KIND) == BOX_HEAD)
            return row;
    return -1;
}

/* Returns the error for a box that was not read: it does not exist, or it has no such version. If a
 * version, length or time was requested, a second statement finds out whether the box exists. */
static cardbox_status explain_no_box(const char *tenant, const char *box_id,
                                     const cardbox_read_options *how, cardbox *db,
                                     cardbox_error *err)
{
    bool earlier =
        how != NULL && (how->at_version > 0 || how->at_length > 0 || how->at_time != NULL);
    box_read last = BOX_READ_INIT;
    store_rows *rows = NULL;
    box_head now;
    last.tenant = slice_of(tenant);
    last.most = 0;
    if (!earlier || !uuid16_parse(&last.box_id, slice_of(box_id)))
        return box_not_found(box_id, err);
    cardbox_status status = run_reads(&rows, db, &last, 1, err);
    if (status == CARDBOX_OK && find_head(rows) >= 0) {
        box_head_read(&now, rows, find_head(rows));
        status = box_no_such_version(&now, err);
    } else if (status == CARDBOX_OK) {
        status = box_not_found(box_id, err);
    }
    rows_free(rows);
    return status;
}

cardbox_status cardbox_load_boxes(cardbox_boxes **out, cardbox *db, const char *tenant,
                                  const char *const *box_ids, size_t count,
                                  const cardbox_read_options *options, cardbox_error *err)
{
    box_read how = BOX_READ_INIT;
    ids_to_read r = {.memory = ARENA_INIT};
    store_rows *rows = NULL;
    cardbox_boxes *boxes = NULL;
    cardbox_status status = check_read(out, db, tenant, err);
    if (status != CARDBOX_OK)
        return status;
    *out = NULL;
    if (count > CARDBOX_IDS_PER_READ_MAX)
        return error_set(err, CARDBOX_TOO_LARGE, "%zu ids in one call, the limit is %d", count,
                         CARDBOX_IDS_PER_READ_MAX);
    if (box_ids == NULL && count > 0)
        return error_set(err, CARDBOX_INVALID, "box_ids must not be NULL");
    status = box_read_options(&how, options, err);
    if (status == CARDBOX_OK)
        status = make_request(&r, tenant, box_ids, count, &how, err);
    if (status == CARDBOX_OK)
        status = run_reads(&rows, db, r.reads, r.read_count, err);
    if (status == CARDBOX_OK)
        status = boxes_new(&boxes, rows, count, err);
    if (status == CARDBOX_OK)
        status = fill_boxes(boxes, &r, box_ids, count, err);
    status = boxes_finish(out, boxes, status, err);
    arena_reset(&r.memory);
    return status;
}

cardbox_status cardbox_load_box(cardbox_boxes **out, cardbox *db, const char *tenant,
                                const char *box_id, const cardbox_read_options *options,
                                cardbox_error *err)
{
    cardbox_status status = cardbox_load_boxes(out, db, tenant, &box_id, 1, options, err);
    if (status != CARDBOX_OK || cardbox_boxes_count(*out) == 1)
        return status;
    cardbox_boxes_free(*out);
    *out = NULL;
    return explain_no_box(tenant, box_id, options, db, err);
}

/* --- cards --- */

/* Returns for each position of the range the number of its card's row + 1; 0: no such row. */
static int *rows_by_position(arena *memory, const store_rows *rows, const box_head *head)
{
    size_t size = (size_t)(head->before - head->first);
    int *row_at = arena_zeros(memory, size, sizeof(*row_at));
    for (int row = 0; row_at != NULL && row < rows_count(rows); row++) {
        int64_t at = box_position(rows, row);
        if (rows_int4(rows, row, BOX_COL_KIND) == BOX_CARD && at >= head->first &&
            at < head->before)
            row_at[at - head->first] = row + 1;
    }
    return row_at;
}

/* Adds each different missing id to the result once, in the order of the box. */
static void add_missing_once(cardbox_cards *cards, const char *const *ids, size_t count)
{
    size_t *first = ids_first(&cards->memory, ids, count);
    for (size_t i = 0; first != NULL && i < count; i++)
        if (first[i] == i)
            cards_add_missing(cards, ids[i]);
}

static void fill_cards(cardbox_cards *cards, const store_rows *rows, const box_head *head)
{
    size_t size = (size_t)(head->before - head->first), missing_count = 0;
    int *row_at = rows_by_position(&cards->memory, rows, head);
    const char **missing = arena_zeros(&cards->memory, size, sizeof(*missing));
    for (size_t i = 0; row_at != NULL && missing != NULL && i < size; i++) {
        card_row card;
        if (row_at[i] == 0)
            continue;
        card_row_read(&card, rows, row_at[i] - 1, BOX_COL_CARD);
        if (card.content.ptr != NULL)
            cards_add(cards, &card);
        else if (card.card_id.ptr != NULL)
            missing[missing_count++] = card.card_id.ptr;
    }
    if (missing != NULL)
        add_missing_once(cards, missing, missing_count);
}

static int64_t count_cards(const store_rows *rows)
{
    int64_t count = 0;
    for (int row = 0; row < rows_count(rows); row++)
        count += rows_int4(rows, row, BOX_COL_KIND) == BOX_CARD ? 1 : 0;
    return count;
}

static cardbox_status make_cards(cardbox_cards **out, store_rows *rows, int head_row,
                                 cardbox_error *err)
{
    cardbox_cards *cards = NULL;
    box_head head;
    box_head_read(&head, rows, head_row);
    if (count_cards(rows) != head.before - head.first) {
        rows_free(rows);
        return box_damaged(err);
    }
    size_t size = (size_t)(head.before - head.first);
    cardbox_status status = cards_new(&cards, rows, size, size, err);
    if (status != CARDBOX_OK)
        return status;
    fill_cards(cards, rows, &head);
    return cards_finish(out, cards, err);
}

cardbox_status box_read_cards(box_read *read, const char *tenant, const char *box_id,
                              cardbox_error *err)
{
    read->want = BOX_WANT_CARDS;
    read->tenant = slice_of(tenant);
    if (box_id == NULL)
        return error_set(err, CARDBOX_INVALID, "box_id must not be NULL");
    if (!uuid16_parse(&read->box_id, slice_of(box_id)))
        return box_not_found(box_id, err);
    return CARDBOX_OK;
}

cardbox_status box_read_run(store_rows **rows, statement_id id, params *p, cardbox *db,
                            const char *tenant, const char *box_id,
                            const cardbox_read_options *options, cardbox_error *err)
{
    cardbox_status status = client_run(db, id, p, RUN_AGAIN, rows, err);
    if (status != CARDBOX_OK || find_head(*rows) >= 0)
        return status;
    rows_free(*rows);
    *rows = NULL;
    return explain_no_box(tenant, box_id, options, db, err);
}

cardbox_status cardbox_get_box_cards(cardbox_cards **out, cardbox *db, const char *tenant,
                                     const char *box_id, const cardbox_read_options *options,
                                     cardbox_error *err)
{
    box_read read = BOX_READ_INIT;
    store_rows *rows = NULL;
    params p = PARAMS_INIT;
    cardbox_status status = check_read(out, db, tenant, err);
    if (status == CARDBOX_OK)
        status = box_read_options(&read, options, err);
    if (status != CARDBOX_OK)
        return status;
    *out = NULL;
    status = box_read_cards(&read, tenant, box_id, err);
    if (status != CARDBOX_OK)
        return status;
    boxes_read_params(&p, &read, 1);
    status = box_read_run(&rows, STATEMENT_boxes_read, &p, db, tenant, box_id, options, err);
    return status == CARDBOX_OK ? make_cards(out, rows, find_head(rows), err) : status;
}
