/*
 * box_context.c: builds the context of boxes from the rows of their cards, with the functions of
 * model/session.
 */
#include "store/box/box_context.h"

#include "base/errors.h"
#include "base/isotime.h"
#include "store/card/card_json.h"
#include "store/client/ids.h"
#include "store/context/context_result.h"

/* --- the statement --- */

static bool read_version(int64_t *out, slice digits)
{
    *out = 0;
    for (size_t i = 0; i < digits.len; i++) {
        int digit = digits.ptr[i] - '0';
        if (digit < 0 || digit > 9 || *out > (INT64_MAX - digit) / 10)
            return false;
        *out = *out * 10 + digit;
    }
    return *out > 0;
}

bool box_then_parse(box_then *out, slice text)
{
    enum { UUID_LEN = UUID_TEXT_SIZE - 1 };

    *out = (box_then){.version = 0};
    if (text.len <= UUID_LEN)
        return uuid16_parse(&out->box_id, text);
    return text.ptr[UUID_LEN] == '@' && uuid16_parse(&out->box_id, (slice){text.ptr, UUID_LEN}) &&
           read_version(&out->version, (slice){text.ptr + UUID_LEN + 1, text.len - UUID_LEN - 1});
}

static bool is_earlier(const box_read *read)
{
    return read->at_version >= 0 || read->at_length >= 0 || read->at_time;
}

void box_context_plan(box_context_request *request, const box_then *then, size_t count)
{
    box_read *head = &request->reads[1 + count];

    request->boxes = 1 + count;
    request->reads[0] = request->first;
    for (size_t i = 0; i < count; i++) {
        box_read *read = &request->reads[1 + i];
        *read = (box_read)BOX_READ_INIT;
        read->tenant = request->first.tenant;
        read->box_id = then[i].box_id;
        read->at_version = then[i].version > 0 ? then[i].version : -1;
    }
    for (size_t i = 0; i < request->boxes; i++) {
        request->reads[i].want = BOX_WANT_CARDS;
        request->reads[i].tail = request->tail;
    }
    *head = (box_read)BOX_READ_INIT;
    head->tenant = request->first.tenant;
    head->box_id = request->first.box_id;
    head->want = 0;
    head->most = 0;
    request->count = request->boxes + is_earlier(&request->first);
}

void box_context_params(params *p, const box_context_request *request)
{
    boxes_read_params(p, request->reads, request->count);
    params_int8(p, (int64_t)request->bytes_max);
    params_int8(p, request->tail >= 0 ? request->tail : BOX_CONTEXT_CARDS_MAX);
    params_bool(p, request->tail >= 0);
}

/* --- the rows --- */

/* `now` is the present head of the first box; version 0: unknown. */
static cardbox_status no_box(const box_context_request *request, size_t at, const box_head *now,
                             cardbox_error *err)
{
    char id[UUID_TEXT_SIZE];

    uuid16_format(id, &request->reads[at].box_id);
    if (at > 0)
        return error_set(err, CARDBOX_NOT_FOUND, "no such box or version: %s", id);
    if (now->version == 0)
        return error_set(err, CARDBOX_NOT_FOUND, "box not found: %s", id);
    return box_no_such_version(now, err);
}

/* Reads the rows of the read `ord` into `out`. `index` has an element for each row. */
static bool read_box(box_view *out, const store_rows *rows, size_t ord, int *index, arena *memory)
{
    size_t count = 0;

    for (int row = 0; row < rows_count(rows); row++)
        if (rows_int8(rows, row, BOX_COL_ORD) == (int64_t)ord + 1)
            index[count++] = row;
    return box_view_read(out, rows, index, count, memory);
}

