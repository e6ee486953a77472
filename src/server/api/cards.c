/*
 * cards.c: reads cards by id, one or a batch, through the server's card cache. A queued request has
 * copies of the JSON of its cached cards, and passes the etags of these cards to the statement
 * cards_get. If the passed etag of a card is current, the statement returns only this etag, else
 * all columns of the card.
 */
#include "cardbox/limits.h"
#include "server/api/handlers.h"
#include "server/batch/card_cache.h"
#include "store/card/card_json.h"

/* Maximum bytes of cached JSON that a waiting request may hold. The JSON of further cards is read
 * from PostgreSQL. */
enum { COPIES_MAX = 256 * 1024 };

static bool has_row(const batch_rows *found, size_t key)
{
    return found->start[key] < found->start[key + 1];
}

static int64_t etag_of(const batch_rows *found, size_t key)
{
    return rows_int8(found->rows, found->row[found->start[key]], CARD_ETAG);
}

/* True if the row of a card contains only its etag, because the key's etag is current. */
static bool is_current(const card_key *key, int64_t etag)
{
    return etag != 0 && etag == key->etag;
}

static void add_card(request *r, const batch_rows *found, size_t number)
{
    const card_key *key = (const card_key *)r->ticket.keys + number;
    buf *out = request_body(r);
    size_t start = out->len;
    card_row card;
    int64_t etag = etag_of(found, number);
    if (is_current(key, etag)) {
        buf_slice(out, key->text);
        return;
    }
    card_row_read(&card, found->rows, found->row[found->start[number]], CARD_FIRST);
    card_json(out, &card, key->tenant);
    card_cache_put(r->server->card_cache, key, etag, buf_since(out, start));
}

/* --- one card --- */

static void card_get_response(request *r, const batch_rows *found)
{
    const card_key *key = r->ticket.keys;
    if (!has_row(found, 0)) {
        http_error_send(r, HTTP_ERROR_NOT_FOUND, NULL, "card not found");
        return;
    }
    if (!handler_check_budget(r, found, 1))
        return;
    r->answer.tagged = true;
    r->answer.card_etag = etag_of(found, 0);
    r->answer.unchanged = is_current(key, r->answer.card_etag) && key->text.ptr == NULL;
    if (!r->answer.unchanged)
        add_card(r, found, 0);
    request_finish(r);
}

/* If the card is not in the cache, the statement gets the card's etag from the client's
 * If-None-Match. */
void handle_card_get(request *r)
{
    card_key *key = handler_take(r, 1, sizeof(*key));
    if (key == NULL || !handler_card(r, &key->card_id))
        return;
    key->tenant = request_tenant(r);
    key->etag = card_cache_get(r->server->card_cache, &key->text, key, COPIES_MAX, &r->memory);
    if (key->etag == 0) {
        key->text = (slice){NULL, 0};
        key->etag = none_match_card(&r->headers.none_match, &r->answer.varies);
    }
    handler_queue_batched(r, BATCH_CARDS, key, 1, 1, card_get_response);
}

/* --- many cards --- */

/* The keys are those ids of the body that a card can have, in the order of the body. */
static void cards_get_response(request *r, const batch_rows *found)
{
    const body_ids *body = r->plan;
    buf *out = request_body(r), missing = BUF_INIT(out->max);
    const card_key *keys = r->ticket.keys;
    size_t key = 0;

    if (!handler_check_budget(r, found, r->ticket.count))
        return;
    buf_text(out, "{\"cards\":[");
    for (size_t i = 0; i < body->count; i++) {
        bool has_key = key < r->ticket.count && keys[key].card_id.ptr == body->ids[i].text.ptr;
        if (has_key && has_row(found, key)) {
            buf_comma(out);
            add_card(r, found, key);
        } else {
            buf_text(&missing, missing.len == 0 ? "" : ",");
            buf_slice(&missing, body->ids[i].token);
        }
        key += has_key;
    }
    buf_text(out, "],\"missing_ids\":[");
    buf_slice(out, buf_as_slice(&missing));
    buf_text(out, "]}");
    if (!buf_ok(&missing))
        out->failure = missing.failure;
    buf_free(&missing);
    request_finish(r);
}

void handle_cards_get(request *r)
{
    static const body_rules RULES = {"card_ids", false};
    body_ids *body = handler_read_body_ids(r, &RULES);
    card_key *keys = body == NULL ? NULL : handler_take(r, body->count, sizeof(*keys));
    size_t count = 0, left = COPIES_MAX;
    if (keys == NULL)
        return;
    for (size_t i = 0; i < body->count; i++) {
        card_key *key = &keys[count];
        slice id = body->ids[i].text;
        if (id.ptr == NULL || !slice_is_id(id, CARDBOX_CARD_ID_MAX))
            continue;
        *key = (card_key){.tenant = request_tenant(r), .card_id = id};
        key->etag = card_cache_get(r->server->card_cache, &key->text, key, left, &r->memory);
        left -= key->etag == 0 ? 0 : key->text.len;
        count++;
    }
    r->plan = body;
    handler_queue_batched(r, BATCH_CARDS, keys, count, count, cards_get_response);
}
