/*
 * cards.c: reads of cards by id, one or a batch. An id that no card can have is not asked for.
 */
#include "base/clock.h"
#include "base/memory.h"
#include "cardbox/limits.h"
#include "server/api/handlers.h"
#include "server/batch/card_cache.h"
#include "server/batch/places.h"
#include "store/card/card_json.h"

/* A card is read by its key first, then by where it lay; who asks once more is told what it said
 * then, if it still is in that version. Cards that are read together go as the first time as any.
 */
static join_lane lane_of(const request *r, const card_key *keys, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (keys[i].place == 0)
            return JOIN_CARDS;
    int64_t now_ms = clock_ms();
    for (size_t i = 0; i < count; i++)
        if (!card_cache_has(r->server->cards, &keys[i], now_ms))
            return JOIN_PLACED;
    return JOIN_VERSIONS;
}

/* Adds the card of a key and keeps what the next read of it can use. False: of a row that tells its
 * version only the text is not known any more. */
static bool add_card(request *r, const join_rows *found, size_t number)
{
    const card_key *key = (const card_key *)r->ticket.keys + number;
    int row = found->row[found->start[number]];
    buf *out = request_body(r);
    size_t start = out->len;
    card_row card;
    card_version version;
    if (r->ticket.lane == JOIN_VERSIONS) {
        card_version_read(&version, found->rows, row, VERSION_PLACE);
        return card_cache_add(r->server->cards, out, key, &version);
    }
    card_row_read(&card, found->rows, row, CARD_FIRST);
    card_json(out, &card, key->tenant);
    places_note(r->server->places, key, rows_tid(found->rows, row, CARD_PLACE));
    if (r->ticket.lane == JOIN_PLACED) {
        card_version_read(&version, found->rows, row, CARD_PLACE);
        card_cache_keep(r->server->cards, key, &version, buf_since(out, start), clock_ms());
    }
    return true;
}

enum { LARGE = 1 << 20 }; /* an answer for which it is worth to ask whether there is memory */

/* What comes from PostgreSQL is refused as it comes in where too much memory is in use
 * (db_conns.c). What is kept takes as much once it is an answer, but comes from nowhere. */
static bool is_too_much(request *r)
{
    return r->ticket.lane == JOIN_VERSIONS && request_body(r)->len >= LARGE &&
           !memory_has(&r->server->memory, request_body(r)->len);
}

/* What was known of cards is not true any more, or takes too much memory: they are read by their
 * keys. */
static void ask_again(request *r)
{
    buf_reset(request_body(r), 0);
    handler_join(r, JOIN_CARDS, r->ticket.keys, r->ticket.count, r->ticket.weight,
                 r->ticket.render);
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
    if (found->start[0] == found->start[1]) {
        forget_card(r, 0);
        fault_answer(r, FAULT_NOT_FOUND, NULL, "card not found");
        return;
    }
    if (!handler_check_budget(r, found, 1))
        return;
    if (!add_card(r, found, 0) || is_too_much(r)) {
        ask_again(r);
        return;
    }
    request_tag(r, 0);
    fault_or_answer(r);
}

void handle_card(request *r)
{
    card_key *key = handler_card(r);
    if (key == NULL)
        return;
    *key = places_key(r->server->places, key->tenant, key->card_id);
    handler_join(r, lane_of(r, key, 1), key, 1, 1, render_card);
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
        buf_text(out, between);
        if (!add_card(r, found, at)) {
            buf_free(&missing);
            ask_again(r);
            return;
        }
        between = ",";
    }
    buf_text(out, "],\"missing_ids\":[");
    buf_view(out, buf_as_view(&missing));
    buf_text(out, "]}");
    if (!buf_ok(&missing))
        out->failure = missing.failure;
    buf_free(&missing);
    if (is_too_much(r))
        ask_again(r);
    else
        fault_or_answer(r);
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
            keys[count++] = places_key(r->server->places, request_tenant(r), batch->ids[i].text);
    r->plan = batch;
    handler_join(r, lane_of(r, keys, count), keys, count, count, render_batch);
}