cardbox_status box_context_boxes(const box_view **out, const store_rows *rows,
                                 const box_context_request *request, arena *memory,
                                 cardbox_error *err)
{
    box_view *views = arena_zeros(memory, request->count, sizeof(*views));
    int *index = arena_zeros(memory, (size_t)rows_count(rows) + 1, sizeof(*index));

    for (size_t i = 0; views != NULL && index != NULL && i < request->count; i++)
        if (!read_box(&views[i], rows, i, index, memory))
            return error_arena(err, memory, "the context");
    if (views == NULL || index == NULL)
        return error_arena(err, memory, "the context");
    const box_head now =
        request->count > request->boxes ? views[request->boxes].head : (box_head){.version = 0};
    for (size_t i = 0; i < request->boxes; i++)
        if (!views[i].exists)
            return no_box(request, i, &now, err);
    *out = views;
    return CARDBOX_OK;
}

static slice created_json(const card_row *row, arena *memory)
{
    char text[ISOTIME_SIZE + 2] = "\"";
    size_t len = 1 + isotime_format_micros(text + 1, row->created_micros);
    text[len++] = '"';
    return (slice){arena_copy(memory, (slice){text, len}), len};
}

static slice object_json(const card_row *row, slice project_id, arena *memory)
{
    buf object = BUF_INIT(SIZE_MAX / 4);

    card_json(&object, row, project_id);
    return arena_keep(memory, &object);
}

/* Only CARDBOX_FORMAT_ENTRIES needs the card as a JSON object. */
static bool read_card(context_card *out, const card_row *row, slice project_id,
                      cardbox_format format, arena *memory)
{
    *out = (context_card){.card_id = row->card_id,
                          .content = row->content,
                          .metadata = row->metadata,
                          .tool_calls = row->tool_calls,
                          .tool_call_id = row->tool_call_id,
                          .created_at = created_json(row, memory)};
    if (format == CARDBOX_FORMAT_ENTRIES)
        out->text = object_json(row, project_id, memory);
    return out->created_at.ptr != NULL &&
           (format != CARDBOX_FORMAT_ENTRIES || out->text.ptr != NULL);
}

static bool is_missing(const box_view *box, size_t at)
{
    return rows_null(box->rows, box->cards[at].row, BOX_COL_CONTENT);
}

/* The number of cards of all boxes. */
typedef struct card_counts {
    int64_t requested; /* ids in the requested ranges */
    size_t read;       /* rows with cards, also of missing cards */
} card_counts;

static card_counts count_cards(const box_view *boxes, const box_context_request *request)
{
    card_counts all = {0};

    for (size_t i = 0; i < request->boxes; i++) {
        all.requested += boxes[i].head.before - boxes[i].head.first;
        all.read += boxes[i].card_count;
    }
    return all;
}

static cardbox_status check_size(const card_counts *all, const box_view *boxes,
                                 const box_context_request *request, cardbox_error *err)
{
    if (request->tail < 0 && all->requested > BOX_CONTEXT_CARDS_MAX)
        return error_set(err, CARDBOX_TOO_LARGE,
                         "a context has at most %d cards: request only the last cards of the box",
                         BOX_CONTEXT_CARDS_MAX);
    bool is_withheld = all->read == 0 && all->requested > 0;
    if (is_withheld || rows_bytes(boxes[0].rows) > request->bytes_max)
        return error_set(
            err, CARDBOX_TOO_LARGE,
            "the cards have more than %zu bytes: request only the last cards of the box",
            request->bytes_max);
    return CARDBOX_OK;
}

/* Adds the cards of a box that are not missing to `cards`. False: out of memory. */
static bool add_cards(context_card *cards, size_t *count, const box_view *box,
                      const box_context_request *request, arena *memory)
{
    for (size_t i = 0; i < box->card_count; i++) {
        card_row row;
        if (is_missing(box, i))
            continue;
        card_row_read(&row, box->rows, box->cards[i].row, BOX_COL_CARD);
        if (!read_card(&cards[(*count)++], &row, request->first.tenant, request->how.format,
                       memory))
            return false;
    }
    return true;
}

