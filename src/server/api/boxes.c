/*
 * boxes.c: reads one box: its ids, or its cards; seals a box. A box_read has the parameters of the
 * read. box_json.c writes the rows as JSON.
 */
#include <inttypes.h>
#include "server/api/box_query.h"
#include "server/api/box_stream.h"

enum { Q_OFFSET = BOX_AT_FIELDS, Q_LIMIT, Q_COUNT };

/* The query parameters of reads of the ids or the cards of a box. */
static const field QUERY[Q_COUNT] = {
    [BOX_AT_VERSION] = {BOX_AT_VERSION_FIELD},
    [BOX_AT_LENGTH] = {BOX_AT_LENGTH_FIELD},
    [BOX_AT_TIME] = {BOX_AT_TIME_FIELD},
    [Q_OFFSET] = {"offset", FIELD_INTEGER, .least = 0, .most = INT64_MAX},
    [Q_LIMIT] = {"limit", FIELD_LIMIT, .least = LIMIT_LEAST, .most = LIMIT_MOST},
};

/* --- the ids of one box --- */

static void set_page(box_read *read, const field_value *query)
{
    read->skip = query[Q_OFFSET].number;
    read->most = query[Q_LIMIT].given ? query[Q_LIMIT].number : LIMIT_DEFAULT;
}

static void box_get_response(request *r, const batch_rows *found)
{
    const box_read *read = r->ticket.keys;
    box_view box;
    if (!box_query_open(r, found, &box))
        return;
    bool is_page = read->most < BOX_STREAM_PAGE; /* the query selects a page by offset and limit */
    if (box.head.before < box.head.length && !is_page) {
        if (box_view_is_whole(&box))
            box_stream_answer(r, &box, read);
        else
            box_stream_refuse(r);
        return;
    }
    if (!handler_check_budget(r, found, r->ticket.count))
        return;
    box_view_object(request_body(r), &box, &read->box_id);
    request_tag(r, box.head.version);
    request_finish(r);
}

void handle_box_get(request *r)
{
    size_t count;
    field_value *query = handler_read_query(r, QUERY, Q_LIMIT, true);
    if (query != NULL && query[Q_OFFSET].given) /* without an offset, a limit is ignored */
        query = handler_read_query(r, QUERY, Q_COUNT, true);
    box_read *reads = query == NULL ? NULL : box_query_reads(r, query, &count);
    if (reads == NULL)
        return;
    reads->most = BOX_STREAM_PAGE;
    if (query[Q_OFFSET].given)
        set_page(reads, query);
    handler_queue_batched(r, BATCH_BOXES, reads, count, count, box_get_response);
}

/* --- seal one box --- */

static void build_seal(params *p, const void *keys)
{
    const box_read *read = keys;
    box_id_params(p, read->tenant, &read->box_id);
}

/* The list of a sealed box can't change any more, so a second statement reads it for the answer. */
static void box_seal_response(request *r, const batch_rows *found)
{
    const box_read *read = r->ticket.keys;
    cardbox_error err = CARDBOX_ERROR_INIT;
    box_change change = {.outcome = 0};
    if (rows_count(found->rows) > 0)
        box_change_read(&change, found->rows, 0, 0);
    if (!http_error_check(r, box_change_status(&change, &err), &err))
        return;
    r->at_least = REQUEST_AT_PRIMARY; /* a standby may not have the seal yet */
    handler_queue_batched(r, BATCH_BOXES, read, 1, 1, box_get_response);
}

void handle_box_seal(request *r)
{
    box_read *read = NULL;
    if (handler_read_change(r, NULL, 0, true) != NULL)
        read = handler_take(r, 1, sizeof(*read));
    if (read == NULL)
        return;
    *read = (box_read)BOX_READ_INIT;
    if (!handler_box(r, &read->box_id))
        return;
    read->tenant = request_tenant(r);
    read->most = BOX_STREAM_PAGE;
    r->ticket.replayable = true;
    handler_queue_single(r, BATCH_SINGLE_WRITE, STATEMENT_box_seal, build_seal, read,
                         box_seal_response);
}

/* --- the cards of one box --- */

enum { NUMBER_SIZE = 24 }; /* bytes of a number in a header */

static void box_cards_response(request *r, const batch_rows *found)
{
    buf *out = request_body(r);
    box_view box;
    char *length = handler_take(r, 2, NUMBER_SIZE);
    if (length == NULL || !handler_check_budget(r, found, r->ticket.count) ||
        !box_query_open(r, found, &box))
        return;
    char *missing = length + NUMBER_SIZE;
    buf_char(out, '[');
    snprintf(length, NUMBER_SIZE, "%" PRId64, box.head.length);
    snprintf(missing, NUMBER_SIZE, "%zu", box_view_cards(out, &box, request_tenant(r)));
    buf_char(out, ']');
    request_header(r, "Cardbox-Length", length);
    request_header(r, "Cardbox-Missing", missing);
    request_tag(r, 0);
    request_finish(r);
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
    handler_queue_batched(r, BATCH_BOXES, reads, count, (size_t)reads->most, box_cards_response);
}
