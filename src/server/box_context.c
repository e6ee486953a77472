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

static void answer_context(request *r, const box_view *box, const box_context *wanted)
{
    const box_read *read = r->ticket.keys;
    const context_wish *wish = &wanted->wish;
    context_output out = {0};
    context ctx;
    if (!box_context_head(request_body(r), box, &read->box_id, &r->memory) ||
        !box_context_of(&ctx, box, request_tenant(r), wish->format, wish->repair, &r->memory)) {
        fault_answer_memory(r);
        return;
    }
    if (context_view_add(r, &out, &ctx, wish)) {
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
    if (handler_bytes(found, r->ticket.count) > context_input_max(r)) {
        context_answer_large(r, TOO_LONG);
        return;
    }
    if (!box_query_open(r, found, &box))
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
