/*
 * cards.c: reads of cards by id, one or a batch. An id that no card can have is not asked for.
 */
#include "cardbox/limits.h"
#include "server/handlers.h"
#include "server/join/places.h"
#include "store/card/card_json.h"

/* Where the card lies is kept for the next read of it. */
static void take_card(card_row *card, const request *r, const join_rows *found, size_t key)
{
    const card_key *keys = r->ticket.keys;
    int row = found->row[found->start[key]];
    card_row_read(card, found->rows, row, CARD_FIRST);
    places_note(r->server->places, &keys[key], rows_tid(found->rows, row, CARD_PLACE));
}

/* What is not there any more needs to be looked for in one way only. */
static void forget_card(const request *r, size_t key)
{
    const card_key *keys = r->ticket.keys;
    places_note(r->server->places, &keys[key], 0);
}

/* --- one --- */

static void render_card(request *r, const join_rows *found)
{
    card_row card;
    if (found->start[0] == found->start[1]) {
        forget_card(r, 0);
        fault_answer(r, FAULT_NOT_FOUND, NULL, "card not found");
        return;
    }
    if (!handler_check_budget(r, found, 1))
        return;
    take_card(&card, r, found, 0);
    card_json(request_body(r), &card, request_tenant(r));
    request_tag(r, 0);
    fault_or_answer(r);
}

void handle_card(request *r)
{
    card_key *key = handler_card(r);
    if (key == NULL)
        return;
    *key = places_key(r->server->places, key->tenant, key->card_id);
    handler_join(r, key->place != 0 ? JOIN_PLACED : JOIN_CARDS, key, 1, 1, render_card);
}

/* --- many --- */

static const body_shape CARDS_SHAPE = {"card_ids", false};

static bool may_exist(const body_id *id)
{
    return id->text.ptr != NULL && view_is_id(id->text, CARDBOX_CARD_ID_MAX);
}

/* Ids in the order of the request; keys are those of them that may exist, in the same order. */
static void render_batch(request *r, const join_rows *found)
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
        size_t at = asked ? key++ : 0;
        if (!asked || found->start[at] == found->start[at + 1]) {
            buf_text(&missing, missing.len == 0 ? "" : ",");
            buf_view(&missing, batch->ids[i].token);
            if (asked)
                forget_card(r, at);
            continue;
        }
        card_row card;
        take_card(&card, r, found, at);
        buf_text(out, between);
        card_json(out, &card, request_tenant(r));
        between = ",";
    }
    buf_text(out, "],\"missing_ids\":[");
    buf_view(out, buf_as_view(&missing));
    buf_text(out, "]}");
    if (!buf_ok(&missing))
        out->failure = missing.failure;
    buf_free(&missing);
    fault_or_answer(r);
}

void handle_cards_batch(request *r)
{
    body_batch *batch = handler_read_batch(r, &CARDS_SHAPE);
    card_key *keys = batch == NULL ? NULL : handler_take(r, batch->count, sizeof(*keys));
    size_t count = 0, placed = 0;
    if (keys == NULL)
        return;
    for (size_t i = 0; i < batch->count; i++) {
        if (!may_exist(&batch->ids[i]))
            continue;
        keys[count] = places_key(r->server->places, request_tenant(r), batch->ids[i].text);
        placed += keys[count++].place != 0;
    }
    r->plan = batch;
    handler_join(r, placed == count ? JOIN_PLACED : JOIN_CARDS, keys, count, count, render_batch);
}