cardbox_status box_context_of(context *out, const box_view *boxes,
                              const box_context_request *request, arena *memory, cardbox_error *err)
{
    card_counts all = count_cards(boxes, request);
    context_card *cards = arena_zeros(memory, all.read + 1, sizeof(*cards));
    size_t count = 0;
    cardbox_status status = check_size(&all, boxes, request, err);

    if (status != CARDBOX_OK)
        return status;
    for (size_t i = 0; cards != NULL && i < request->boxes; i++)
        if (!add_cards(cards, &count, &boxes[i], request, memory))
            return error_arena(err, memory, "the context");
    if (cards == NULL)
        return error_arena(err, memory, "the context");
    return context_of_cards(out, cards, count, request->reader, &request->how, memory)
               ? CARDBOX_OK
               : context_failure(out, err);
}

/* --- the report --- */

static bool add_missing(buf *out, const box_view *boxes, size_t box_count, size_t room,
                        arena *memory)
{
    const char **ids = arena_zeros(memory, room + 1, sizeof(*ids));
    size_t count = 0;

    for (size_t b = 0; ids != NULL && b < box_count; b++) {
        for (size_t i = 0; i < boxes[b].card_count; i++) {
            /* The id is NULL if the box contains a JSON null instead of an id. */
            int row = boxes[b].cards[i].row;
            const char *id = rows_text(boxes[b].rows, row, BOX_COL_CARD).ptr;
            if (is_missing(&boxes[b], i) && id != NULL)
                ids[count++] = id;
        }
    }
    const size_t *first = ids == NULL ? NULL : ids_first(memory, ids, count);
    for (size_t i = 0, added = 0; first != NULL && i < count; i++) {
        if (first[i] != i)
            continue;
        buf_text(out, added++ > 0 ? "," : "");
        buf_json_string(out, slice_of(ids[i]));
    }
    return first != NULL;
}

/* Leaves the object open. */
static void add_box(buf *out, const box_view *box, const uuid16 *box_id)
{
    char id[UUID_TEXT_SIZE];

    uuid16_format(id, box_id);
    buf_char(out, '{');
    buf_member_text(out, "box_id", slice_of(id));
    buf_member_int(out, "version", box->head.version);
    buf_member_int(out, "length", box->head.length);
    buf_member_int(out, "cards", box->head.before - box->head.first);
}

bool box_context_head(buf *out, const box_view *boxes, const box_context_request *request,
                      arena *memory)
{
    card_counts all = count_cards(boxes, request);

    add_box(out, &boxes[0], &request->first.box_id);
    if (request->boxes > 1)
        buf_member(out, "then", SLICE("["));
    for (size_t i = 1; i < request->boxes; i++) {
        buf_text(out, i > 1 ? "," : "");
        add_box(out, &boxes[i], &request->reads[i].box_id);
        buf_text(out, i + 1 < request->boxes ? "}" : "}]");
    }
    buf_member(out, "missing_card_ids", SLICE("["));
    bool ok = add_missing(out, boxes, request->boxes, all.read, memory);
    buf_char(out, ']');
    return ok;
}

static void put_tools(buf *out, const context *ctx)
{
    buf_member(out, "tool_card_ids", SLICE("["));
    for (const context_source *at = ctx->tools; at != NULL; at = at->next) {
        buf_comma(out);
        buf_json_string(out, at->id);
    }
    buf_char(out, ']');
}

cardbox_status box_context_answer(buf *out, const store_rows *rows,
                                  const box_context_request *request, arena *memory,
                                  cardbox_error *err)
{
    context ctx;
    const box_view *boxes = NULL;
    context_output written = {0};
    arena own = ARENA_BESIDE(memory);
    cardbox_status status = box_context_boxes(&boxes, rows, request, &own, err);

    if (status == CARDBOX_OK && boxes == NULL)
        status = error_nomem(err);
    if (status == CARDBOX_OK)
        status = box_context_of(&ctx, boxes, request, &own, err);
    if (status == CARDBOX_OK && !box_context_head(out, boxes, request, &own))
        status = error_nomem(err);
    if (status == CARDBOX_OK) {
        put_tools(out, &ctx);
        status = context_answer(out, &written, &ctx, &request->how, err);
    }
    buf_char(out, '}');
    context_output_free(&written);
    arena_reset(&own);
    return status;
}
