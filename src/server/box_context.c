/*
 * box_context.c: GET .../boxes/{b}/context: the messages for an LLM of a box's cards. The rows are
 * those of a hydrated box; what a message is made of them is the pure core's business.
 */
#include "server/box_query.h"
#include "server/box_view.h"
#include "server/context_view.h"
#include "store/box_context.h"

enum { C_AT_VERSION, C_AT_LENGTH, C_AT_TIME, C_LIMIT, C_FORMAT, C_REPAIR, C_COUNT };

static const field QUERY[C_COUNT] = {
    [C_AT_VERSION] = BOX_AT_VERSION_FIELD,
    [C_AT_LENGTH] = BOX_AT_LENGTH_FIELD,
    [C_AT_TIME] = BOX_AT_TIME_FIELD,
    [C_LIMIT] = {"limit", FIELD_INTEGER, .least = 1, .most = BOX_CONTEXT_CARDS_MAX},
    [C_FORMAT] = CONTEXT_FORMAT_FIELD,
    [C_REPAIR] = CONTEXT_REPAIR_FIELD,
};

/* Rows that a read is expected to give, roughly: a context is rarely longer. */
enum { WEIGHT = 1000 };

static const char TOO_LONG[] = "ask with ?limit= for the last ones alone";

typedef struct box_context {
    context_wish wish;
    bool cut; /* only the last cards were asked for */
} box_context;

/* The cards in the box's order; those that can't be read are left out, and their ids listed. */
static bool take_cards(request *r, const box_view *box, const box_context *wanted,
                       context_card *cards, size_t *count)
{
    buf *out = request_body(r);
    const char *between = "";
    idset seen;
    idset_init(&seen, &r->memory);
    buf_text(out, ",\"missing_card_ids\":[");
    for (size_t i = 0; i < box->card_count; i++) {
        int row = box->cards[i].row;
        card_row card;
        view id = rows_text(box->rows, row, BOX_COL_WANTED_ID);
        if (!rows_null(box->rows, row, BOX_COL_CARD)) {
            card_row_read(&card, box->rows, row, BOX_COL_CARD);
            if (!box_context_card(&cards[(*count)++], &card, request_tenant(r), wanted->wish.format,
                                  &r->memory))
                return false;
        } else if (idset_add(&seen, id, NULL) == IDSET_NEW) {
            buf_text(out, between);
            buf_json_string(out, id);
            between = ",";
        }
    }
    buf_char(out, ']');
    return !r->memory.failed;
}

static void add_head(buf *out, const box_view *box, const uuid16 *id)
{
    char text[UUID_TEXT_SIZE];
    uuid16_format(text, id);
    buf_printf(out, "{\"box_id\":\"%s\",\"version\":", text);
    buf_int(out, box->head.version);
    buf_text(out, ",\"length\":");
    buf_int(out, box->head.length);
    buf_text(out, ",\"cards\":");
    buf_int(out, box->head.before - box->head.first);
}

static void answer_context(request *r, const box_view *box, const box_context *wanted)
{
    const box_read *read = r->ticket.keys;
    context_card *cards = handler_take(r, box->card_count, sizeof(*cards));
    context_output out = {0};
    context ctx;
    size_t count = 0;
    if (cards == NULL)
        return;
    add_head(request_body(r), box, &read->box_id);
    if (!take_cards(r, box, wanted, cards, &count) ||
        !context_of_cards(&ctx, cards, count, wanted->wish.repair, &r->memory)) {
        fault_answer(r, FAULT_UNAVAILABLE, NULL, "out of memory");
        return;
    }
    if (context_view_add(r, &out, &ctx, &wanted->wish)) {
        buf_char(request_body(r), '}');
        request_tag(r, 0);
        fault_or_answer(r);
    }
    context_output_free(&out);
}

static void render(request *r, const join_rows *found)
{
    const box_context *wanted = r->plan;
    box_view box;
    if (!context_check_input(r, handler_bytes(found, r->ticket.count), TOO_LONG) ||
        !box_query_open(r, found, &box))
        return;
    if (wanted->cut || box.head.length <= BOX_CONTEXT_CARDS_MAX)
        answer_context(r, &box, wanted);
    else
        fault_answer(r, FAULT_TOO_LARGE, TOO_LONG, "a context is made of at most %d cards",
                     BOX_CONTEXT_CARDS_MAX);
}

void handle_box_context(request *r)
{
    size_t count;
    field_value *query = handler_read_query(r, QUERY, C_COUNT, false);
    box_context *wanted = query == NULL ? NULL : handler_take(r, 1, sizeof(*wanted));
    box_read *reads = wanted == NULL ? NULL : box_query_reads(r, query, &count);
    if (reads == NULL)
        return;
    wanted->wish = context_wish_of(&query[C_FORMAT], &query[C_REPAIR]);
    wanted->cut = query[C_LIMIT].given;
    r->plan = wanted;
    reads->want = BOX_WANT_CARDS;
    reads->tail = wanted->cut ? query[C_LIMIT].number : BOX_CONTEXT_CARDS_MAX;
    box_query_join(r, reads, count, WEIGHT, render);
}
