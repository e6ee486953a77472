/*
 * boxes.c: the abilities that read boxes, and box:seal, whose output is the box. A read of an
 * earlier version also reads the current box, to distinguish a missing box from a missing version.
 */
#include "bus/abilities.h"
#include "store/box/box_context.h"
#include "store/box/box_json.h"
#include "base/errors.h"

/* Maximum number of ids that box:get returns, because the whole output is in memory. */
enum { BOX_IDS_MOST = 100000 };

typedef struct box_request {
    box_read reads[2];
    size_t count;
} box_request;

static cardbox_status no_box(cardbox_error *err)
{
    return error_set(err, CARDBOX_NOT_FOUND, "box not found");
}

static void read_moment(input_reader *in, box_read *read)
{
    read->at_version = input_integer(in, "at_version", -1);
    read->at_length = input_integer(in, "at_length", -1);
    read->at_time = input_time(in, "at_time", &read->at_micros);
    if (in->status == CARDBOX_OK &&
        (read->at_version >= 0) + (read->at_length >= 0) + read->at_time > 1)
        in->status =
            error_set(in->err, CARDBOX_INVALID, "give one of at_version, at_length and at_time");
}

static void read_box(input_reader *in, box_read *out)
{
    *out = (box_read)BOX_READ_INIT;
    out->tenant = in->call->tenant;
    input_uuid(in, "box_id", &out->box_id);
    read_moment(in, out);
}

static box_request *read_request(input_reader *in)
{
    box_request *request = in->call->plan;
    const box_read *first = request->reads;

    read_box(in, &request->reads[0]);
    request->reads[1] = (box_read)BOX_READ_INIT;
    request->reads[1].tenant = first->tenant;
    request->reads[1].box_id = first->box_id;
    request->reads[1].most = 0;
    request->count = first->at_version >= 0 || first->at_length >= 0 || first->at_time ? 2 : 1;
    return request;
}

BUS_BUILDS(box_read)
{
    const box_request *request = call->plan;
    boxes_read_params(p, request->reads, request->count);
}

/* Reads the box, as it was at the requested moment, from the rows into `box`. Returns
 * CARDBOX_NOT_FOUND if there is no such box or no such version. */
static cardbox_status open_box(const bus_call *call, const store_rows *rows, box_view *box,
                               cardbox_error *err)
{
    box_head now;
    if (!box_view_first(box, &now, rows, call->memory))
        return error_nomem(err);
    if (box->exists)
        return CARDBOX_OK;
    return now.version > 0 ? box_no_such_version(&now, err) : no_box(err);
}

/* --- its ids --- */

BUS_READS(box_get)
{
    box_request *request = read_request(in);
    request->reads[0].most = BOX_IDS_MOST;
}

BUS_RENDERS(box_get)
{
    const box_request *request = call->plan;
    box_view box;
    cardbox_status status = open_box(call, rows, &box, err);
    if (status != CARDBOX_OK)
        return status;
    if (box.head.before < box.head.length)
        return error_set(err, CARDBOX_TOO_LARGE,
                         "box has over %d ids; use box:cards for the last cards", BOX_IDS_MOST);
    box_view_object(out, &box, &request->reads[0].box_id);
    return CARDBOX_OK;
}

/* --- seal --- */

BUS_BUILDS(box_seal)
{
    const box_request *request = call->plan;
    box_id_params(p, call->tenant, &request->reads[0].box_id);
}

static cardbox_status render_sealed(bus_call *call, const store_rows *rows, buf *out,
                                    cardbox_error *err)
{
    cardbox_status status = bus_box_get_render(call, rows, out, err);
    return status == CARDBOX_TOO_LARGE
               ? error_set(err, status, "the box is sealed, but the answer can't have over %d ids",
                           BOX_IDS_MOST)
               : status;
}

/* The second statement reads the sealed box, whose list can't change any more. */
BUS_RENDERS(box_seal)
{
    static const bus_step READ = {STATEMENT_boxes_read, false, bus_box_read_build, render_sealed};
    box_change change = {.outcome = 0};
    (void)out;
    if (rows_count(rows) > 0)
        box_change_read(&change, rows, 0, 0);
    cardbox_status status = box_change_status(&change, err);
    return status == CARDBOX_OK ? bus_next(call, &READ) : status;
}

