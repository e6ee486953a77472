/*
 * card_read.c: a read copies the cached texts of its cards when it queues, and sends their etags.
 * The rows say which copies are current, and bring all other cards whole.
 */
#include "server/api/card_read.h"
#include "server/batch/card_cache.h"
#include "server/response/response_format.h"
#include "store/card/card_json.h"

static int64_t etag_of(const batch_rows *found, size_t key)
{
    return rows_int8(found->rows, found->row[found->start[key]], CARD_ETAG);
}

/* Whether the row of a key has nothing but the etag, which is the key's. */
static bool is_current(const card_key *key, int64_t etag)
{
    return etag != 0 && etag == key->etag;
}

/* Bytes of copies that a waiting request may have. Further cards are read whole. */
enum { COPIES_MAX = 256 * 1024 };

void card_read(request *r, card_key *keys, size_t count, batch_render render)
{
    size_t left = COPIES_MAX;
    for (size_t i = 0; i < count; i++) {
        keys[i].etag = card_cache_get(r->server->cards, &keys[i].text, &keys[i], left, &r->memory);
        left -= keys[i].etag == 0 ? 0 : keys[i].text.len;
    }
    handler_queue(r, BATCH_CARDS, keys, count, count, render);
}

void card_read_one(request *r, card_key *key, batch_render render)
{
    key->etag = card_cache_get(r->server->cards, &key->text, key, COPIES_MAX, &r->memory);
    if (key->etag == 0) {
        key->text = (slice){NULL, 0};
        key->etag = none_match_card(&r->none_match, &r->answer.varies);
    }
    handler_queue(r, BATCH_CARDS, key, 1, 1, render);
}

bool card_read_add(request *r, const batch_rows *found, size_t number)
{
    const card_key *key = (const card_key *)r->ticket.keys + number;
    buf *out = request_body(r);
    size_t start = out->len;
    card_row card;
    if (found->start[number] == found->start[number + 1])
        return false;
    int64_t etag = etag_of(found, number);
    if (is_current(key, etag)) {
        buf_slice(out, key->text);
        return true;
    }
    card_row_read(&card, found->rows, found->row[found->start[number]], CARD_FIRST);
    card_json(out, &card, key->tenant);
    card_cache_put(r->server->cards, key, etag, buf_since(out, start));
    return true;
}

bool card_read_answer(request *r, const batch_rows *found)
{
    const card_key *key = r->ticket.keys;
    if (found->start[0] == found->start[1])
        return false;
    if (!handler_check_budget(r, found, 1))
        return true;
    r->answer.tagged = true;
    r->answer.card_etag = etag_of(found, 0);
    r->answer.unchanged = is_current(key, r->answer.card_etag) && key->text.ptr == NULL;
    if (!r->answer.unchanged)
        card_read_add(r, found, 0);
    request_finish(r);
    return true;
}
