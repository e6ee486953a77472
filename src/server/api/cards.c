/*
 * cards.c: reads of cards by id, one or a batch. An id that no card can have is not asked for.
 */
#include "cardbox/limits.h"
#include "server/api/card_read.h"

/* --- one --- */

static void render_card(request *r, const batch_rows *found)
{
    if (!card_read_answer(r, found))
        http_error_send(r, HTTP_ERROR_NOT_FOUND, NULL, "card not found");
}

void handle_card(request *r)
{
    card_key *key = handler_card(r);
    if (key != NULL)
        card_read_one(r, key, render_card);
}

/* --- many --- */

static const body_rules CARDS_SHAPE = {"card_ids", false};

static bool may_exist(const body_id *id)
{
    return id->text.ptr != NULL && slice_is_id(id->text, CARDBOX_CARD_ID_MAX);
}

/* Ids in the order of the request; keys are those of them that may exist, in the same order. */
static void render_batch(request *r, const batch_rows *found)
{
    const body_batch *batch = r->plan;
    buf *out = request_body(r), missing = BUF_INIT(out->max);
    const char *between = "";
    const card_key *keys = r->ticket.keys;
    size_t key = 0;

    if (!handler_check_budget(r, found, r->ticket.count))
        return;
    buf_text(out, "{\"cards\":[");
    for (size_t i = 0; i < batch->count; i++) {
        bool asked = key < r->ticket.count && keys[key].card_id.ptr == batch->ids[i].text.ptr;
        if (asked && found->start[key] < found->start[key + 1]) {
            buf_text(out, between);
            card_read_add(r, found, key);
            between = ",";
        } else {
            buf_text(&missing, missing.len == 0 ? "" : ",");
            buf_slice(&missing, batch->ids[i].token);
        }
        key += asked;
    }
    buf_text(out, "],\"missing_ids\":[");
    buf_slice(out, buf_as_slice(&missing));
    buf_text(out, "]}");
    if (!buf_ok(&missing))
        out->failure = missing.failure;
    buf_free(&missing);
    request_finish(r);
}

void handle_cards_batch(request *r)
{
    body_batch *batch = handler_read_batch(r, &CARDS_SHAPE);
    card_key *keys = batch == NULL ? NULL : handler_take(r, batch->count, sizeof(*keys));
    size_t count = 0;
    if (keys == NULL)
        return;
    for (size_t i = 0; i < batch->count; i++)
        if (may_exist(&batch->ids[i]))
            keys[count++] = (card_key){.tenant = request_tenant(r), .card_id = batch->ids[i].text};
    r->plan = batch;
    card_read(r, keys, count, render_batch);
}