/* --- its cards --- */

BUS_READS(box_cards)
{
    box_request *request = read_request(in);
    request->reads[0].want = BOX_WANT_CARDS;
    request->reads[0].tail = input_limit(in);
}

BUS_RENDERS(box_cards)
{
    box_view box;
    cardbox_status status = open_box(call, rows, &box, err);
    if (status != CARDBOX_OK)
        return status;
    buf_text(out, "{\"cards\":[");
    size_t missing = box_view_cards(out, &box, call->tenant);
    buf_text(out, "],\"missing\":");
    buf_int(out, (int64_t)missing);
    buf_char(out, '}');
    return CARDBOX_OK;
}

/* --- contexts --- */

/* Reads the boxes of the member `then`, an array of at most CARDBOX_THEN_MAX texts. Returns their
 * number. */
static size_t read_then(input_reader *in, box_then *out)
{
    scan_value item;
    size_t count = 0;

    for (scan_walk walk = scan_enter(input_value(in, "then"));
         in->status == CARDBOX_OK && count < CARDBOX_THEN_MAX && scan_element(&walk, &item);) {
        slice text = input_decode(in, "then", item.text);
        if (in->status == CARDBOX_OK && !box_then_parse(&out[count++], text))
            in->status = error_set(in->err, CARDBOX_INVALID,
                                   "then: must be a UUID, or a UUID, @ and a version");
    }
    return count;
}

BUS_READS(box_context)
{
    box_context_request *request = in->call->plan;
    box_then then[CARDBOX_THEN_MAX];

    read_box(in, &request->first);
    request->how = input_context(in);
    request->reader = input_id(in, "as", CARDBOX_KEY_MAX);
    request->tail = input_integer(in, "tail", -1);
    request->bytes_max = CONTEXT_INPUT_MAX;
    box_context_plan(request, then, read_then(in, then));
}

BUS_BUILDS_FROM_PLAN(box_context, box_context_params)

BUS_RENDERS(box_context)
{
    return box_context_answer(out, rows, call->plan, call->memory, err);
}

/* --- lists --- */

BUS_READS(box_list)
{
    box_list *list = in->call->plan;
    *list = (box_list){.tenant = in->call->tenant, .limit = input_limit(in)};
    input_cursor(in, &list->from, list_cursor_read_box);
}

BUS_BUILDS_FROM_PLAN(box_list, boxes_list_params)

BUS_RENDERS(box_list)
{
    const box_list *list = call->plan;
    list_json_boxes(out, rows, list->limit, list->preview, call->memory);
    return CARDBOX_OK;
}

/* Maximum number of ids for each change in the output of box:log. If a change added more ids, the
 * output has none of its ids. */
enum { LOG_IDS_MAX = 1000 };

BUS_READS(box_log)
{
    history *h = in->call->plan;
    h->tenant = in->call->tenant;
    input_uuid(in, "box_id", &h->box);
    h->before = input_before(in);
    h->limit = input_limit(in);
}

BUS_BUILDS(box_log)
{
    history *h = call->plan;
    h->ids_max = LOG_IDS_MAX;
    box_log_params(p, h);
}

BUS_RENDERS(box_log)
{
    const history *h = call->plan;
    if (rows_count(rows) == 0)
        return no_box(err);
    list_json_log(out, rows, h->limit);
    return CARDBOX_OK;
}

static const bus_ability TABLE[] = {
    BUS_ABILITY_WITH(box_get, READ, BUS_AGAIN, box_request, boxes_read, box_get, box_read, box_get,
                     NULL),
    BUS_ABILITY_WITH(box_seal, WRITE, BUS_AGAIN, box_request, box_seal, box_get, box_seal, box_seal,
                     NULL),
    BUS_ABILITY_WITH(box_cards, READ, BUS_AGAIN, box_request, boxes_read, box_cards, box_read,
                     box_cards, NULL),
    BUS_ABILITY(box_context, READ, BUS_AGAIN, box_context_request, box_context),
    BUS_ABILITY(box_list, READ, BUS_AGAIN, box_list, boxes_list),
    BUS_ABILITY(box_log, READ, BUS_AGAIN, history, box_log),
};

const bus_table BUS_OF_BOXES = BUS_TABLE(TABLE);
